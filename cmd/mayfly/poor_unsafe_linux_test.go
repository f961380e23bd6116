package main

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// poor is mayfly on a host that lacks what its first argument names: a filter
// around the whole process answers for the kernel.
//
//	mayfly-poor landlock probe
func poor() {
	if err := impoverish(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
	os.Exit(run(os.Args[2:], newProcess(openFake)))
}

func impoverish(what string) error {
	const load, equal, anyBit, ret = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_JMP | unix.BPF_JEQ, unix.BPF_JMP | unix.BPF_JSET, unix.BPF_RET
	answer := func(errno unix.Errno) unix.SockFilter {
		return unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ERRNO | uint32(errno)}
	}
	call := func(nr uintptr, errno unix.Errno) []unix.SockFilter {
		return []unix.SockFilter{{Code: load, K: 0}, {Code: equal, K: uint32(nr), Jf: 1}, answer(errno)}
	}
	var code []unix.SockFilter
	switch what {
	case "landlock":
		code = call(unix.SYS_LANDLOCK_CREATE_RULESET, unix.ENOSYS)
	case "namespaces": // as in a container
		code = append(call(unix.SYS_CLONE3, unix.ENOSYS), call(unix.SYS_UNSHARE, unix.EPERM)...)
		const spaces = unix.CLONE_NEWNS | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET
		code = append(code, unix.SockFilter{Code: load, K: 0}, unix.SockFilter{Code: equal, K: unix.SYS_CLONE, Jf: 3},
			unix.SockFilter{Code: load, K: 16}, unix.SockFilter{Code: anyBit, K: spaces, Jf: 1}, answer(unix.EPERM))
	case "lying landlock": // it says that it has done it
		code = call(unix.SYS_LANDLOCK_RESTRICT_SELF, 0)
	default:
		return fmt.Errorf("there is no host without %s", what)
	}
	code = append(code, unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ALLOW})
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	prog := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog))); errno != 0 {
		return errno
	}
	return nil
}
