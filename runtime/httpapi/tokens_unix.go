//go:build unix

package httpapi

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// openTokenFile opens a file without waiting for the other end of a pipe.
func openTokenFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// privateFile refuses a file that others could read, or write a token of theirs
// to.
func privateFile(info os.FileInfo) error {
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Geteuid() && st.Uid != 0 {
		return errors.New("belongs to another user than root and the one who runs this")
	}
	if mode := info.Mode().Perm(); mode&0o027 != 0 {
		return fmt.Errorf("is open to others (mode %04o); run chmod g-w,o-rwx on it", mode)
	}
	return nil
}
