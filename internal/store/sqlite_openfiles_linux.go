package store

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
)

// openFiles are the files that the engine of one connection has open, so that
// they can be closed when it cannot be asked to.
type openFiles struct {
	// key is how the engine names it to fileSystem, which it knows nothing else of.
	key string

	mu    sync.Mutex
	files map[engineFile]bool
}

const filesParameter = "mayfly-files"

var (
	everyOpenFiles sync.Map // of *openFiles by key
	lastFilesKey   atomic.Uint64
)

func newOpenFiles() *openFiles {
	o := &openFiles{key: strconv.FormatUint(lastFilesKey.Add(1), 10), files: make(map[engineFile]bool)}
	everyOpenFiles.Store(o.key, o)
	return o
}

func openFilesOf(key string) *openFiles {
	o, ok := everyOpenFiles.Load(key)
	if !ok {
		panic(fmt.Sprintf("BUG(mayfly): connection %s is not open", key))
	}
	return o.(*openFiles)
}

func (o *openFiles) add(f engineFile) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.files[f] = true
}

func (o *openFiles) remove(f engineFile) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.files, f)
}

// close closes what is open, and gives back all locks.
func (o *openFiles) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	var errs []error
	for f := range o.files {
		for _, err := range []error{unlock(f), f.Close()} {
			if err != nil {
				errs = append(errs, fmt.Errorf("%w: %w", ErrIO, err))
			}
		}
	}
	clear(o.files)
	return errors.Join(errs...)
}

// end closes what is open for the last time.
func (o *openFiles) end() error {
	everyOpenFiles.Delete(o.key)
	return o.close()
}

// unlock gives back the locks of the log's index. To close it is not enough: it is
// mapped still, and locks last as long as any use of what was opened.
func unlock(f engineFile) error {
	shared := f.SharedMemory()
	if shared == nil {
		return nil
	}
	index, ok := shared.(interface{ Fd() uintptr })
	if !ok {
		return fmt.Errorf("BUG(mayfly): the engine's %T has no descriptor", shared)
	}
	if index.Fd() == ^uintptr(0) {
		return nil // it is not open
	}
	return syscall.FcntlFlock(index.Fd(), ofdSetLock, &syscall.Flock_t{Type: syscall.F_UNLCK})
}
