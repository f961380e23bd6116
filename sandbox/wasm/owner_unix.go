//go:build unix

package wasm

import (
	"fmt"
	"os"
	"syscall"
)

// openFlags keep a link or a FIFO in the cache directory from being followed
// or waited for.
const openFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// ownedOnly refuses what somebody else may have written.
func ownedOnly(path string, info os.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Errorf("%s: its owner cannot be told", path)
	}
	if uid := os.Geteuid(); st.Uid != uint32(uid) {
		return fmt.Errorf("%s: belongs to user %d, not to user %d who runs this", path, st.Uid, uid)
	}
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%s: others can write to it (mode %04o)", path, info.Mode().Perm())
	}
	return nil
}
