package measure

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

// Memory is what processes have in memory, in bytes.
type Memory struct {
	// PrivateDirty is what is theirs alone and nowhere else: what they cost.
	PrivateDirty uint64
	// Proportional is everything, pages that are shared with n processes
	// counted as one nth.
	Proportional uint64
	// Processes is how many there were.
	Processes int
}

// TreeMemory sums what a process and all its descendants have in memory. One
// that ends meanwhile counts as nothing.
func TreeMemory(pid int) (Memory, error) {
	var total Memory
	for _, p := range append(Descendants(pid), pid) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", p))
		if p != pid && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH)) {
			continue
		}
		if err != nil {
			return total, err
		}
		private, err := rollup(text, "Private_Dirty:")
		if err != nil {
			return total, err
		}
		proportional, err := rollup(text, "Pss:")
		if err != nil {
			return total, err
		}
		total.PrivateDirty += private
		total.Proportional += proportional
		total.Processes++
	}
	return total, nil
}

// rollup reads one figure of a smaps_rollup, in bytes.
func rollup(text []byte, name string) (uint64, error) {
	for line := range bytes.Lines(text) {
		fields := bytes.Fields(line)
		if len(fields) == 3 && string(fields[0]) == name && string(fields[2]) == "kB" {
			kib, err := strconv.ParseUint(string(fields[1]), 10, 64)
			return kib << 10, err
		}
	}
	return 0, fmt.Errorf("smaps_rollup has no %s", name)
}

// Descendants gives the children of a process, theirs, and so on.
func Descendants(pid int) []int {
	var all []int
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return nil // it has ended
	}
	for _, t := range threads {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, t.Name()))
		if err != nil {
			continue
		}
		for field := range bytes.FieldsSeq(text) {
			if child, err := strconv.Atoi(string(field)); err == nil {
				all = append(append(all, child), Descendants(child)...)
			}
		}
	}
	return all
}
