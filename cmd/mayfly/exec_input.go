package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/mayfly-run/mayfly/sandbox"
	"github.com/mayfly-run/mayfly/sandbox/rows"
)

// inputs opens what flags name. Standard input can be read once only, so the
// flag that takes it is kept.
type inputs struct {
	stdin     *os.File
	stdinUser string
}

// claim notes that a flag wants path, which may be standard input.
func (in *inputs) claim(flag, path string) error {
	if path != "-" {
		return nil
	}
	if in.stdinUser != "" {
		return usagef("%s and %s both want standard input", in.stdinUser, flag)
	}
	in.stdinUser = flag
	return nil
}

// claimInputs finds out who reads standard input before anybody does.
func (c *execCommand) claimInputs(in *inputs) error {
	if err := in.claim("SCRIPT", c.Script); err != nil {
		return err
	}
	if err := in.claim("--rows", string(c.Rows)); err != nil {
		return err
	}
	for _, arg := range c.ArgFile {
		name, file, _ := strings.Cut(arg, "=")
		if err := in.claim("--arg-file "+name, file); err != nil {
			return err
		}
	}
	return nil
}

// source gives the code and what tracebacks call it.
func (c *execCommand) source(in *inputs) (name, code string, err error) {
	switch {
	case c.Code != nil && c.Script != "":
		return "", "", usagef("-c and SCRIPT are both given; one of them is the code")
	case c.Code != nil:
		return "", *c.Code, nil
	case c.Script == "":
		return "", "", usagef("no code: give SCRIPT, - for standard input, or -c CODE")
	case c.Script == "-":
		if term.IsTerminal(int(in.stdin.Fd())) {
			return "", "", usagef("SCRIPT is -, but standard input is a terminal; pipe the code in, or use -c CODE")
		}
		code, err = readSource("standard input", in.stdin)
		return "", code, err
	}
	f, err := os.Open(c.Script)
	if err != nil {
		return "", "", usagef("SCRIPT %s cannot be read: %w", c.Script, plainError(err))
	}
	defer f.Close()
	code, err = readSource(c.Script, f)
	return filepath.Base(c.Script), code, err
}

// readSource reads code up to the limit; the sandbox refuses one byte more.
func readSource(name string, r io.Reader) (string, error) {
	code, err := io.ReadAll(io.LimitReader(r, sandbox.DefaultMaxSource+1))
	if err != nil {
		return "", usagef("SCRIPT %s cannot be read: %w", name, plainError(err))
	}
	if int64(len(code)) > sandbox.DefaultMaxSource {
		return "", usagef("SCRIPT %s is over the limit of %d bytes", name, sandbox.DefaultMaxSource)
	}
	if at := badUTF8(code); at >= 0 {
		before := code[:at]
		line := 1 + bytes.Count(before, []byte("\n"))
		column := 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
		return "", usagef("SCRIPT %s:%d:%d: invalid UTF-8; convert it to UTF-8 first", name, line, column)
	}
	return string(code), nil
}

// badUTF8 is where text stops being UTF-8; -1: nowhere.
func badUTF8(text []byte) int {
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size == 1 {
			return at
		}
		at += size
	}
	return -1
}

// globals reads the arguments.
func (c *execCommand) globals(in *inputs) (map[string]any, error) {
	globals := make(map[string]any)
	bind := func(flag, name string, value any) error {
		if _, ok := globals[name]; ok {
			return usagef("%s binds %s, which is bound already", flag, name)
		}
		globals[name] = value
		return nil
	}
	if c.Rows != "" {
		value, err := c.rows(in)
		if err != nil {
			return nil, err
		}
		if err := bind("--rows", "rows", value); err != nil {
			return nil, err
		}
	} else if c.RowsStrings || c.RowsFormat != "" || c.RowsSheet != "" {
		return nil, usagef("--rows-format, --rows-strings and --rows-sheet mean nothing without --rows")
	}
	for _, arg := range c.Arg {
		name, text, ok := strings.Cut(arg, "=")
		if !ok || name == "" {
			return nil, usagef("--arg wants NAME=JSON, such as --arg 'limit=10'")
		}
		value, err := rows.ReadValue(strings.NewReader(text), rows.Options{Name: "--arg " + name})
		if err != nil {
			return nil, usagef(`%w; a text is written with quotes: --arg '%s="text"'`, err, name)
		}
		if err := bind("--arg", name, value); err != nil {
			return nil, err
		}
	}
	for _, arg := range c.ArgFile {
		name, file, ok := strings.Cut(arg, "=")
		if !ok || name == "" || file == "" {
			return nil, usagef("--arg-file wants NAME=FILE, such as --arg-file 'config=config.json'")
		}
		value, err := in.jsonFile(file, "--arg-file "+name)
		if err != nil {
			return nil, err
		}
		if err := bind("--arg-file", name, value); err != nil {
			return nil, err
		}
	}
	return globals, nil
}

// rows reads the file of --rows.
func (c *execCommand) rows(in *inputs) (any, error) {
	opts := rows.Options{Format: c.RowsFormat, Strings: c.RowsStrings, Sheet: c.RowsSheet}
	var got rows.Rows
	var err error
	if c.Rows == "-" {
		opts.Name = "standard input"
		got, err = rows.Read(in.stdin, opts)
	} else {
		got, err = rows.ReadFile(string(c.Rows), opts)
	}
	if err != nil {
		return nil, usagef("--rows: %w", err)
	}
	if c.RowsSheet != "" && got.Format != rows.Excel {
		return nil, usagef("--rows-sheet is for Excel workbooks, and these rows are %s", got.Format)
	}
	if got.Table != nil {
		return got.Table, nil
	}
	return got.JSON, nil
}

func (in *inputs) jsonFile(path, flag string) (sandbox.RawJSON, error) {
	r, name := in.stdin, "standard input"
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, usagef("%s: %s cannot be read: %w", flag, path, plainError(err))
		}
		defer f.Close()
		r, name = f, path
	}
	value, err := rows.ReadValue(r, rows.Options{Name: name})
	if err != nil {
		return nil, usagef("%s: %w", flag, err)
	}
	return value, nil
}

// plainError leaves out what the message around it says already.
func plainError(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return fmt.Errorf("read: %w", err)
}
