package runtime

import (
	"io/fs"
	"syscall"
)

// changeTime is when a file's content or attributes last changed, which unlike
// its modification time nobody can set.
func changeTime(info fs.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ctim.Nano()
	}
	return 0
}
