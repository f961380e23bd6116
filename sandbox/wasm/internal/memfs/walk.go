package memfs

import (
	"io"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"strings"
)

// Content is the bytes of one file, for the host to read.
type Content struct{ data *content }

// Size is the length in bytes. It counts holes, which take no memory here but
// do wherever they are copied to.
func (c Content) Size() int64 { return c.data.size }

// WriteTo implements io.WriterTo.
func (c Content) WriteTo(w io.Writer) (int64, error) {
	buf := make([]byte, min(c.data.size, chunkSize))
	for off := int64(0); off < c.data.size; {
		n := c.data.readAt(buf, off)
		if _, err := w.Write(buf[:n]); err != nil {
			return off, err
		}
		off += int64(n)
	}
	return c.data.size, nil
}

// Bytes copies the content. The caller has looked at Size first.
func (c Content) Bytes() []byte {
	b := make([]byte, c.data.size)
	c.data.readAt(b, 0)
	return b
}

// Files gives the regular files below a directory, such as "/tmp/out", by name:
// for each the path below dir, with slashes, and its content. Symbolic links
// are neither followed nor given, not even in dir itself; a dir that does not
// exist has no files.
//
// The names are the guest's. They are valid as paths below a directory (no
// part of one is empty, "." or "..", and none holds a slash or a NUL), but say
// nothing about where the host may put a file.
//
// The guest must not run meanwhile.
func (f *FS) Files(dir string) iter.Seq2[string, Content] {
	return func(yield func(string, Content) bool) {
		n := f.directory(dir)
		if n != nil {
			walk(n, "", yield)
		}
	}
}

// Entry is what a directory holds under one name.
type Entry struct {
	Name string
	Mode fs.FileMode
	// Content is that of a regular file; nothing for all else.
	Content Content
}

// Entries gives what a directory holds, by name, as it is: links are not
// followed, not even in dir itself, and nothing is left out. fs.ErrNotExist says
// that there is nothing at dir, fs.ErrInvalid that it is no directory.
//
// The guest must not run meanwhile.
func (f *FS) Entries(dir string) ([]Entry, error) {
	n := f.root()
	for part := range strings.FieldsFuncSeq(dir, func(r rune) bool { return r == '/' }) {
		if !n.isDir() {
			return nil, fs.ErrInvalid
		}
		if n = f.lookup(n, part); n == nil {
			return nil, fs.ErrNotExist
		}
	}
	if !n.isDir() {
		return nil, fs.ErrInvalid
	}
	entries := make([]Entry, 0, len(n.names))
	for _, text := range slices.Sorted(maps.Keys(n.names)) {
		child := n.names[text].node
		entries = append(entries, Entry{Name: text, Mode: child.mode, Content: Content{&child.data}})
	}
	return entries, nil
}

// directory finds a directory without following links.
func (f *FS) directory(path string) *node {
	n := f.root()
	for part := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '/' }) {
		if n = f.lookup(n, part); n == nil || !n.isDir() {
			return nil
		}
	}
	return n
}

// walk visits n's files. MaxDepth bounds the recursion.
func walk(n *node, prefix string, yield func(string, Content) bool) bool {
	for _, text := range slices.Sorted(maps.Keys(n.names)) {
		child := n.names[text].node
		switch {
		case child.isDir():
			if !walk(child, prefix+text+"/", yield) {
				return false
			}
		case child.isRegular():
			if !yield(prefix+text, Content{&child.data}) {
				return false
			}
		}
	}
	return true
}
