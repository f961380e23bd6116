package rows

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// How packed text begins.
const (
	gzipMagic = "\x1f\x8b"
	zstdMagic = "\x28\xb5\x2f\xfd"
)

// maxWindow bounds what a zstd stream can make its reader hold, beside what it
// unpacks to: as much as "zstd --long" writes.
const maxWindow = 128 << 20

// unpack takes gzip and zstd off, once: what unpacks to packed data again was made
// to unpack to more than anybody would wait for. The name loses its ending with
// it. Both the packed and the unpacked size are bounded by opts.MaxBytes.
func unpack(text string, opts Options) (string, Options, error) {
	var r io.Reader
	var how string
	switch {
	case strings.HasPrefix(text, gzipMagic):
		how = "gzip"
		z, err := gzip.NewReader(strings.NewReader(text))
		if err != nil {
			return "", opts, notPacked(opts, how, err)
		}
		r = z
	case strings.HasPrefix(text, zstdMagic):
		how = "zstd"
		z, err := zstd.NewReader(strings.NewReader(text), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderLowmem(true))
		if err != nil {
			return "", opts, notPacked(opts, how, err)
		}
		defer z.Close()
		r = z
	default:
		return text, opts, nil
	}
	unpacked, err := readText(io.LimitReader(r, opts.MaxBytes+1), 0)
	if err != nil {
		return "", opts, notPacked(opts, how, err)
	}
	if int64(len(unpacked)) > opts.MaxBytes {
		return "", opts, tooLarge(opts, "unpacks to too many bytes")
	}
	if strings.HasPrefix(unpacked, gzipMagic) || strings.HasPrefix(unpacked, zstdMagic) {
		return "", opts, &Error{Name: opts.Name, Code: Encoding, Reason: "is packed twice; unpack it first"}
	}
	opts.ending = opts.Name
	for _, ending := range []string{".gz", ".zst", ".zstd"} {
		if len(opts.Name) > len(ending) && strings.EqualFold(opts.Name[len(opts.Name)-len(ending):], ending) {
			opts.ending = opts.Name[:len(opts.Name)-len(ending)]
		}
	}
	return unpacked, opts, nil
}

func notPacked(opts Options, how string, err error) error {
	reason := fmt.Sprintf("is damaged %s data", how)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		reason = fmt.Sprintf("is %s data that ends too early", how)
	}
	return &Error{Name: opts.Name, Code: Syntax, Reason: reason, Err: err}
}

// isBinary reports whether a format is not text.
func (f Format) isBinary() bool { return f == Parquet || f == Excel || f == Arrow }

// binaryFormat finds a binary format by how it begins, "" if it is none.
func binaryFormat(text string) Format {
	switch {
	case strings.HasPrefix(text, "PAR1"):
		return Parquet
	case strings.HasPrefix(text, "PK\x03\x04"):
		return Excel
	case strings.HasPrefix(text, arrowMark+"\x00\x00"), strings.HasPrefix(text, arrowContinue): // both are no text
		return Arrow
	}
	return ""
}

// readBinary reads a format that is not text.
func readBinary(text string, format Format, opts Options) (rows Rows, err error) {
	// The readers of these formats are large, and some of what they are given was
	// made to break them.
	defer func() {
		if cause := recover(); cause != nil {
			if over, ok := cause.(overBudget); ok {
				rows, err = Rows{}, over.error(opts)
				return
			}
			rows, err = Rows{}, damaged(opts, format, fmt.Errorf("%v", cause))
		}
	}()
	if text == "" {
		return Rows{}, &Error{Name: opts.Name, Code: Empty, Reason: "is empty, and " + formatNames[format] + " is not"}
	}
	b := &builder{opts: opts, format: format}
	switch format {
	case Parquet:
		err = b.readParquet(text)
	case Excel:
		err = b.readExcel(text)
	case Arrow:
		err = b.readArrow(text)
	}
	if err != nil {
		return Rows{}, err
	}
	return Rows{Format: format, Len: len(b.table.Rows), Table: &b.table}, nil
}

// damaged is the error for a file that is not what its format wants. What the
// reader of the format said goes with it: it may be the only trace.
func damaged(opts Options, format Format, err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{Name: opts.Name, Code: Syntax, Reason: "cannot be read as " + formatNames[format] + "; it is damaged, or not what it says it is", Err: err}
}

var formatNames = map[Format]string{Parquet: "Parquet", Excel: "an Excel workbook (.xlsx)", Arrow: "Arrow IPC"}

// readerOf gives what is read at any place.
func readerOf(text string) *bytes.Reader { return bytes.NewReader([]byte(text)) }
