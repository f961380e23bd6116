package rows

import (
	"io"

	"github.com/mayfly-run/mayfly/sandbox"
)

// ReadValue reads one JSON value of any kind, as strictly as [Read] reads
// JSON rows. Options.Format and Options.Strings mean nothing to it.
func ReadValue(r io.Reader, opts Options) (sandbox.RawJSON, error) {
	opts = opts.withDefaults()
	text, err := readText(io.LimitReader(r, opts.MaxBytes+1), 0)
	if err != nil {
		return nil, readError(opts.Name, err)
	}
	if int64(len(text)) > opts.MaxBytes {
		return nil, tooLarge(opts, "has too many bytes")
	}
	src, err := newSource(text, opts)
	if err != nil {
		return nil, err
	}
	if err := newChecker(src).value(); err != nil {
		return nil, err
	}
	return sandbox.RawJSON(src.text), nil
}
