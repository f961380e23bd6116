package memfs

import (
	"cmp"
	"io/fs"
	"slices"

	experimental "github.com/tetratelabs/wazero/experimental/sys"
	"github.com/tetratelabs/wazero/sys"
)

// Inode numbers of what every file system has. Further ones count up and are
// never used twice.
const (
	inoRoot = iota + 1
	inoTmp
	inoDev
	inoNull
	inoFirst
)

// node is a file, a directory or a symbolic link.
type node struct {
	ino    uint64
	mode   fs.FileMode
	linked bool // has a name
	open   int  // handles
	fixed  bool // cannot be changed

	atim, mtim, ctim int64 // nanoseconds since 1970

	data   content          // of a regular file
	target string           // of a symbolic link
	names  map[string]*name // of a directory; nil until it has one
	order  []*name          // the same by age
	parent *node            // of a directory
	depth  int              // of a directory: how far from the root
}

// name is an entry of a directory.
type name struct {
	text string
	age  uint64 // grows with each entry that its directory gets
	node *node
}

// The fixed part of every file system. It never changes, so all share it.
// /tmp is the exception: it is a field of FS and found by lookup.
var (
	rootNode = &node{ino: inoRoot, mode: fs.ModeDir | 0o555, linked: true, fixed: true}
	devNode  = &node{ino: inoDev, mode: fs.ModeDir | 0o555, linked: true, fixed: true, parent: rootNode, depth: 1}
	nullNode = &node{ino: inoNull, mode: fs.ModeDevice | fs.ModeCharDevice | 0o666, linked: true, fixed: true}
)

// The names that the root and /dev have. Ages start at 1, and grow.
var (
	nameDev  = &name{text: "dev", age: 1, node: devNode}
	nameNull = &name{text: "null", age: 1, node: nullNode}
)

func (n *node) isDir() bool     { return n.mode&fs.ModeDir != 0 }
func (n *node) isLink() bool    { return n.mode&fs.ModeSymlink != 0 }
func (n *node) isRegular() bool { return n.mode.IsRegular() }

// root gives the root, and makes /tmp real when it is first asked for, so that
// making an FS costs nothing.
func (f *FS) root() *node {
	if f.tmp.ino == 0 {
		f.inodes = inoFirst
		f.tmp = node{ino: inoTmp, mode: fs.ModeDir | 0o700, linked: true, parent: rootNode, depth: 1}
	}
	return rootNode
}

// lookup finds a name in a directory, nil if there is none.
func (f *FS) lookup(dir *node, text string) *node {
	switch {
	case dir == rootNode && text == "tmp":
		return &f.tmp
	case dir == rootNode && text == "dev":
		return devNode
	case dir == rootNode && text == treeName && f.config.Tree != nil:
		return f.config.Tree.root
	case dir == devNode && text == "null":
		return nullNode
	}
	if e := dir.names[text]; e != nil {
		return e.node
	}
	return nil
}

// list gives the entries of a directory that are younger than age, by age.
func (f *FS) list(dir *node, age uint64) []*name {
	order := dir.order
	switch dir {
	case rootNode:
		order = []*name{nameDev, {text: "tmp", age: 2, node: &f.tmp}}
		if f.config.Tree != nil {
			order = append(order, &name{text: treeName, age: 3, node: f.config.Tree.root})
		}
	case devNode:
		order = []*name{nameNull}
	}
	i, _ := slices.BinarySearchFunc(order, age+1, byAge)
	return order[i:]
}

func byAge(e *name, age uint64) int { return cmp.Compare(e.age, age) }

// create adds a new node to a directory that may be changed.
func (f *FS) create(dir *node, text string, mode fs.FileMode) (*node, experimental.Errno) {
	if f.files >= f.config.MaxFiles+f.provided {
		return nil, f.fail(ENOSPC)
	}
	if mode.IsDir() && dir.depth >= MaxDepth {
		return nil, experimental.ENAMETOOLONG
	}
	now := f.now()
	n := &node{ino: f.inodes, mode: mode, linked: true, atim: now, mtim: now, ctim: now}
	if n.isDir() {
		n.parent, n.depth = dir, dir.depth+1
	}
	f.inodes++
	f.files++
	dir.add(text, n)
	dir.touch(now)
	return n, 0
}

func (n *node) add(text string, child *node) {
	if n.names == nil {
		n.names = make(map[string]*name)
	}
	age := uint64(1)
	if last := len(n.order); last > 0 {
		age = n.order[last-1].age + 1
	}
	e := &name{text: text, age: age, node: child}
	n.names[text] = e
	n.order = append(n.order, e)
}

// remove takes a name out of its directory. The node lives on while it is open.
func (n *node) remove(text string) {
	e := n.names[text]
	delete(n.names, text)
	i, _ := slices.BinarySearchFunc(n.order, e.age, byAge)
	n.order = slices.Delete(n.order, i, i+1)
}

// drop takes a node's only name away from it and frees it if it is not open.
func (f *FS) drop(dir *node, text string, n *node, now int64) {
	dir.remove(text)
	dir.touch(now)
	n.linked = false
	n.ctim = now
	f.release(n)
}

// release frees a node that has neither a name nor a handle.
func (f *FS) release(n *node) {
	if n.linked || n.open > 0 || n.fixed {
		return
	}
	f.files--
	f.bytes -= n.size()
	n.data, n.target = content{}, ""
}

// touch notes that a node's content has changed.
func (n *node) touch(now int64) { n.mtim, n.ctim = now, now }

func (n *node) size() int64 { return n.data.size + int64(len(n.target)) }

// device is what all nodes give as the number of their device.
const device = 1

func (n *node) stat() sys.Stat_t {
	st := sys.Stat_t{Dev: device, Ino: n.ino, Mode: n.mode, Size: n.size(), Atim: n.atim, Mtim: n.mtim, Ctim: n.ctim}
	if n.linked {
		st.Nlink = 1
	}
	return st
}

// setTimes answers every form of utimens.
func (f *FS) setTimes(n *node, atim, mtim int64) experimental.Errno {
	if n.fixed {
		return experimental.EROFS
	}
	if atim != experimental.UTIME_OMIT {
		n.atim = atim
	}
	if mtim != experimental.UTIME_OMIT {
		n.mtim = mtim
	}
	n.ctim = f.now()
	return 0
}
