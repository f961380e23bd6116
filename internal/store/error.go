package store

import "errors"

// What can go wrong, to be matched with errors.Is. The errors that methods
// return say more: where, and what to do.
var (
	ErrExists   = errors.New("already exists")
	ErrNotFound = errors.New("not found")
	// ErrInvalid: a value that the store does not take; nothing was changed.
	ErrInvalid = errors.New("invalid value")
	// ErrDecided: the approval was approved, rejected or used before.
	ErrDecided = errors.New("already decided")
	ErrExpired = errors.New("expired")
	// ErrFinished: the effect is in a state that cannot become the one asked for.
	ErrFinished = errors.New("already finished")
	// ErrNotOwner: the effect is under way in another Store.
	ErrNotOwner = errors.New("under way elsewhere")
	ErrClosed   = errors.New("store is closed")

	// ErrBusy: another process held the file for too long. Nothing was changed;
	// it can be tried again.
	ErrBusy = errors.New("store is busy")
	// ErrFull: the disk is full, or a quota is used up. Nothing was changed.
	ErrFull = errors.New("no room to write")
	// ErrIO: the file could not be read or written. Whether the change is there
	// is not known.
	ErrIO = errors.New("cannot read or write the file")
	// ErrCorrupt: the file is damaged, or no database at all.
	ErrCorrupt = errors.New("file is damaged")
	// ErrForeign: the file is a database of another program.
	ErrForeign = errors.New("file belongs to another program")
	// ErrVersion: the file was written by a newer Mayfly.
	ErrVersion = errors.New("file is of a newer version")
	// ErrPermission: the file or its folder could be changed or read by others,
	// is not ours, or is no plain file.
	ErrPermission = errors.New("file is not safe to use")
)
