//go:build !linux

package store

import (
	"errors"
	"fmt"
)

// openFileStore refuses: whether another process is alive is told by locks of
// open files.
func openFileStore(string) (Store, error) {
	return nil, fmt.Errorf("%w: a store on a file needs Linux; use one in memory", errors.ErrUnsupported)
}
