package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mayfly-run/mayfly/manifests"
	"github.com/mayfly-run/mayfly/sandbox"
)

// readFunction is the program that reads a Python function's signature. It runs
// in the guest, where the source that it parses can do no harm.
//
//go:embed function.py
var readFunction string

// function is what a Python function says of itself.
type function struct {
	Errors      []remark       `json:"errors"`
	Line        int            `json:"line"`
	Async       bool           `json:"async"`
	Description string         `json:"description"`
	InputSchema jsontext.Value `json:"input_schema"`
	LeftOut     []string       `json:"left_out"`
	Notes       []remark       `json:"notes"`
}

// remark is said of a place in a source.
type remark struct {
	Line, Column int
	Text         string
}

var (
	_ json.UnmarshalerFrom = (*remark)(nil)
	_ json.Marshaler       = remark{}
)

// UnmarshalJSONFrom reads the short form that the guest writes.
func (r *remark) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	var parts [3]jsontext.Value
	err := json.UnmarshalDecode(dec, &parts)
	for i, part := range []any{&r.Line, &r.Column, &r.Text} {
		if err == nil {
			err = json.Unmarshal(parts[i], part)
		}
	}
	return err
}

// MarshalJSON writes the form that people's programs read.
func (r remark) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Line    int    `json:"line"`
		Column  int    `json:"column"`
		Message string `json:"message"`
	}{r.Line, r.Column, r.Text})
}

// in gives the remark with its place.
func (r remark) in(file string) string {
	return fmt.Sprintf("%s:%d:%d: %s", file, r.Line, r.Column, oneLine(r.Text))
}

// moduleSource finds and reads the source of a Python module below the
// harness's directory, as an import from there would find it.
func moduleSource(root *os.Root, module string) (file, source string, err error) {
	base := strings.ReplaceAll(module, ".", "/")
	candidates := []string{path.Join(base, "__init__.py"), base + ".py"}
	for _, file := range candidates {
		info, err := root.Stat(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return file, "", usagef("%s cannot be read: %w", file, plainError(err))
		case !info.Mode().IsRegular():
			return file, "", usagef("%s is not a regular file", file)
		}
		f, err := root.Open(file)
		if err != nil {
			return file, "", usagef("%s cannot be read: %w", file, plainError(err))
		}
		defer f.Close()
		text, err := io.ReadAll(io.LimitReader(f, sandbox.DefaultMaxSource+1))
		switch {
		case err != nil:
			return file, "", usagef("%s cannot be read: %w", file, plainError(err))
		case int64(len(text)) > sandbox.DefaultMaxSource:
			return file, "", usagef("%s is larger than %d bytes", file, int64(sandbox.DefaultMaxSource))
		case !utf8.Valid(text):
			return file, "", usagef("%s is not UTF-8", file)
		}
		return file, strings.TrimPrefix(string(text), "\ufeff"), nil
	}
	return "", "", usagef("%s is neither %s nor %s in the harness's directory, %s", module, candidates[0], candidates[1], root.Name())
}

// describeFunction has the guest read a function's signature.
func describeFunction(ctx context.Context, p *process, cache cacheFlag, h *manifests.Handler, file, source string) (f function, err error) {
	limits := sandbox.Limits{Timeout: 30 * time.Second, MaxMemory: 512 << 20}
	progress := newProgress(p.stderr)
	box, err := p.open(ctx, openConfig{guest: "python", cacheDir: cache.dir(progress), maxMemory: limits.MaxMemory, progress: progress.say})
	progress.end()
	if err != nil {
		return f, err
	}
	defer func() {
		if closeErr := box.Close(); err == nil && closeErr != nil {
			err = fmt.Errorf("close sandbox: %w", closeErr)
		}
	}()
	return readSignature(ctx, box, limits, h.Function, file, source)
}

// readSignature is describeFunction in a sandbox that is open.
func readSignature(ctx context.Context, box sandbox.Sandbox, limits sandbox.Limits, name, file, source string) (f function, err error) {
	result, err := box.Run(ctx, sandbox.Spec{
		Name: "function.py", Code: readFunction, Limits: limits,
		Globals: map[string]any{"source": source, "file": path.Base(file), "function": name},
	})
	switch {
	case err != nil:
		return f, err
	case result.Status.Limit():
		return f, usagef("%s is more than can be read: %s", file, result.Status)
	case result.Status != sandbox.StatusOK:
		why := string(result.Status)
		if result.Error != nil {
			why = fmt.Sprintf("%s: %s: %s", result.Status, result.Error.Type, result.Error.Message)
		}
		return f, fmt.Errorf("read the signature in %s: %s", file, why)
	}
	if err := json.Unmarshal(result.Value, &f, json.RejectUnknownMembers(true)); err != nil {
		return f, fmt.Errorf("BUG(mayfly): the signature in %s: %w", file, err)
	}
	return f, nil
}

// refused says why the function cannot be a tool.
func (f function) refused(file, name string) error {
	var b strings.Builder
	for _, e := range f.Errors {
		b.WriteString("\n" + e.in(file))
	}
	if len(f.Errors) == 1 {
		return usagef("%s", strings.TrimPrefix(b.String(), "\n"))
	}
	return usagef("%s cannot be a tool, for %d reasons:%s", name, len(f.Errors), b.String())
}
