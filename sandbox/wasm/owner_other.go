//go:build !unix

package wasm

import (
	"fmt"
	"os"
)

const openFlags = 0

// ownedOnly refuses everything where file ownership cannot be told: nothing is
// cached then.
func ownedOnly(path string, _ os.FileInfo) error {
	return fmt.Errorf("%s: its owner cannot be told on this system", path)
}
