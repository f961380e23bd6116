package wasm

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/cpu"

	"github.com/mayfly-run/mayfly/internal/variant"
	"github.com/mayfly-run/mayfly/sandbox/wasm/internal/rewrite"
)

// An entry is what the cache directory keeps for one guest under one engine:
//
//	engine/<key>/run.wasm   the rewritten module
//	engine/<key>/code/…     wazero's compiled code
//	engine/<key>/image      the booted interpreter
//	engine/<key>/seal       sha256 and name of each file above
//
// It is written elsewhere and renamed into place, so that it is whole or not
// there. It holds machine code and initial memory, so it is as trusted as this
// binary: whatever is not exactly what was sealed, or could have been written
// by somebody else, is refused by name and built again.
type entry struct {
	dir string
}

const (
	entryModule = "run.wasm"
	entryCode   = "code"
	entryImage  = "image"
	entrySeal   = "seal"

	// engineFormat changes whenever an older entry would be wrong for this
	// engine.
	engineFormat = "4"

	maxEntryFile = 1 << 30
)

// entryKey names the entry of a guest: a hash of all that an entry depends on.
func entryKey(guestDigest string, v variant.Variant) string {
	h := sha256.New()
	fmt.Fprintf(h, "format %s\nrewriter %d\nabi %d\nguest %s\nwazero %s\ngo %s %s\ncpu %s\nvariant %+v\n",
		engineFormat, rewrite.Revision, abiVersion, guestDigest, wazeroVersion(), runtime.GOOS, runtime.GOARCH, cpuFeatures(), v)
	return hex.EncodeToString(h.Sum(nil))
}

func wazeroVersion() string {
	const path = "github.com/tetratelabs/wazero"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == path {
				if m.Replace != nil {
					m = m.Replace
				}
				return m.Version + " " + m.Sum
			}
		}
	}
	return "unknown"
}

// cpuFeatures lists what wazero's compiler makes a difference of: code compiled
// on one machine may not run on another that shares the directory.
func cpuFeatures() string {
	x, a := cpu.X86, cpu.ARM64
	return fmt.Sprint(x.HasSSE3, x.HasSSE41, x.HasSSE42, x.HasPOPCNT, x.HasBMI1, x.HasBMI2, x.HasAVX, x.HasAVX2, x.HasAVX512, a.HasATOMICS)
}

// read gives a whole and trusted entry's module and image.
func (e entry) read() (module []byte, img *image, err error) {
	if err := checkDirs(e.dir); err != nil {
		return nil, nil, err
	}
	seal, err := readOwned(filepath.Join(e.dir, entrySeal))
	if err != nil {
		return nil, nil, err
	}
	files, err := e.sealed(string(seal))
	if err != nil {
		return nil, nil, err
	}
	code, imageFile := files[entryModule], files[entryImage]
	if code.content == nil || imageFile.content == nil {
		return nil, nil, fmt.Errorf("%s: module or image is missing", filepath.Join(e.dir, entrySeal))
	}
	h, memory, err := decodeHeader(imageFile.content)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", filepath.Join(e.dir, entryImage), err)
	}
	img, err = newImage(h, memory)
	return code.content, img, err
}

// sealedFile is a file that is what its seal says.
type sealedFile struct {
	sum     string
	content []byte
}

// sealed reads the files that a seal names, side by side: hashing them is most
// of a warm start.
func (e entry) sealed(seal string) (map[string]sealedFile, error) {
	var mu sync.Mutex
	files := make(map[string]sealedFile)
	var g errgroup.Group
	for line := range strings.Lines(seal) {
		sum, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if !ok || !filepath.IsLocal(name) {
			return nil, errors.Join(fmt.Errorf("%s: malformed line", filepath.Join(e.dir, entrySeal)), g.Wait())
		}
		g.Go(func() error {
			path := filepath.Join(e.dir, filepath.FromSlash(name))
			// The code is opened once more, by wazero.
			for dir := filepath.Dir(path); len(dir) > len(e.dir); dir = filepath.Dir(dir) {
				if err := checkDirs(dir); err != nil {
					return err
				}
			}
			content, err := readOwned(path)
			if err != nil {
				return err
			}
			if got := sha256.Sum256(content); hex.EncodeToString(got[:]) != sum {
				return fmt.Errorf("%s: content is not what was sealed", path)
			}
			mu.Lock()
			defer mu.Unlock()
			files[name] = sealedFile{sum, content}
			return nil
		})
	}
	return files, g.Wait()
}

// write fills a new entry at e.dir. The compiled code must be there already.
func (e entry) write(module []byte, img *image) error {
	if err := writeFile(filepath.Join(e.dir, entryModule), func(w io.Writer) error {
		_, err := w.Write(module)
		return err
	}); err != nil {
		return err
	}
	if err := writeFile(filepath.Join(e.dir, entryImage), img.writeTo); err != nil {
		return err
	}
	var seal bytes.Buffer
	err := filepath.WalkDir(e.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := readOwned(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(e.dir, path)
		if err != nil {
			return err
		}
		fmt.Fprintf(&seal, "%x  %s\n", sha256.Sum256(content), filepath.ToSlash(name))
		return nil
	})
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(e.dir, entrySeal), func(w io.Writer) error {
		_, err := seal.WriteTo(w)
		return err
	})
}

// writeFile makes a file that only its owner can read, and has it on disk
// before it returns.
func writeFile(path string, fill func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = fill(f)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// readOwned reads a regular file that nobody but this user (or root) can have
// written. It looks at the open file, so what is checked is what is read.
func readOwned(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxEntryFile {
		return nil, fmt.Errorf("%s: not a regular file of reasonable size", path)
	}
	if err := ownedOnly(path, info); err != nil {
		return nil, err
	}
	content := make([]byte, info.Size())
	if _, err := io.ReadFull(f, content); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return content, nil
}

// checkDirs refuses directories that somebody else can write to.
func checkDirs(paths ...string) error {
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return fmt.Errorf("%s: not a directory", path)
		}
		if err := ownedOnly(path, info); err != nil {
			return err
		}
	}
	return nil
}
