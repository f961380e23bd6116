package rows

import "errors"

// thriftWalk goes through metadata in Thrift's compact protocol before the library
// does: that makes room for as many elements as a list claims to have, while here
// every element must be in the text. It keeps nothing but the numbers that it is
// asked for.
type thriftWalk struct {
	text string
	at   int
	// structs is how many structs there may be.
	structs int
	// number is told each number of 32 bits with the path of fields to it; elements
	// of lists have no step of their own.
	number func(path []int16, n int64)
	path   []int16
}

var (
	errThrift     = errors.New("the metadata is damaged")
	errThriftMuch = errors.New("the metadata has too many parts")
)

// maxThriftDepth is deeper than the format's own structs go.
const maxThriftDepth = 32

// The types of the compact protocol.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftInt16  = 4
	thriftInt32  = 5
	thriftInt64  = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
	thriftUUID   = 13
)

func (w *thriftWalk) byte() (byte, error) {
	if w.at >= len(w.text) {
		return 0, errThrift
	}
	w.at++
	return w.text[w.at-1], nil
}

func (w *thriftWalk) skip(n uint64) error {
	if n > uint64(len(w.text)-w.at) {
		return errThrift
	}
	w.at += int(n)
	return nil
}

// varint is a number in groups of seven bits. Ten groups are the most.
func (w *thriftWalk) varint() (uint64, error) {
	n := uint64(0)
	for shift := 0; shift < 70; shift += 7 {
		c, err := w.byte()
		if err != nil {
			return 0, err
		}
		n |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return n, nil
		}
	}
	return 0, errThrift
}

func zigzag(n uint64) int64 { return int64(n>>1) ^ -int64(n&1) }

// message reads the struct that the text begins with.
func (w *thriftWalk) message() error { return w.structure(0) }

func (w *thriftWalk) structure(depth int) error {
	if depth > maxThriftDepth {
		return errThrift
	}
	if w.structs--; w.structs < 0 {
		return errThriftMuch
	}
	last := int16(0)
	for {
		head, err := w.byte()
		if err != nil {
			return err
		}
		if head&0x0f == 0 {
			return nil
		}
		if delta := head >> 4; delta != 0 {
			last += int16(delta)
		} else {
			n, err := w.varint()
			if err != nil {
				return err
			}
			last = int16(zigzag(n))
		}
		w.path = append(w.path, last)
		if kind := head & 0x0f; kind != thriftTrue && kind != thriftFalse { // which have no more
			if err := w.value(kind, depth); err != nil {
				return err
			}
		}
		w.path = w.path[:len(w.path)-1]
	}
}

func (w *thriftWalk) value(kind byte, depth int) error {
	switch kind {
	case thriftTrue, thriftFalse, thriftByte:
		return w.skip(1)
	case thriftInt16, thriftInt32, thriftInt64:
		n, err := w.varint()
		if err == nil && kind == thriftInt32 {
			w.number(w.path, zigzag(n))
		}
		return err
	case thriftDouble:
		return w.skip(8)
	case thriftUUID:
		return w.skip(16)
	case thriftBinary:
		n, err := w.varint()
		if err != nil {
			return err
		}
		return w.skip(n)
	case thriftList, thriftSet:
		return w.list(depth + 1)
	case thriftMap:
		return w.dict(depth + 1)
	case thriftStruct:
		return w.structure(depth + 1)
	}
	return errThrift
}

// list reads elements, each of which has a byte at least. So there are not more of
// them than bytes, whatever their number says.
func (w *thriftWalk) list(depth int) error {
	if depth > maxThriftDepth {
		return errThrift
	}
	head, err := w.byte()
	if err != nil {
		return err
	}
	n := uint64(head >> 4)
	if n == 15 {
		if n, err = w.varint(); err != nil {
			return err
		}
	}
	if n > uint64(len(w.text)-w.at) {
		return errThrift
	}
	for range n {
		if err := w.value(head&0x0f, depth); err != nil {
			return err
		}
	}
	return nil
}

func (w *thriftWalk) dict(depth int) error {
	if depth > maxThriftDepth {
		return errThrift
	}
	n, err := w.varint()
	if err != nil || n == 0 {
		return err
	}
	kinds, err := w.byte()
	if err != nil {
		return err
	}
	if n > uint64(len(w.text)-w.at)/2 {
		return errThrift
	}
	for range n {
		if err := w.value(kinds>>4, depth); err != nil {
			return err
		}
		if err := w.value(kinds&0x0f, depth); err != nil {
			return err
		}
	}
	return nil
}
