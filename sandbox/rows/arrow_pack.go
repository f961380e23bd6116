package rows

import (
	"errors"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// arrowPacked says how the buffers of a batch are packed.
type arrowPacked int

const (
	arrowPlain arrowPacked = iota
	arrowLZ4
	arrowZstd
)

// How many bytes one byte of packed data can unpack to at most. A block of zstd
// takes four bytes and has up to 128 KiB; lz4 repeats up to 255 bytes for each.
const (
	mostOfLZ4  = 256
	mostOfZstd = 32 << 10
)

// unpack takes a buffer of a batch apart: eight bytes that say how long it is when
// it is unpacked, or that it is not packed.
func (a *arrowReader) unpack(s string, how arrowPacked) (string, error) {
	if how == arrowPlain {
		return s, nil
	}
	if len(s) < 8 {
		return "", errors.New("a packed buffer has no length")
	}
	size, s := int64(littleEndian(s[:8])), s[8:]
	if size == -1 {
		return s, nil
	}
	most := int64(mostOfLZ4)
	if how == arrowZstd {
		most = mostOfZstd
	}
	if size < 0 || size > most*int64(len(s)) {
		return "", errors.New("a packed buffer claims more than there can be in it")
	}
	if size > a.left {
		return "", tooLarge(a.b.opts, "unpacks to too many bytes")
	}
	a.left -= size
	r, err := a.unpacker(s, how, size)
	if err != nil {
		return "", err
	}
	unpacked, err := readText(io.LimitReader(r, size+1), min(size, 256<<10)) // what it claims is not there yet
	if err != nil {
		return "", err
	}
	if int64(len(unpacked)) != size {
		return "", errors.New("a packed buffer has another length than it says")
	}
	return unpacked, nil
}

// leastWindow is what every reader of zstd has to give a frame, whatever it holds.
const leastWindow = 8 << 20

func (a *arrowReader) unpacker(s string, how arrowPacked, size int64) (io.Reader, error) {
	if how == arrowLZ4 {
		return lz4.NewReader(strings.NewReader(s)), nil
	}
	if size > a.window || a.zstd == nil {
		a.close()
		a.window = max(size, leastWindow)
		var err error
		a.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(uint64(a.window)), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, err
		}
	}
	return a.zstd, a.zstd.Reset(strings.NewReader(s))
}
