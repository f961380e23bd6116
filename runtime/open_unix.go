//go:build unix

package runtime

import (
	"fmt"
	"os"
	"syscall"
)

// Opening a pipe waits for its other end, for ever and deaf to signals, unless
// it is told not to.
const openNow = syscall.O_NONBLOCK

// noFollow refuses a name that is a symbolic link.
const noFollow = syscall.O_NOFOLLOW

// ownFile refuses a file that somebody else could write to.
func ownFile(info os.FileInfo) error {
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("belongs to user %d, not to the one who runs this", st.Uid)
	}
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("others can write to it (mode %04o); run chmod go-w on it", info.Mode().Perm())
	}
	return nil
}
