package main

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

func kernelVersion() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Release[:])
}

// layers asks the kernel. Neither question changes anything for this process.
func layers() []layerHealth { return []layerHealth{landlockLayer(), seccompLayer()} }

// landlockLayer asks for the version of the interface.
func landlockLayer() layerHealth {
	l := layerHealth{Name: "landlock", Used: true}
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	switch errno {
	case 0:
		l.Available, l.Detail = true, fmt.Sprintf("ABI %d", abi)
	case unix.EOPNOTSUPP:
		l.Detail = "not available: it is in the kernel, but was not switched on at its start"
	case unix.ENOSYS:
		l.Detail = "not available: this kernel has none, or a filter hides it"
	default:
		l.Detail = "not available: " + errno.Error()
	}
	return l
}

// seccompLayer offers a filter at no address: a kernel that takes filters
// complains about the address, another one about the mode.
func seccompLayer() layerHealth {
	l := layerHealth{Name: "seccomp", Used: true}
	switch err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, 0, 0, 0); {
	case errors.Is(err, unix.EFAULT):
		l.Available, l.Detail = true, "filters are taken"
	case errors.Is(err, unix.EINVAL):
		l.Detail = "not available: this kernel takes no filters"
	case err == nil:
		l.Detail = "not available: the kernel took a filter that does not exist"
	default:
		l.Detail = "not available: " + err.Error()
	}
	return l
}
