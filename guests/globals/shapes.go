package globals

import "encoding/binary"

// Most dicts of an argument have the same keys as the one before. A shape is
// such a list of keys; it is written once, behind the values, and a dict names
// its shape's number and then gives only values.

const (
	// Objects with more keys than this are looked up one by one: they are more
	// likely data under names than records.
	maxShapeKeys = 64
	// maxNodes bounds what hostile input can make the table remember.
	maxNodes = 1 << 14
)

// shapeTable numbers the lists of keys that it is shown. They form a tree in
// which each key leads one node further.
type shapeTable struct {
	nodes []node
	lists []shapeList
}

type node struct {
	// lastKey and last are where the previous dict went on from here, which is
	// where the next one will too.
	lastKey string
	last    int32
	// shape is the number of the list that ends here plus one; 0 if none does.
	shape    int32
	parent   int32
	key      string
	children map[string]int32
}

type shapeList struct {
	keys []string
	uses uint64
}

// object is a dict that is being written.
type object struct {
	shapes *shapeTable
	start  int // of its tag in the buffer
	node   int32
	count  int
	loose  []string // all keys so far, once the tree has been left
}

func (e *encoder) beginDict() object {
	o := e.shapes.begin()
	o.start = len(e.buf)
	e.buf = append(e.buf, tagDict, 0, 0, 0, 0)
	return o
}

// endDict fills in the shape's number.
func (e *encoder) endDict(o object) {
	binary.LittleEndian.PutUint32(e.buf[o.start+1:o.start+dictSize], o.finish())
}

func (t *shapeTable) begin() object {
	if len(t.nodes) == 0 {
		t.nodes = append(t.nodes, node{parent: -1})
	}
	return object{shapes: t}
}

// number gives the number of the shape with these keys, for so many dicts.
func (t *shapeTable) number(keys []string, uses int) uint32 {
	o := t.begin()
	for _, key := range keys {
		o.key(key)
	}
	shape := o.finish()
	t.lists[shape].uses += uint64(uses) - 1
	return shape
}

func (o *object) key(name string) {
	o.count++
	if o.loose != nil {
		o.loose = append(o.loose, name)
		return
	}
	if n := &o.shapes.nodes[o.node]; n.last != 0 && n.lastKey == name {
		o.node = n.last
		return
	}
	o.step(name)
}

// keyBytes is key without an allocation when the key is the expected one.
func (o *object) keyBytes(name []byte) {
	if o.loose == nil {
		if n := &o.shapes.nodes[o.node]; n.last != 0 && n.lastKey == string(name) {
			o.count++
			o.node = n.last
			return
		}
	}
	o.key(string(name))
}

func (o *object) step(name string) {
	t := o.shapes
	n := &t.nodes[o.node]
	child, ok := n.children[name]
	if !ok {
		if o.count > maxShapeKeys || len(t.nodes) == maxNodes {
			o.loose = append(t.keysOf(o.node), name)
			return
		}
		child = int32(len(t.nodes))
		t.nodes = append(t.nodes, node{parent: o.node, key: name})
		n = &t.nodes[o.node]
		if n.children == nil {
			n.children = make(map[string]int32, 1)
		}
		n.children[name] = child
	}
	n.lastKey, n.last = name, child
	o.node = child
}

// keysOf gives the keys on the way to a node, never nil.
func (t *shapeTable) keysOf(at int32) []string {
	keys := []string{}
	for ; t.nodes[at].parent >= 0; at = t.nodes[at].parent {
		keys = append(keys, t.nodes[at].key)
	}
	for i, j := 0, len(keys)-1; i < j; i, j = i+1, j-1 {
		keys[i], keys[j] = keys[j], keys[i]
	}
	return keys
}

func (o *object) finish() uint32 {
	t := o.shapes
	if o.loose != nil {
		t.lists = append(t.lists, shapeList{keys: o.loose, uses: 1})
		return uint32(len(t.lists) - 1)
	}
	n := &t.nodes[o.node]
	if n.shape == 0 {
		t.lists = append(t.lists, shapeList{keys: t.keysOf(o.node)})
		n.shape = int32(len(t.lists))
	}
	t.lists[n.shape-1].uses++
	return uint32(n.shape - 1)
}

// append writes all shapes: how many, and for each how many dicts have it, how
// many keys it has, and those.
func (t *shapeTable) append(buf []byte) []byte {
	buf = binary.AppendUvarint(buf, uint64(len(t.lists)))
	for _, list := range t.lists {
		buf = binary.AppendUvarint(buf, list.uses)
		buf = binary.AppendUvarint(buf, uint64(len(list.keys)))
		for _, key := range list.keys {
			buf = binary.AppendUvarint(buf, uint64(len(key)))
			buf = append(buf, key...)
		}
	}
	return buf
}

const (
	slotCount = 1024
	// maxKept is the longest string, in bytes, that is worth a slot.
	maxKept = 48
)

// slotTable is what both sides remember of the strings that were written: the
// last one of each slot. A string's slot depends on nothing but the string, so
// equal globals give equal bytes.
type slotTable [slotCount]string

// find gives the slot of s and whether s is in it; it is from now on.
func (t *slotTable) find(s string) (slot uint16, kept bool) {
	slot = slotOf(s)
	kept = t[slot] == s
	if !kept {
		t[slot] = s
	}
	return slot, kept
}

// findBytes is find without an allocation when s is kept already.
func (t *slotTable) findBytes(s []byte) (slot uint16, kept bool) {
	slot = slotOf(s)
	kept = t[slot] == string(s)
	if !kept {
		t[slot] = string(s)
	}
	return slot, kept
}

// slotOf is FNV-1a: it must not change from run to run, as a seeded hash would.
func slotOf[S string | []byte](s S) uint16 {
	h := uint32(2166136261)
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return uint16((h ^ h>>16) % slotCount)
}
