package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// usage of a process and all that it started, in MiB, and its own descriptors and
// threads.
type usageSample struct {
	rss, private         float64
	processes            int
	descriptors, threads int
}

// usageOf looks at a process and its descendants. Those that end meanwhile do not
// count.
func usageOf(pid int) (u usageSample, err error) {
	parents, err := parents()
	if err != nil {
		return u, err
	}
	for p := range parents {
		if !descends(parents, p, pid) {
			continue
		}
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", p))
		if err != nil {
			continue
		}
		u.processes++
		for line := range strings.Lines(string(text)) {
			name, rest, _ := strings.Cut(line, ":")
			kib := float64(number0(rest))
			switch name {
			case "Rss":
				u.rss += kib / 1024
			case "Private_Clean", "Private_Dirty":
				u.private += kib / 1024
			}
		}
	}
	if u.processes == 0 {
		return u, fmt.Errorf("process %d is not there", pid)
	}
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return u, err
	}
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	u.descriptors, u.threads = len(files), len(threads)
	return u, err
}

// parents are the parents of all processes.
func parents() (map[int]int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	all := make(map[int]int)
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		text, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		// The name is in brackets and can hold anything; the state follows it.
		rest := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		if len(rest) > 1 {
			all[pid] = number0(rest[1])
		}
	}
	return all, nil
}

func descends(parents map[int]int, p, from int) bool {
	for range 64 {
		if p == from {
			return true
		}
		if p = parents[p]; p <= 1 {
			return false
		}
	}
	return false
}

// number0 is the number that a text begins with, else 0.
func number0(s string) int {
	var n int
	_, _ = fmt.Sscan(s, &n)
	return n
}
