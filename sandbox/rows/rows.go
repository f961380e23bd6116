package rows

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/mayfly-run/mayfly/sandbox"
)

// Defaults and fixed bounds of [Options].
const (
	// DefaultMaxBytes is Options.MaxBytes' default, 128 MiB.
	DefaultMaxBytes int64 = 128 << 20
	// DefaultMaxCells is Options.MaxCells' default, 16 Mi.
	DefaultMaxCells = 16 << 20
	// MaxColumns is how many columns a table may have.
	MaxColumns = 16_384
)

// Options say how to read rows. The zero value reads any format within the
// default bounds.
type Options struct {
	// Name is what errors call the input, and its ending may tell the format.
	// Default "rows". [ReadFile] sets it to the path if it is empty.
	Name string
	// Format is the format; the zero value finds out, see the package comment.
	Format Format
	// Strings leaves every cell of a CSV or TSV file a string. It has no effect
	// on JSON, whose values carry their types.
	Strings bool
	// Sheet is the sheet of an Excel workbook. Default: the first. It has no effect
	// on other formats.
	Sheet string
	// MaxBytes is how large the input may be. Default [DefaultMaxBytes]. More is
	// refused with [TooLarge], a regular file before anything of it is read. The
	// same holds for what a packed file unpacks to, and for the texts in a table of
	// a binary format, in which each value counts two bytes more.
	MaxBytes int64
	// MaxCells is how many cells a table may have, and of how many tokens other
	// JSON may consist. Default [DefaultMaxCells].
	MaxCells int

	ending string // what the format is found by, if it is not Name
}

// Rows are the rows of one input: exactly one of Table and JSON is set.
type Rows struct {
	// Format is the format that was read.
	Format Format
	// Len is the number of rows.
	Len int
	// Table holds rows of plain values that share their names.
	Table *sandbox.Table
	// JSON is the text of an array of any other rows, checked already.
	JSON sandbox.RawJSON
}

// ReadFile reads the file at path.
func ReadFile(path string, opts Options) (Rows, error) {
	if opts.Name == "" {
		opts.Name = path
	}
	opts = opts.withDefaults()
	f, err := os.Open(path)
	if err != nil {
		return Rows{}, readError(opts.Name, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Rows{}, readError(opts.Name, err)
	}
	switch mode := info.Mode(); {
	case mode.IsDir():
		return Rows{}, &Error{Name: opts.Name, Code: Unreadable, Reason: "is a directory; give a file"}
	case mode.IsRegular() && info.Size() > opts.MaxBytes:
		return Rows{}, tooLarge(opts, fmt.Sprintf("has %d bytes", info.Size()))
	}
	return read(f, info.Size(), opts)
}

// Read reads r to its end. It is done with r before it parses anything.
func Read(r io.Reader, opts Options) (Rows, error) {
	return read(r, 0, opts.withDefaults())
}

// read reads r, of which size tells the length if it is known. Preconditions:
// opts has its defaults.
func read(r io.Reader, size int64, opts Options) (Rows, error) {
	text, err := readText(io.LimitReader(r, opts.MaxBytes+1), min(size, opts.MaxBytes))
	if err != nil {
		return Rows{}, readError(opts.Name, err)
	}
	if int64(len(text)) > opts.MaxBytes {
		return Rows{}, tooLarge(opts, "has too many bytes")
	}
	return parse(text, opts)
}

// readText reads everything in pieces and joins them, so that a stream of
// unknown length is copied once and not once for each doubling of a buffer.
func readText(r io.Reader, size int64) (string, error) {
	var pieces [][]byte
	total := 0
	piece := make([]byte, 0, size+1) // one more, so that the end is seen without another piece
	for {
		n, err := r.Read(piece[len(piece):cap(piece)])
		piece = piece[:len(piece)+n]
		total += n
		if err != nil && err != io.EOF {
			return "", err
		}
		if err == nil && len(piece) < cap(piece) {
			continue
		}
		pieces = append(pieces, piece)
		if err == io.EOF {
			break
		}
		piece = make([]byte, 0, 256<<10)
	}
	var text strings.Builder
	text.Grow(total)
	for _, piece := range pieces {
		text.Write(piece)
	}
	return text.String(), nil
}

func (o Options) withDefaults() Options {
	if o.Name == "" {
		o.Name = "rows"
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	o.ending = o.Name
	if o.MaxCells <= 0 {
		o.MaxCells = DefaultMaxCells
	}
	return o
}

// parse turns the whole input into rows. Preconditions: opts has its defaults.
func parse(text string, opts Options) (Rows, error) {
	text, opts, err := unpack(text, opts)
	if err != nil {
		return Rows{}, err
	}
	format := opts.Format
	if format == "" {
		format = formatOf(opts.ending, text)
	}
	if format.isBinary() {
		return readBinary(text, format, opts)
	}
	src, err := newSource(text, opts)
	if err != nil {
		return Rows{}, err
	}
	if opts.Format == "" {
		format = formatOf(opts.ending, src.text) // without a byte order mark
	}
	var rows Rows
	switch format {
	case JSON:
		rows, err = src.readJSON()
	case JSONLines:
		rows, err = src.readJSONLines()
	case CSV:
		rows, err = src.readSeparated(csvSeparator(src.text), refuseBareQuotes)
	case TSV:
		rows, err = src.readSeparated('\t', keepBareQuotes)
	default:
		return Rows{}, &Error{Name: opts.Name, Code: Unreadable, Reason: fmt.Sprintf("unknown format %q; known are %s", format, FormatNames)}
	}
	if err != nil {
		return Rows{}, err
	}
	rows.Format = format
	return rows, nil
}

func readError(name string, err error) error {
	// The path is in Name already; the operation adds nothing.
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	return &Error{Name: name, Code: Unreadable, Reason: "cannot be read: " + err.Error(), Err: err}
}

func tooLarge(opts Options, what string) error {
	return &Error{Name: opts.Name, Code: TooLarge, Reason: fmt.Sprintf("%s; the limit is %d bytes", what, opts.MaxBytes)}
}
