//go:build unix

package runtime

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// Opening a pipe waits for its other end, for ever and deaf to signals, unless
// it is told not to.
const openNow = syscall.O_NONBLOCK

// noFollow refuses a name that is a symbolic link.
const noFollow = syscall.O_NOFOLLOW

// privateFile refuses a file that somebody else than its group could read, or
// that somebody else could write to.
func privateFile(info os.FileInfo) error {
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Geteuid() && st.Uid != 0 {
		return errors.New("belongs to another user than root and the one who runs this")
	}
	if mode := info.Mode().Perm(); mode&0o027 != 0 {
		return fmt.Errorf("is open to others (mode %04o); run chmod g-w,o-rwx on it", mode)
	}
	return nil
}

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
