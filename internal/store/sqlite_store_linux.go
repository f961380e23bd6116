package store

import (
	"context"
	"errors"
	"os"
	"time"
)

const (
	// busyTimeout is how long a method waits for other processes.
	busyTimeout = 10 * time.Second
	// walBytes is how large the log may stay after a checkpoint.
	walBytes = 4 << 20
)

// sqlite is a Store on a file.
//
// Each connection may be used by one goroutine at a time, which holds the
// token of its channel. There is one writer to a file anyway, so that the two
// that write share a token, and wait for each other here and not in the file
// system.
type sqlite struct {
	files *files
	owner *owner

	writing chan struct{}
	durable *conn // a commit is on the disk
	quick   *conn // a commit is in the file

	reading chan struct{}
	reader  *conn

	// closed is read with either token, and written with both.
	closed bool
}

func openFileStore(path string) (Store, error) {
	s, err := open(path, busyTimeout)
	if err != nil {
		return nil, err // and not a Store that is not nil
	}
	return s, nil
}

func open(path string, timeout time.Duration) (_ *sqlite, err error) {
	f, err := checkFiles(path)
	if err != nil {
		return nil, err
	}
	o, err := newOwner(f.lock)
	if err != nil {
		return nil, err
	}
	s := &sqlite{
		files:   f,
		owner:   o,
		writing: make(chan struct{}, 1),
		reading: make(chan struct{}, 1),
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.release())
		}
	}()

	// One process at a time looks at what is there, and makes it.
	if err := o.lockSetup(timeout); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, o.unlockSetup()) }()
	if err := s.setUp(timeout); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *sqlite) setUp(timeout time.Duration) error {
	ctx := context.Background() // waiting is bounded by the timeout of each connection
	fresh, err := s.files.prepare(s.owner)
	if err != nil {
		return err
	}
	if fresh {
		c, err := connect(s.files.path, timeout, "PRAGMA synchronous=FULL")
		if err != nil {
			return err
		}
		if err := errors.Join(c.guard(ctx, c.create), c.close()); err != nil {
			return err
		}
	}
	if err := s.files.makeCompanions(); err != nil {
		return err
	}
	for _, c := range []struct {
		to      **conn
		pragmas string
	}{
		{&s.durable, "PRAGMA synchronous=FULL"},
		{&s.quick, "PRAGMA synchronous=NORMAL"},
		{&s.reader, "PRAGMA synchronous=NORMAL; PRAGMA query_only=ON"},
	} {
		if *c.to, err = use(s.files.path, timeout, c.pragmas); err != nil {
			return err
		}
	}
	return s.files.made(s.owner)
}

// transaction runs f in a transaction that has the file's write lock from the
// start, so that what f reads stays true until it is committed. An error of f
// rolls back.
func (s *sqlite) transaction(ctx context.Context, pick func(*sqlite) *conn, f func(c *conn) error) error {
	if err := take(ctx, s.writing); err != nil {
		return err
	}
	defer func() { <-s.writing }()
	if s.closed {
		return ErrClosed
	}
	c := pick(s)
	return c.guard(ctx, func() error { return c.transact(ctx, f) })
}

func onDisk(s *sqlite) *conn { return s.durable }
func inFile(s *sqlite) *conn { return s.quick }

// read runs f on a connection that cannot write.
func (s *sqlite) read(ctx context.Context, f func(c *conn) error) error {
	if err := take(ctx, s.reading); err != nil {
		return err
	}
	defer func() { <-s.reading }()
	if s.closed {
		return ErrClosed
	}
	return s.reader.guard(ctx, func() error {
		if err := s.reader.checkVersion(); err != nil {
			return err
		}
		return f(s.reader)
	})
}

// take takes a token, or gives up with the context.
func take(ctx context.Context, token chan struct{}) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case token <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *sqlite) Close() error {
	s.writing <- struct{}{}
	defer func() { <-s.writing }()
	s.reading <- struct{}{}
	defer func() { <-s.reading }()
	if s.closed {
		return ErrClosed
	}
	s.closed = true
	return s.release()
}

// release closes what is open. The owner comes last: as long as it is there,
// nobody takes our effects for abandoned.
func (s *sqlite) release() error {
	var errs []error
	for _, c := range []*conn{s.reader, s.quick, s.durable} {
		if c != nil {
			errs = append(errs, c.close())
		}
	}
	return errors.Join(append(errs, s.owner.close())...)
}

// readHeader gives the first bytes of a file, fewer if it is shorter.
func readHeader(f *os.File) ([]byte, error) {
	b := make([]byte, headerBytes)
	n, err := f.ReadAt(b, 0)
	if n < len(b) && !isEOF(err) {
		return nil, err
	}
	return b[:n], nil
}
