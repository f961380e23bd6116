//go:build !linux

package measure

import "errors"

// Memory is what processes have in memory, in bytes.
type Memory struct {
	PrivateDirty, Proportional uint64
	Processes                  int
}

// TreeMemory needs Linux.
func TreeMemory(int) (Memory, error) {
	return Memory{}, errors.New("the memory of processes is read from Linux's /proc")
}

// Descendants needs Linux: elsewhere there are none.
func Descendants(int) []int { return nil }
