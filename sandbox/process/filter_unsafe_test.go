//go:build linux && (amd64 || arm64)

package process

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// filterThread puts a filter around this thread and what it starts.
func filterThread(code []unix.SockFilter) error {
	prog := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	_, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return errno
	}
	return nil
}
