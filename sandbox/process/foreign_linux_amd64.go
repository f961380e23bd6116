package process

import "golang.org/x/sys/unix"

// foreignCall makes a system call as programs of another architecture do.
func foreignCall() int64

// foreignEntries are the ways into the kernel that are not this architecture's.
var foreignEntries = map[string]func() int64{
	"32-bit programs": foreignCall,
	"x32 programs": func() int64 {
		pid, _, errno := unix.RawSyscall(foreignBit|unix.SYS_GETPID, 0, 0, 0)
		if errno != 0 {
			return -int64(errno)
		}
		return int64(pid)
	},
}
