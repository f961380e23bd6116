package store

import "fmt"

// Open opens the store in the file at path, and makes it if there is none. The
// folder is made too, if its parent is there. Close it when done.
//
// Beside the file lie others of the same name and -wal, -shm and -lock. They
// belong to it: what was written last may be in -wal alone.
//
// The file must be ours, readable and writable by us alone, and no link; the
// folder must be ours or root's, and writable by nobody else: [ErrPermission].
// A file that is not a store, or damaged, is refused and left as it is:
// [ErrForeign], [ErrVersion], [ErrCorrupt].
//
// Warning: the file must be on a local file system. Locks on network file
// systems are not to be relied on.
//
// On systems other than Linux the error is [errors.ErrUnsupported].
func Open(path string) (Store, error) {
	s, err := openFileStore(path)
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", path, err)
	}
	return s, nil
}
