//go:build unix

package main

import (
	"fmt"
	"os"
	"syscall"
)

// ownDirectory refuses a directory that somebody else could put files into, as
// the engine does.
func ownDirectory(info os.FileInfo) error {
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Uid != uint32(os.Geteuid()) {
		return fmt.Errorf("belongs to user %d, not to the one who runs this", st.Uid)
	}
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("others can write to it (mode %04o)", info.Mode().Perm())
	}
	return nil
}

// trustedOwner reports whether a file that was found, not named, is ours to
// follow: it belongs to whoever runs this, to root, or to the owner of the
// directory that the user is in.
func trustedOwner(file, working os.FileInfo) bool {
	f, ok := file.Sys().(*syscall.Stat_t)
	w, fine := working.Sys().(*syscall.Stat_t)
	return ok && fine && (f.Uid == uint32(os.Geteuid()) || f.Uid == 0 || f.Uid == w.Uid)
}
