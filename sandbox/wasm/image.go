package wasm

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
)

// image is what a booted interpreter's memory and globals held. It is what
// every instance starts from.
type image struct {
	imageHeader
	backing // where the bytes are, ready to be mapped
}

// imageHeader is everything in an image but the memory itself.
type imageHeader struct {
	size     uint64 // bytes of memory, a multiple of 64 KiB
	mono     int64  // monotonic nanoseconds that the guest saw last
	scratch  span   // the guest's request buffer
	language string
	version  string
	globals  []globalValue
	hot      []span // ranges that a small call writes to
	read     []span // ranges that a small call touches at all
	digest   string // sha256 of everything that calls can see: all but hot and read
}

// span is a range of the guest's memory.
type span struct{ start, size uint32 }

// globalValue is one mutable global by its export name.
type globalValue struct {
	name  string
	value uint64
}

const (
	imageMagic   = "mayfly image 3\n\x00"
	pageSize     = 64 << 10 // of WebAssembly
	maxImageSize = 2 << 30
	maxString    = 1 << 10
	maxGlobals   = 1 << 10
	maxRanges    = 1 << 16
)

var errImage = errors.New("not a whole image")

// encode gives the header's bytes: what an image file starts with.
func (h *imageHeader) encode() []byte {
	b := []byte(imageMagic)
	le := binary.LittleEndian
	str := func(s string) {
		b = le.AppendUint32(b, uint32(len(s)))
		b = append(b, s...)
	}
	spanOf := func(s span) { b = le.AppendUint32(le.AppendUint32(b, s.start), s.size) }
	b = le.AppendUint64(b, h.size)
	b = le.AppendUint64(b, uint64(h.mono))
	spanOf(h.scratch)
	str(h.digest)
	str(h.language)
	str(h.version)
	b = le.AppendUint32(b, uint32(len(h.globals)))
	for _, g := range h.globals {
		str(g.name)
		b = le.AppendUint64(b, g.value)
	}
	for _, spans := range [][]span{h.hot, h.read} {
		b = le.AppendUint32(b, uint32(len(spans)))
		for _, s := range spans {
			spanOf(s)
		}
	}
	return b
}

// decodeHeader reads a header and returns the rest, which is the memory.
func decodeHeader(b []byte) (h imageHeader, rest []byte, err error) {
	r := headerReader{b: b}
	if string(r.bytes(uint32(len(imageMagic)))) != imageMagic {
		return h, nil, errImage
	}
	h.size = r.u64()
	h.mono = int64(r.u64())
	h.scratch = r.span()
	h.digest = r.str()
	h.language = r.str()
	h.version = r.str()
	for range r.count(maxGlobals) {
		h.globals = append(h.globals, globalValue{r.str(), r.u64()})
	}
	for _, spans := range []*[]span{&h.hot, &h.read} {
		for range r.count(maxRanges) {
			*spans = append(*spans, r.span())
		}
	}
	if r.err != nil {
		return h, nil, r.err
	}
	return h, r.b, h.check()
}

// check refuses a header that would make the engine read or map outside of the
// image.
func (h *imageHeader) check() error {
	if h.size == 0 || h.size%pageSize != 0 || h.size > maxImageSize {
		return fmt.Errorf("%w: memory of %d bytes", errImage, h.size)
	}
	for _, s := range slices.Concat([]span{h.scratch}, h.hot, h.read) {
		if uint64(s.start)+uint64(s.size) > h.size {
			return fmt.Errorf("%w: a range lies outside of the memory", errImage)
		}
	}
	return nil
}

type headerReader struct {
	b   []byte
	err error
}

func (r *headerReader) bytes(n uint32) []byte {
	if r.err != nil || uint64(n) > uint64(len(r.b)) {
		r.err = errImage
		return nil
	}
	p := r.b[:n]
	r.b = r.b[n:]
	return p
}

func (r *headerReader) u32() uint32 {
	if p := r.bytes(4); p != nil {
		return binary.LittleEndian.Uint32(p)
	}
	return 0
}

func (r *headerReader) u64() uint64 {
	if p := r.bytes(8); p != nil {
		return binary.LittleEndian.Uint64(p)
	}
	return 0
}

func (r *headerReader) span() span { return span{r.u32(), r.u32()} }

func (r *headerReader) count(most uint32) uint32 {
	n := r.u32()
	if n > most {
		r.err = errImage
	}
	if r.err != nil {
		return 0
	}
	return n
}

func (r *headerReader) str() string {
	n := r.u32()
	if n > maxString {
		r.err = errImage
		return ""
	}
	return string(r.bytes(n))
}

// writeTo writes the image as a file: header, then memory.
func (img *image) writeTo(w io.Writer) error {
	if _, err := w.Write(img.encode()); err != nil {
		return err
	}
	_, err := w.Write(img.bytes())
	return err
}

// newImage makes an image of a header and the memory it describes.
func newImage(h imageHeader, memory []byte) (*image, error) {
	if err := h.check(); err != nil {
		return nil, err
	}
	if uint64(len(memory)) != h.size {
		return nil, fmt.Errorf("%w: %d of %d bytes of memory", errImage, len(memory), h.size)
	}
	if h.digest == "" {
		h.digest = digestOf(h, memory)
	}
	b, err := newBacking(memory)
	if err != nil {
		return nil, err
	}
	return &image{imageHeader: h, backing: b}, nil
}

// digestOf is the digest of a new image. What only saves time is not in it: it
// depends on what the kernel happened to do.
func digestOf(h imageHeader, memory []byte) string {
	h.hot, h.read = nil, nil
	sum := sha256.New()
	sum.Write(h.encode())
	sum.Write(memory)
	return hex.EncodeToString(sum.Sum(nil))
}
