package store

import (
	"encoding/binary"
	"fmt"
)

const (
	// applicationID marks the file as ours: "Mfly" in its header.
	applicationID = 0x4d666c79
	// version is that of the schema. A file of an older one is migrated when it is
	// opened, one of a newer one is refused.
	version = 1

	headerBytes = 100
	magic       = "SQLite format 3\x00"
)

// schema makes the tables. Times are nanoseconds since 1970, 0 is none. The
// column seq is the order in which rows came.
const schema = `
CREATE TABLE run (
	seq INTEGER PRIMARY KEY,
	id TEXT NOT NULL UNIQUE,
	principal TEXT NOT NULL,
	tenant TEXT NOT NULL,
	task TEXT NOT NULL,
	untrusted_seen INTEGER NOT NULL,
	private_seen INTEGER NOT NULL,
	calls INTEGER NOT NULL,
	created INTEGER NOT NULL,
	expires INTEGER NOT NULL
) STRICT;
CREATE INDEX run_created ON run (created);

CREATE TABLE place (
	seq INTEGER PRIMARY KEY,
	key TEXT NOT NULL,
	id TEXT NOT NULL,
	at INTEGER NOT NULL,
	until INTEGER NOT NULL,
	UNIQUE (id, key)
) STRICT;
CREATE INDEX place_at ON place (key, at);
CREATE INDEX place_until ON place (until);

CREATE TABLE approval (
	seq INTEGER PRIMARY KEY,
	id TEXT NOT NULL UNIQUE,
	run TEXT NOT NULL,
	hash TEXT NOT NULL,
	tool TEXT NOT NULL,
	args TEXT NOT NULL,
	principal TEXT NOT NULL,
	tenant TEXT NOT NULL,
	task TEXT NOT NULL,
	role TEXT NOT NULL,
	step TEXT NOT NULL,
	code TEXT NOT NULL,
	cause TEXT NOT NULL,
	created INTEGER NOT NULL,
	expires INTEGER NOT NULL,
	state TEXT NOT NULL CHECK (state IN ('pending', 'approved', 'rejected', 'expired', 'used')),
	approver TEXT NOT NULL,
	reason TEXT NOT NULL,
	edited_args TEXT NOT NULL,
	granted_hash TEXT NOT NULL,
	decided INTEGER NOT NULL,
	used INTEGER NOT NULL
) STRICT;
CREATE INDEX approval_created ON approval (created);
CREATE INDEX approval_open ON approval (created) WHERE state IN ('pending', 'approved');
CREATE INDEX approval_hash ON approval (run, hash);
CREATE INDEX approval_granted ON approval (run, granted_hash);

CREATE TABLE grants (
	run TEXT NOT NULL,
	tool TEXT NOT NULL,
	granted_by TEXT NOT NULL,
	granted INTEGER NOT NULL,
	expires INTEGER NOT NULL,
	revoked INTEGER NOT NULL,
	PRIMARY KEY (run, tool)
) STRICT, WITHOUT ROWID;

CREATE TABLE effect (
	seq INTEGER PRIMARY KEY,
	key TEXT NOT NULL UNIQUE,
	run TEXT NOT NULL,
	call TEXT NOT NULL,
	tool TEXT NOT NULL,
	state TEXT NOT NULL CHECK (state IN ('begun', 'confirmed', 'failed', 'ambiguous')),
	attempts INTEGER NOT NULL,
	outcome TEXT NOT NULL,
	owner TEXT NOT NULL,
	begun INTEGER NOT NULL,
	finished INTEGER NOT NULL
) STRICT;
CREATE INDEX effect_begun ON effect (begun);
CREATE INDEX effect_run ON effect (run, begun);
CREATE INDEX effect_state ON effect (state, begun);
`

// create makes the schema in an empty file. There is no log yet, so that the
// file says in its own first bytes what it is.
func (c *conn) create() error {
	return c.db.Exec("BEGIN EXCLUSIVE; " + schema +
		fmt.Sprintf("PRAGMA application_id=%d; PRAGMA user_version=%d; COMMIT", applicationID, version))
}

// begin starts to use the file. It asks the engine what the file says about
// itself: other than its first bytes, that includes what is still in the log.
// Asking makes the engine look whether the file is as long as it should be.
func (c *conn) begin() error {
	id, err := c.pragma("PRAGMA application_id")
	if err != nil {
		return err
	}
	if id != applicationID {
		return errForeign
	}
	if err := c.checkVersion(); err != nil {
		return err
	}
	var mode string
	if _, err := c.one(func(r *row) { mode = r.text() }, "PRAGMA journal_mode=WAL"); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("%w: its file system cannot share a log between processes; put the store on a local disk", ErrIO)
	}
	return nil
}

// checkVersion is also asked in every transaction: a newer Mayfly may have
// changed the tables since we opened them.
func (c *conn) checkVersion() error {
	v, err := c.pragma("PRAGMA user_version")
	if err != nil {
		return err
	}
	return refuseVersion(v)
}

func (c *conn) pragma(sql string) (v int64, err error) {
	_, err = c.one(func(r *row) { v = r.int() }, sql)
	return v, err
}

// checkBytes looks at the first bytes of a file, before the engine does
// anything to it.
func checkBytes(header []byte) error {
	if len(header) < headerBytes || string(header[:len(magic)]) != magic {
		return fmt.Errorf("%w, or no store at all: its first bytes are not those of a database; name another file, or restore it from a backup", ErrCorrupt)
	}
	if binary.BigEndian.Uint32(header[68:]) != applicationID {
		return errForeign
	}
	return refuseVersion(int64(binary.BigEndian.Uint32(header[60:])))
}

var errForeign = fmt.Errorf("%w: it is a database, and not one of Mayfly; name another file", ErrForeign)

func refuseVersion(v int64) error {
	switch {
	case v > version:
		return fmt.Errorf("%w: it has version %d, and this Mayfly knows %d; use the newer Mayfly, or another file", ErrVersion, v, version)
	case v < version:
		return fmt.Errorf("%w: it says that it has version %d, which there never was; restore it from a backup", ErrCorrupt, v)
	}
	return nil
}
