//go:build !unix

package runtime

import "os"

const (
	openNow  = 0
	noFollow = 0
)

func ownFile(os.FileInfo) error { return nil }
