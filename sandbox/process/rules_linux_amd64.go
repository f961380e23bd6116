package process

import "golang.org/x/sys/unix"

// nativeArch is the only architecture that a call may be made for: the kernel
// still takes 32-bit ones, whose numbers mean something else.
const nativeArch = unix.AUDIT_ARCH_X86_64

// foreignBit marks calls of x32, an architecture within this one; 0: there is
// no such bit.
const foreignBit = 0x40000000

// deniedHere are denied as those in denied.
var deniedHere = []uint32{
	unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT, unix.SYS_USELIB, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_USTAT,
	unix.SYS_SYSFS, unix.SYS__SYSCTL, unix.SYS_CREATE_MODULE, unix.SYS_GET_KERNEL_SYMS, unix.SYS_QUERY_MODULE,
	unix.SYS_NFSSERVCTL, unix.SYS_LOOKUP_DCOOKIE,
}

// forksHere are the older forms of clone.
var forksHere = []uint32{unix.SYS_FORK, unix.SYS_VFORK}

// modesHere are the older calls that take a mode.
var modesHere = []modeArg{{unix.SYS_CHMOD, 1, -1}, {unix.SYS_CREAT, 1, -1}, {unix.SYS_MKNOD, 1, -1}, {unix.SYS_OPEN, 2, 1}}

// sharedHere are the older calls of those in sharedWithHost.
var sharedHere = []uint32{
	unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT,
}
