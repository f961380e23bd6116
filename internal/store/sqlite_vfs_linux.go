package store

import (
	"errors"
	"net/url"
	"sync"
	"syscall"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"
)

// vfsName is how the engine finds fileSystem.
const vfsName = "mayfly"

var registerVFS = sync.OnceFunc(func() {
	vfs.Register(vfsName, fileSystem{vfs.Find("").(vfs.VFSFilename)})
})

// address is how the engine is told to use our file system, and to keep its files
// in files.
func address(path string, files *openFiles) string {
	registerVFS()
	query := url.Values{"vfs": {vfsName}, filesParameter: {files.key}}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}).String()
}

// fileSystem is the engine's own, which reports a full disk like any other
// failure. That must be told apart: nothing has been changed then.
type fileSystem struct{ vfs.VFSFilename }

func (fs fileSystem) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	f, flags, err := fs.VFSFilename.OpenFilename(name, flags)
	if err != nil {
		return nil, flags, full(err)
	}
	ours := file{f.(engineFile), nil}
	if key := name.URIParameter(filesParameter); key != "" {
		ours.in = openFilesOf(key)
		ours.in.add(ours.engineFile)
	}
	return ours, flags, nil
}

// engineFile is what the engine's files can do, as far as it matters here.
type engineFile interface {
	vfs.File
	vfs.FileLockState
	vfs.FilePersistWAL
	vfs.FilePowersafeOverwrite
	vfs.FileHasMoved
	vfs.FileSizeHint
	vfs.FileSharedMemory
}

type file struct {
	engineFile
	in *openFiles
}

func (f file) Close() error {
	if f.in != nil {
		f.in.remove(f.engineFile)
	}
	return f.engineFile.Close()
}

func (f file) WriteAt(p []byte, off int64) (int, error) {
	n, err := f.engineFile.WriteAt(p, off)
	return n, full(err)
}

func (f file) Truncate(size int64) error { return full(f.engineFile.Truncate(size)) }

func (f file) SizeHint(size int64) error { return full(f.engineFile.SizeHint(size)) }

func full(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG) {
		return sqlite3.FULL
	}
	return err
}
