package process

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

	"github.com/go-json-experiment/json/jsontext"
)

// specError says which part of a Spec cannot be run, and why, without a value.
type specError struct {
	path   string // JSON pointer into the Spec, in its Go names in lower case
	reason string
}

func (e *specError) Error() string { return e.path + ": " + e.reason }

// maxArguments bounds arguments and environment together, well below what the
// kernel takes for one program.
const maxArguments = 512 << 10

// maxSecrets bounds the secrets of one call.
const maxSecrets = 256 << 10

// check refuses what cannot be run as it is. It looks at the file system, but
// what it finds is not relied on: the keeper opens every path again.
func (s *Spec) check(root bool) error {
	if err := s.checkWords(); err != nil {
		return err
	}
	if err := s.checkPaths(); err != nil {
		return err
	}
	if len(s.Input) > 0 && s.Talk != nil {
		return &specError{"/input", "is what a program is given that is not spoken with"}
	}
	if len(s.Input) > 0 {
		if err := checkJSON(s.Input); err != nil {
			return &specError{"/input", "is not one JSON value: " + err.Error()}
		}
	}
	if s.Output > OutputStdout {
		return &specError{"/output", "is not a known place"}
	}
	if s.Network > NetworkProxy {
		return &specError{"/network", "is not a known network"}
	}
	if (s.Network == NetworkProxy) != (s.Proxy != nil) {
		return &specError{"/proxy", "is required with NetworkProxy, and means nothing without"}
	}
	if s.Namespaces > NamespacesOff {
		return &specError{"/namespaces", "is not a known choice"}
	}
	if s.User != nil && !root {
		return &specError{"/user", "only root can choose the user; leave it out to run as the host's own"}
	}
	if s.User != nil && (s.User.UID <= 0 || s.User.GID <= 0) {
		return &specError{"/user", "must not be root: both numbers must be greater than zero"}
	}
	return s.Limits.check()
}

func (s *Spec) checkWords() error {
	size := len(s.Command)
	for i, arg := range s.Args {
		if strings.ContainsRune(arg, 0) {
			return &specError{fmt.Sprintf("/args/%d", i), "holds a zero byte, which ends an argument"}
		}
		if !utf8.ValidString(arg) {
			return &specError{fmt.Sprintf("/args/%d", i), "is not UTF-8"}
		}
		size += len(arg) + 1
	}
	for name, value := range s.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) {
			return &specError{"/env", "a name must not be empty or hold '=', and neither name nor value a zero byte"}
		}
		if !utf8.ValidString(name) || !utf8.ValidString(value) {
			return &specError{"/env", "a name or a value is not UTF-8"}
		}
		size += len(name) + len(value) + 2
	}
	secrets := 0
	for name, value := range s.Secrets {
		if name == "" || strings.ContainsAny(name, "=\x00") || !utf8.ValidString(name) || !utf8.Valid(value) || bytes.IndexByte(value, 0) >= 0 {
			return &specError{"/secrets", "a name must not be empty or hold '=', and name and value must be UTF-8 without a zero byte"}
		}
		secrets += len(name) + len(value)
	}
	if secrets > maxSecrets {
		return &specError{"/secrets", fmt.Sprintf("names and values have %d bytes together, more than %d", secrets, maxSecrets)}
	}
	if size > maxArguments {
		return &specError{"/args", fmt.Sprintf("arguments and environment have %d bytes together, more than %d; hand large data over as input", size, maxArguments)}
	}
	return nil
}

func (s *Spec) checkPaths() error {
	info, err := checkPath("/command", s.Command)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 {
		return &specError{"/command", "is not an executable file"}
	}
	if s.Dir != "" {
		if info, err := checkPath("/dir", s.Dir); err != nil {
			return err
		} else if !info.IsDir() {
			return &specError{"/dir", "is not a directory"}
		}
	}
	for _, list := range []struct {
		name  string
		paths []string
		kind  fs.FileMode // the only type that fits, beside files and directories
	}{
		{"read", s.Read, 0}, {"write", s.Write, 0}, {"exec", s.Exec, 0}, {"unixsockets", s.UnixSockets, fs.ModeSocket},
	} {
		for i, path := range list.paths {
			at := fmt.Sprintf("/%s/%d", list.name, i)
			info, err := checkPath(at, path)
			if err != nil {
				return err
			}
			if list.kind != 0 && info.Mode().Type() != list.kind {
				return &specError{at, "is not a socket"}
			}
			if list.kind == 0 && !info.IsDir() && !info.Mode().IsRegular() {
				return &specError{at, "is neither a file nor a directory"}
			}
			if reason := reservedPath(path); reason != "" {
				return &specError{at, reason}
			}
		}
	}
	return nil
}

// reservedPath says why a path cannot be granted; empty: it can.
func reservedPath(path string) string {
	if path == "/" {
		return "the whole file system cannot be granted; name the directories that are needed"
	}
	for _, own := range []string{"/proc", "/dev", "/sys"} {
		if path == own || strings.HasPrefix(path, own+"/") {
			return "the kernel's own file systems cannot be granted; the program has a small /dev of its own, and a /proc where there are namespaces"
		}
	}
	return ""
}

func checkPath(at, path string) (fs.FileInfo, error) {
	switch {
	case path == "":
		return nil, &specError{at, "is required"}
	case !filepath.IsAbs(path):
		return nil, &specError{at, "must be an absolute path"}
	case filepath.Clean(path) != path:
		return nil, &specError{at, "must be in its shortest form, without '.', '..' and a slash at the end"}
	case strings.ContainsRune(path, 0):
		return nil, &specError{at, "holds a zero byte"}
	case !utf8.ValidString(path):
		return nil, &specError{at, "is not UTF-8"}
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, &specError{at, "cannot be granted: " + bare(err)}
	}
	return info, nil
}

// bare is an error of the file system without the path in it.
func bare(err error) string {
	if p, ok := err.(*fs.PathError); ok {
		return p.Err.Error()
	}
	return err.Error()
}

func (l Limits) check() error {
	for _, limit := range []struct {
		name       string
		value, min int64
	}{
		{"timeout", int64(l.Timeout), 0},
		{"maxmemory", l.MaxMemory, minMemory},
		{"maxtreememory", l.MaxTreeMemory, minMemory},
		{"maxcpu", int64(l.MaxCPU), 0},
		{"maxoutput", l.MaxOutput, 0},
		{"maxvalue", l.MaxValue, 0},
		{"maxprocesses", int64(l.MaxProcesses), minProcesses},
		{"maxfilebytes", l.MaxFileBytes, 0},
		{"maxwritebytes", l.MaxWriteBytes, minWrite},
		{"maxdescriptors", int64(l.MaxDescriptors), minDescriptors},
		{"maxtempbytes", l.MaxTempBytes, 0},
	} {
		if limit.value < 0 || limit.value != 0 && limit.value < limit.min {
			return &specError{"/limits/" + limit.name, fmt.Sprintf("must be at least %d, or left out", max(limit.min, 1))}
		}
	}
	return nil
}

// Below these nothing starts: the loader itself needs them.
const (
	minMemory      = 1 << 20
	minProcesses   = 16
	minDescriptors = 8
	minWrite       = 64 << 10
)

// checkJSON accepts exactly one JSON value: no name twice, no invalid UTF-8.
func checkJSON(text []byte) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(text))
	if err := d.SkipValue(); err != nil {
		return errors.New(plain(err))
	}
	switch _, err := d.ReadToken(); {
	case err == nil:
		return errors.New("more text after the value")
	case !errors.Is(err, io.EOF):
		return errors.New(plain(err))
	}
	return nil
}

// plain says what is wrong and where, but not what was there: that may be a
// secret.
func plain(err error) string {
	var e *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "the text ends too early"
	case errors.Is(err, jsontext.ErrDuplicateName):
		return "a name stands twice in an object"
	case errors.As(err, &e):
		return fmt.Sprintf("the syntax is wrong at byte %d", e.ByteOffset)
	}
	return "it cannot be read"
}
