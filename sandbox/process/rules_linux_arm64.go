package process

import "golang.org/x/sys/unix"

// nativeArch is the only architecture that a call may be made for.
const nativeArch = unix.AUDIT_ARCH_AARCH64

// foreignBit: there is no architecture within this one.
const foreignBit = 0

// deniedHere are denied as those in denied.
var deniedHere = []uint32{unix.SYS_KEXEC_FILE_LOAD, unix.SYS_NFSSERVCTL, unix.SYS_LOOKUP_DCOOKIE}

// forksHere: there is no older form of clone.
var forksHere []uint32

// modesHere: there are no older calls that take a mode.
var modesHere []modeArg

// sharedHere: there are no older calls of those in sharedWithHost.
var sharedHere []uint32
