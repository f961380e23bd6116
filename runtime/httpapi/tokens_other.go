//go:build !unix

package httpapi

import (
	"errors"
	"os"
)

func openTokenFile(path string) (*os.File, error) { return os.Open(path) }

// privateFile cannot tell here who else may write to a file, and takes none.
func privateFile(os.FileInfo) error {
	return errors.New("who may write to it cannot be told on this system")
}
