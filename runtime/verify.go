package runtime

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/mayfly-run/mayfly/manifests"
)

// verifySource gives a check that the file which a tool's manifest was read from
// is still what it was. A definition that was changed after it was loaded, and
// perhaps after somebody approved a call, must be loaded and looked at again.
//
// A file is read again only if the file system says that it was written since,
// so that a decision costs one look at its attributes.
func verifySource() func(context.Context, *manifests.Tool) error {
	v := &verifier{seen: make(map[string]seenFile)}
	return v.verify
}

type verifier struct {
	mu   sync.Mutex
	seen map[string]seenFile
}

// seenFile is a file that had the digest.
type seenFile struct {
	info   fs.FileInfo
	digest string
}

var errChanged = errors.New("the manifest has changed since it was loaded")

func (v *verifier) verify(_ context.Context, t *manifests.Tool) error {
	if t.Origin.SHA256 == "" || t.Origin.Root == "" {
		return nil // it was not read from a file
	}
	path := t.Origin.File
	info, err := os.Stat(path)
	if err != nil {
		return errChanged
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if s, ok := v.seen[path]; ok && s.digest == t.Origin.SHA256 && sameFile(s.info, info) {
		return nil
	}
	digest, err := fileDigest(path)
	if err != nil || digest != t.Origin.SHA256 {
		return errChanged
	}
	v.seen[path] = seenFile{info, digest}
	return nil
}

// sameFile reports whether nothing says that a file was written in between.
func sameFile(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && changeTime(a) == changeTime(b)
}

func fileDigest(path string) (string, error) {
	f, err := openRegular(filepath.Clean(path), os.O_RDONLY, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(f, manifests.MaxFileBytes+1)); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
