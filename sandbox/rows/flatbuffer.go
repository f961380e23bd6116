package rows

import "math"

// flatbuffer is the text of one FlatBuffers message. Everything that is read of it
// is checked against the text first. What is not there is bad from then on, and
// reads as zero: callers ask once they are through, and bound their loops by vec.
type flatbuffer struct {
	text string
	bad  bool
}

// flatTable is a table of a message. The zero value is one that is not there.
type flatTable struct {
	f         *flatbuffer
	at        int // of the table
	entries   int // of its vtable
	entrySize int // bytes of the vtable
	size      int // bytes of the table
}

// span gives n bytes of the text.
func (f *flatbuffer) span(at, n int) string {
	if f.bad || at < 0 || n < 0 || at > len(f.text) || n > len(f.text)-at {
		f.bad = true
		return ""
	}
	return f.text[at : at+n]
}

func (f *flatbuffer) number(at, size int) uint64 {
	s := f.span(at, size)
	if s == "" {
		return 0
	}
	return littleEndian(s)
}

// littleEndian is the number in up to eight bytes.
func littleEndian(s string) uint64 {
	n := uint64(0)
	for i := range len(s) {
		n |= uint64(s[i]) << (8 * i)
	}
	return n
}

// root is the message's outermost table.
func (f *flatbuffer) root() flatTable { return f.table(int(f.number(0, 4))) }

func (f *flatbuffer) table(at int) flatTable {
	t := flatTable{f: f, at: at}
	t.entries = at - int(int32(f.number(at, 4)))
	t.entrySize = int(f.number(t.entries, 2))
	t.size = int(f.number(t.entries+2, 2))
	if f.bad || t.entrySize < 4 || t.entrySize%2 != 0 || t.size < 4 {
		f.bad = true
		return flatTable{f: f}
	}
	f.span(t.entries, t.entrySize)
	f.span(at, t.size)
	return t
}

// field is the place of a field of some bytes; 0: it is not there.
func (t flatTable) field(i, size int) int {
	slot := 4 + 2*i
	if t.f == nil || t.f.bad || slot+2 > t.entrySize {
		return 0
	}
	offset := int(t.f.number(t.entries+slot, 2))
	if offset == 0 {
		return 0
	}
	if offset < 4 || offset+size > t.size {
		t.f.bad = true
		return 0
	}
	return t.at + offset
}

func (t flatTable) number(i, size int, otherwise uint64) uint64 {
	if at := t.field(i, size); at != 0 {
		return t.f.number(at, size)
	}
	return otherwise
}

func (t flatTable) bool(i int) bool            { return t.number(i, 1, 0) != 0 }
func (t flatTable) byte(i int) int             { return int(t.number(i, 1, 0)) }
func (t flatTable) int16(i, otherwise int) int { return int(int16(t.number(i, 2, uint64(otherwise)))) }
func (t flatTable) int32(i, otherwise int) int { return int(int32(t.number(i, 4, uint64(otherwise)))) }
func (t flatTable) int64(i int) int64          { return int64(t.number(i, 8, 0)) }

// has reports whether a field that refers to something is there.
func (t flatTable) has(i int) bool { return t.field(i, 4) != 0 }

// table is a table that a field refers to.
func (t flatTable) table(i int) flatTable {
	at := t.field(i, 4)
	if at == 0 {
		return flatTable{}
	}
	return t.f.table(at + int(t.f.number(at, 4)))
}

// flatVector is a list of things of one size. All of it is in the text.
type flatVector struct {
	f         *flatbuffer
	at, n     int
	elemBytes int
}

func (t flatTable) vector(i, elemBytes int) flatVector {
	at := t.field(i, 4)
	if at == 0 {
		return flatVector{}
	}
	at += int(t.f.number(at, 4))
	n := int(t.f.number(at, 4))
	if n > math.MaxInt32 {
		t.f.bad = true
		return flatVector{}
	}
	t.f.span(at+4, n*elemBytes)
	if t.f.bad {
		return flatVector{}
	}
	return flatVector{t.f, at + 4, n, elemBytes}
}

// string is a text that a field refers to.
func (t flatTable) string(i int) string {
	v := t.vector(i, 1)
	if v.n == 0 {
		return ""
	}
	return v.f.span(v.at, v.n)
}

// table is the table that an element refers to.
func (v flatVector) table(i int) flatTable {
	at := v.at + i*v.elemBytes
	return v.f.table(at + int(v.f.number(at, 4)))
}

// int64 is a number at an offset within an element.
func (v flatVector) int64(i, offset int) int64 {
	return int64(v.f.number(v.at+i*v.elemBytes+offset, 8))
}

func (v flatVector) int32(i, offset int) int {
	return int(int32(v.f.number(v.at+i*v.elemBytes+offset, 4)))
}
