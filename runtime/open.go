package runtime

import (
	"errors"
	"os"
)

var errNotRegular = errors.New("not a regular file")

// openRegular opens a file, and nothing that only has the name of one: a pipe
// would be waited for, and a device could do anything.
func openRegular(path string, flags int, mode os.FileMode) (*os.File, error) {
	f, err := os.OpenFile(path, flags|openNow, mode)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
