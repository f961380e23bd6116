package store

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/ncruces/go-sqlite3"
)

func isEOF(err error) bool { return errors.Is(err, io.EOF) }

// explain turns the engine's errors into the package's own. Others stay as they
// are.
func explain(ctx context.Context, err error) error {
	var code sqlite3.ErrorCode
	if err == nil || !errors.As(err, &code) {
		return err
	}
	if code == sqlite3.INTERRUPT || code == sqlite3.BUSY {
		if ctxErr := ctx.Err(); ctxErr != nil {
			return ctxErr
		}
	}
	// The index of the log cannot be made larger for one reason only.
	if code == sqlite3.FULL || errors.Is(err, sqlite3.IOERR_SHMSIZE) {
		return fmt.Errorf("%w (%w): make room on the disk of the store, then try again", ErrFull, err)
	}
	switch code {
	case sqlite3.BUSY, sqlite3.LOCKED, sqlite3.PROTOCOL:
		return fmt.Errorf("%w (%w): another process held it for too long; try again", ErrBusy, err)
	case sqlite3.CORRUPT, sqlite3.NOTADB, sqlite3.FORMAT:
		return fmt.Errorf("%w (%w): move it away together with its -wal, -shm and -lock files, and restore it from a backup", ErrCorrupt, err)
	case sqlite3.ERROR, sqlite3.SCHEMA, sqlite3.CONSTRAINT, sqlite3.MISMATCH:
		// The statements are ours and fit the schema that is ours.
		return fmt.Errorf("%w (%w): its tables are not as they were made; restore it from a backup", ErrCorrupt, err)
	case sqlite3.READONLY, sqlite3.PERM, sqlite3.CANTOPEN:
		return fmt.Errorf("%w (%w): see whether it is still there and can be written", ErrIO, err)
	}
	return fmt.Errorf("%w (%w): look at the disk of the store", ErrIO, err)
}
