package manifests

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Limits of what one harness can load.
const (
	// MaxFiles is how many manifest files.
	MaxFiles = 10_000
	// MaxTotalBytes is how large they may be together.
	MaxTotalBytes = 64 << 20
)

// Load reads a harness and the manifests that it names. builtIn are tools that
// the host itself brings; they are part of the set like the others.
//
// Nothing outside the harness's directory is read, not through symbolic links
// either. A returned error is of type [Errors] and holds everything that is
// wrong in all files. Beside it there is a set only if all of that is of the code
// [CodeUnknownTool]: what the harness names may be about to be written.
func Load(harnessFile string, builtIn []*Tool) (*Set, error) {
	dir, err := filepath.Abs(filepath.Dir(harnessFile))
	if err != nil {
		return nil, Errors{{File: harnessFile, Code: CodeUnreadable, Reason: "its directory is not known"}}
	}
	l := &loader{dir: dir, show: filepath.Dir(harnessFile), left: MaxTotalBytes, seen: map[string]bool{}}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, Errors{{File: harnessFile, Code: CodeUnreadable, Reason: "cannot open its directory: " + reason(err)}}
	}
	defer root.Close()
	l.root = root
	return l.load(filepath.Base(harnessFile), builtIn)
}

type loader struct {
	root *os.Root
	dir  string // the root, absolute
	show string // the root, as messages name it
	left int64  // bytes that may still be read
	seen map[string]bool

	docs Documents
	errs Errors
}

func (l *loader) load(harnessFile string, builtIn []*Tool) (*Set, error) {
	l.file(harnessFile)
	if len(l.docs.Harnesses) != 1 {
		if len(l.errs) == 0 {
			l.errs = Errors{{File: l.name(harnessFile), Code: CodeKind, Reason: fmt.Sprintf("must hold exactly one document of kind %s", KindHarness)}}
		}
		return nil, l.errs
	}
	h := l.docs.Harnesses[0]
	h.Origin.Root = l.dir
	l.manifests(h)
	for _, extra := range l.docs.Harnesses[1:] {
		r := &reporter{file: extra.Origin.File}
		r.at(extra.doc, CodeKind, "is a second harness; tools.manifests leads to tools only")
		l.errs = append(l.errs, r.all()...)
	}
	for _, t := range l.docs.Tools {
		t.Origin.Root = l.dir
	}
	s, errs := newSet(h, slices.Concat(builtIn, l.docs.Tools))
	if l.errs = append(l.errs, errs...); len(l.errs) == 0 {
		l.errs = s.checkNames() // a tool whose manifest has errors would be missed
	}
	l.errs.sort()
	if slices.ContainsFunc(l.errs, func(e *Error) bool { return e.Code != CodeUnknownTool }) {
		return nil, l.errs
	}
	s.Warnings = append(s.Warnings, l.docs.Warnings...)
	slices.SortStableFunc(s.Warnings, func(a, b Warning) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if len(l.errs) > 0 {
		return s, l.errs
	}
	return s, nil
}

// manifests reads the files that the patterns name.
func (l *loader) manifests(h *Harness) {
	list := h.doc.get("spec", "tools", "manifests")
	if list == nil {
		return
	}
	r := &reporter{file: h.Origin.File}
	defer func() {
		l.errs = append(l.errs, r.all()...)
		l.docs.Warnings = append(l.docs.Warnings, r.warnings...)
	}()
	for _, n := range list.items {
		if n.kind != textNode || globRule.check(n.text) != "" {
			continue // refused, and reported
		}
		before := len(r.errs)
		files, literal := l.expand(r, n, n.text)
		if len(files) == 0 && len(r.errs) == before {
			if literal {
				r.at(n, CodeUnreadable, "there is no such file")
			} else {
				r.warn(n, "", WarnNoFiles, "matches no file")
			}
		}
		for _, name := range files {
			if len(l.seen) > MaxFiles {
				r.at(n, CodeTooLarge, "leads to more than %d files", MaxFiles)
				return
			}
			l.file(name)
		}
	}
}

// expand gives the files that a pattern names, in order. literal: it names one
// file.
func (l *loader) expand(r *reporter, n *node, pattern string) (files []string, literal bool) {
	pattern = path.Clean(pattern)
	if info, err := l.root.Stat(pattern); err == nil && info.IsDir() {
		pattern = path.Join(pattern, "*.{yaml,yml,json}")
	}
	literal = !strings.ContainsAny(pattern, "*?[{")
	files, err := doublestar.Glob(l.root.FS(), pattern,
		doublestar.WithFilesOnly(), doublestar.WithNoFollow(), doublestar.WithNoHidden(), doublestar.WithFailOnIOErrors())
	if err != nil {
		fixed, _ := doublestar.SplitPattern(pattern)
		if literal {
			fixed = pattern
		}
		if l.outside(fixed) {
			r.at(n, CodeOutside, "leads out of the harness's directory, through a symbolic link")
		} else {
			r.at(n, CodeUnreadable, "cannot be followed: %s", reason(err))
		}
		return nil, literal
	}
	slices.Sort(files)
	return files, literal
}

// file reads one file.
func (l *loader) file(name string) {
	name = path.Clean(name)
	if l.seen[name] {
		return
	}
	l.seen[name] = true
	r := &reporter{file: l.name(name)}
	text, err := l.read(name)
	switch {
	case err != nil && l.outside(name):
		r.add(0, 0, "", CodeOutside, "lies outside of the harness's directory, behind a symbolic link")
	case errors.Is(err, errNotRegular):
		r.add(0, 0, "", CodeUnreadable, "is not a regular file")
	case err != nil:
		r.add(0, 0, "", CodeUnreadable, "cannot be read: %s", reason(err))
	case l.left < 0:
		r.add(0, 0, "", CodeTooLarge, "is one too many: all manifests together are larger than %d bytes", MaxTotalBytes)
	default:
		docs, errs := parse(r.file, text)
		r.errs = errs
		if len(errs) == 0 && len(docs.Tools) == 0 && len(docs.Harnesses) == 0 {
			l.docs.Warnings = append(l.docs.Warnings, Warning{File: r.file, Code: WarnEmpty, Message: "holds no manifest"})
		}
		l.docs.Tools = append(l.docs.Tools, docs.Tools...)
		l.docs.Harnesses = append(l.docs.Harnesses, docs.Harnesses...)
		l.docs.Warnings = append(l.docs.Warnings, docs.Warnings...)
	}
	l.errs = append(l.errs, r.errs...)
}

var errNotRegular = errors.New("not a regular file")

// read reads a file, up to one byte more than is allowed. What is no regular
// file is not opened: opening a pipe would wait for its other end.
func (l *loader) read(name string) ([]byte, error) {
	info, err := l.root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	f, err := l.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, MaxFileBytes+1))
	l.left -= int64(len(text))
	return text, err
}

// outside reports whether a name leads out of the root by symbolic links. Of a
// name that does not exist it looks at the part that does.
func (l *loader) outside(name string) bool {
	root, err := filepath.EvalSymlinks(l.dir)
	if err != nil {
		return false
	}
	for ; name != "."; name = path.Dir(name) {
		if target, err := filepath.EvalSymlinks(filepath.Join(l.dir, filepath.FromSlash(name))); err == nil {
			return !within(filepath.ToSlash(target), filepath.ToSlash(root))
		}
	}
	return false
}

// name is a file as messages name it.
func (l *loader) name(file string) string { return filepath.ToSlash(filepath.Join(l.show, file)) }

// reason gives the system's words without the path, which stands in the
// message already.
func reason(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err.Error()
	}
	return err.Error()
}
