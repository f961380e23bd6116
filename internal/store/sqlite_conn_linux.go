package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/ncruces/go-sqlite3"
)

// conn is one connection to the file, for one goroutine at a time.
type conn struct {
	path    string
	timeout time.Duration
	pragmas string
	// opened is what the database, its log and the log's index were when it was opened first.
	opened openedFiles

	db    *sqlite3.Conn
	stmts map[string]*sqlite3.Stmt
	files *openFiles
	// broken is why it must not be used any more, until it is opened again.
	broken error
	// replaced counts how often it was.
	replaced int
}

// maxReplaced is how often a broken connection is opened again. Each leaves its
// memory behind, some MiB of it used.
const maxReplaced = 64

func connect(path string, timeout time.Duration, pragmas string) (*conn, error) {
	c := &conn{path: path, timeout: timeout, pragmas: pragmas, stmts: make(map[string]*sqlite3.Stmt), files: newOpenFiles()}
	err := c.guard(context.Background(), func() (err error) {
		c.db, err = sqlite3.OpenFlags(address(path, c.files), sqlite3.OPEN_URI|sqlite3.OPEN_READWRITE|sqlite3.OPEN_NOFOLLOW|sqlite3.OPEN_EXRESCODE)
		if err != nil {
			return err
		}
		if err := c.db.BusyHandler(waiter(timeout)); err != nil {
			return err
		}
		if _, err := c.db.Config(sqlite3.DBCONFIG_DEFENSIVE, true); err != nil {
			return err
		}
		// Whoever closes last would delete the log, and whoever opens next make
		// another that others may read.
		if _, err := c.db.FileControl("main", sqlite3.FCNTL_PERSIST_WAL, true); err != nil {
			return err
		}
		return c.db.Exec(fmt.Sprintf("PRAGMA trusted_schema=OFF; PRAGMA temp_store=MEMORY; PRAGMA cell_size_check=ON; PRAGMA journal_size_limit=%d; %s", walBytes, pragmas))
	})
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// use opens a connection to a file that is ours.
func use(path string, timeout time.Duration, pragmas string) (*conn, error) {
	c, err := connect(path, timeout, pragmas)
	if err != nil {
		return nil, err
	}
	if err := c.guard(context.Background(), c.begin); err != nil {
		return nil, errors.Join(err, c.close())
	}
	if c.opened, err = filesOpened(path); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// openedFiles tell whether files have been replaced by others of their names.
type openedFiles [3]os.FileInfo

func filesOpened(path string) (o openedFiles, err error) {
	for i, name := range append((&files{path: path}).companions(), path) {
		if o[i], err = os.Lstat(name); err != nil {
			return o, fmt.Errorf("%w: %w", ErrIO, err)
		}
	}
	return o, nil
}

func (o openedFiles) same(p openedFiles) bool {
	return os.SameFile(o[0], p[0]) && os.SameFile(o[1], p[1]) && os.SameFile(o[2], p[2])
}

// fail has c be opened again before it is next used. Its engine does not run any
// more, not even to be closed, because nothing is known of its state. Its files are
// closed, which gives back its locks, as the end of a process does: the format of
// the file is made to survive that.
func (c *conn) fail(err error) error {
	c.broken = err
	if closeErr := c.files.end(); closeErr != nil {
		c.broken = errors.Join(err, closeErr)
	}
	return c.broken
}

func (c *conn) replace() error {
	if c.replaced == maxReplaced {
		return c.broken
	}
	if _, err := checkFiles(c.path); err != nil {
		return err
	}
	// Others go on with the files that were opened first. This must not write to another
	// that has the name of one now, not even what is in the log that they share.
	now, err := filesOpened(c.path)
	if err != nil {
		return err
	}
	moved := fmt.Errorf("%w: %s, or its log, is another file than it was; close the store", ErrIO, c.path)
	if !c.opened.same(now) {
		return moved
	}
	next, err := use(c.path, c.timeout, c.pragmas)
	if err != nil {
		return err
	}
	if !c.opened.same(next.opened) {
		return next.fail(moved)
	}
	next.replaced = c.replaced + 1
	*c = *next
	return nil
}

// waiter makes what is called each time that another process holds the lock:
// it waits a little, and says whether to try again.
func waiter(timeout time.Duration) func(ctx context.Context, count int) bool {
	var waited time.Duration
	return func(ctx context.Context, count int) bool {
		if count == 0 {
			waited = 0
		}
		// Short at first, as most transactions are; then random, so that those who
		// wait do not all come back at once.
		pause := min(200*time.Microsecond<<min(count, 10), 10*time.Millisecond)
		pause = pause/2 + rand.N(pause)
		if waited += pause; waited > timeout {
			return false
		}
		t := time.NewTimer(pause)
		defer t.Stop()
		select {
		case <-t.C:
			return true
		case <-ctx.Done():
			return false
		}
	}
}

// guard runs f with the connection interrupted when ctx ends, and explains its
// error. The engine panics when it is out of memory or finds itself broken, and
// a mapped file that somebody cuts off faults: neither may end the program.
func (c *conn) guard(ctx context.Context, f func() error) (err error) {
	if c.broken != nil {
		if err := c.replace(); err != nil {
			return err
		}
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = c.fail(fmt.Errorf("%w: the database engine gave up (%s) and is started anew; if it happens again, restore the file from a backup", ErrIO, why(r)))
		}
	}()
	if c.db != nil {
		defer c.db.SetInterrupt(c.db.SetInterrupt(ctx))
	}
	return explain(ctx, f())
}

// why says what a panic was about, if it is certain to hold nothing of the data.
func why(r any) string {
	if fault, ok := r.(runtime.Error); ok {
		return fault.Error()
	}
	return fmt.Sprintf("%T", r)
}

func (c *conn) transact(ctx context.Context, f func(c *conn) error) error {
	if err := c.run("BEGIN IMMEDIATE"); err != nil {
		if !c.db.GetAutocommit() {
			return c.fail(fmt.Errorf("%w: a transaction was still open (%w); it is taken back", ErrIO, err))
		}
		return err
	}
	err := c.checkVersion()
	if err == nil {
		err = f(c)
	}
	var keep *kept
	if err == nil || errors.As(err, &keep) {
		if ctxErr := ctx.Err(); ctxErr != nil {
			err, keep = ctxErr, nil
		} else {
			// From here on it is done or fails by itself.
			c.db.SetInterrupt(context.Background())
			commitErr := c.run("COMMIT")
			switch {
			case commitErr != nil:
				err = commitErr
			case keep != nil:
				return keep.error
			default:
				return nil
			}
		}
	}
	c.db.SetInterrupt(context.Background())
	if !c.db.GetAutocommit() {
		if rollbackErr := c.run("ROLLBACK"); rollbackErr != nil {
			return errors.Join(err, c.fail(fmt.Errorf("%w: a transaction could not be ended (%w); it is taken back", ErrIO, rollbackErr)))
		}
	}
	return err
}

// kept is an error of a transaction whose changes are to stay.
type kept struct{ error }

func (c *conn) close() (err error) {
	defer func() { err = errors.Join(err, c.files.end()) }()
	if c.db == nil || c.broken != nil {
		return nil
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: the database engine gave up (%s) while it was closed", ErrIO, why(r))
		}
	}()
	for _, s := range c.stmts {
		// What is wrong with a statement was said when it ran.
		_ = s.Close()
	}
	return explain(context.Background(), c.db.Close())
}

// stmt gives a prepared statement with its parameters bound.
func (c *conn) stmt(sql string, args []any) (*sqlite3.Stmt, error) {
	s := c.stmts[sql]
	if s == nil {
		var err error
		if s, _, err = c.db.PrepareFlags(sql, sqlite3.PREPARE_PERSISTENT); err != nil {
			return nil, err
		}
		c.stmts[sql] = s
	}
	for i, arg := range args {
		var err error
		switch v := arg.(type) {
		case string:
			err = s.BindText(i+1, v)
		case int64:
			err = s.BindInt64(i+1, v)
		case int:
			err = s.BindInt(i+1, v)
		case bool:
			err = s.BindBool(i+1, v)
		case time.Time:
			err = s.BindInt64(i+1, toNano(v))
		default:
			err = fmt.Errorf("BUG(mayfly): parameter of type %T", arg)
		}
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}

// run runs a statement that gives no rows.
func (c *conn) run(sql string, args ...any) error {
	return c.rows(func(*row) {}, sql, args...)
}

// rows calls f for each row.
func (c *conn) rows(f func(r *row), sql string, args ...any) (err error) {
	s, err := c.stmt(sql, args)
	if err != nil {
		return err
	}
	defer func() {
		// Reset repeats the statement's own error.
		if resetErr := s.Reset(); err == nil {
			err = resetErr
		}
		// What was bound may be large, and secret.
		if clearErr := s.ClearBindings(); err == nil {
			err = clearErr
		}
	}()
	for s.Step() {
		f(&row{stmt: s})
	}
	return s.Err()
}

// one calls f for the first row and says whether there was one.
func (c *conn) one(f func(r *row), sql string, args ...any) (found bool, err error) {
	err = c.rows(func(r *row) {
		if !found {
			f(r)
		}
		found = true
	}, sql, args...)
	return found, err
}

// row reads the columns of a row from left to right.
type row struct {
	stmt *sqlite3.Stmt
	col  int
}

func (r *row) next() int { r.col++; return r.col - 1 }

func (r *row) text() string    { return r.stmt.ColumnText(r.next()) }
func (r *row) int() int64      { return r.stmt.ColumnInt64(r.next()) }
func (r *row) bool() bool      { return r.stmt.ColumnBool(r.next()) }
func (r *row) time() time.Time { return fromNano(r.int()) }

// where collects the conditions of a list.
type where struct {
	sql  string
	args []any
}

func (w *where) add(condition string, args ...any) {
	if w.sql == "" {
		w.sql = " WHERE "
	} else {
		w.sql += " AND "
	}
	w.sql += condition
	w.args = append(w.args, args...)
}

// same adds that a column has a value, unless the value is empty.
func (w *where) same(column, value string) {
	if value != "" {
		w.add(column+" = ?", value)
	}
}
