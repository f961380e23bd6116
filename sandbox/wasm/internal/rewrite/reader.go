package rewrite

import (
	"encoding/binary"
	"fmt"
)

// Error says which byte of a module is malformed or asks for something that
// the rewriter refuses.
type Error struct {
	// Offset counts bytes from the start of the module.
	Offset int
	// Reason is one phrase.
	Reason string
}

func (e *Error) Error() string { return fmt.Sprintf("wasm module, offset %#x: %s", e.Offset, e.Reason) }

// reader decodes from buf[pos:end]. The first error sticks and moves pos to
// the end, so that loops over counts stop by themselves; what a failed read
// returns is zero.
type reader struct {
	buf      []byte
	pos, end int
	err      *Error
}

func (r *reader) failAt(offset int, format string, args ...any) {
	if r.err == nil {
		r.err = &Error{Offset: offset, Reason: fmt.Sprintf(format, args...)}
	}
	r.pos = r.end
}

func (r *reader) left() int { return r.end - r.pos }

func (r *reader) byte() byte {
	if r.pos >= r.end {
		r.failAt(r.pos, "unexpected end")
		return 0
	}
	b := r.buf[r.pos]
	r.pos++
	return b
}

// bytes returns the next n bytes without copying them.
func (r *reader) bytes(n int) []byte {
	if n < 0 || n > r.left() {
		r.failAt(r.pos, "unexpected end: %d bytes wanted, %d left", n, r.left())
		return nil
	}
	b := r.buf[r.pos : r.pos+n : r.pos+n]
	r.pos += n
	return b
}

func (r *reader) u32() uint32 {
	if r.pos < r.end {
		if b := r.buf[r.pos]; b < 0x80 {
			r.pos++
			return uint32(b)
		}
	}
	return uint32(r.unsigned(32))
}

func (r *reader) unsigned(bits uint) uint64 {
	start := r.pos
	var v uint64
	for shift := uint(0); ; shift += 7 {
		b := r.byte()
		if r.err != nil {
			return 0
		}
		if rest := bits - shift; rest < 7 && b>>rest != 0 {
			r.failAt(start, "integer does not fit %d bits", bits)
			return 0
		}
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
}

func (r *reader) signed(bits uint) int64 {
	start := r.pos
	var v int64
	for shift := uint(0); ; shift += 7 {
		b := r.byte()
		if r.err != nil {
			return 0
		}
		if rest := bits - shift; rest < 7 {
			// The last byte: no continuation, and the unused bits repeat the sign.
			top := int8(b<<1) >> rest
			if b >= 0x80 || (top != 0 && top != -1) {
				r.failAt(start, "integer does not fit %d bits", bits)
				return 0
			}
		}
		v |= int64(b&0x7f) << shift
		if b < 0x80 {
			if s := shift + 7; s < 64 {
				v = v << (64 - s) >> (64 - s)
			}
			return v
		}
	}
}

// count reads how many items follow. Every item takes at least one byte, so a
// count above the bytes left is refused before anything is allocated for it.
func (r *reader) count(what string) int {
	at := r.pos
	n := r.u32()
	if r.err == nil && uint64(n) > uint64(r.left()) {
		r.failAt(at, "%d %s in %d bytes", n, what, r.left())
		return 0
	}
	return int(n)
}

func (r *reader) name() string {
	n := r.count("bytes of a name")
	return string(r.bytes(n))
}

func (r *reader) le32() uint32 {
	if b := r.bytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *reader) le64() uint64 {
	if b := r.bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}
