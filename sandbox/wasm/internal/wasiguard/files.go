package wasiguard

import (
	"encoding/binary"
	"math"
)

// Bounds of one call.
const (
	// maxPath is how many bytes a path may have. wazero copies a path before
	// it looks at it.
	maxPath = 4096
	// maxVectors is how many pieces of memory one read or write may have.
	// All of them may be the same piece.
	maxVectors = 1024
	// maxTransfer is how many bytes one read or write may have; the count is
	// given back as 32 bits.
	maxTransfer = math.MaxInt32
	// maxListing is how many bytes one fd_readdir may ask for. wazero keeps
	// that many entries for each open directory.
	maxListing = 1 << 20
)

var le = binary.LittleEndian

// paths guards a function with paths whose lengths are at these arguments.
func paths(lengths ...int) guard {
	return func(c call) {
		for _, i := range lengths {
			switch n := c.u32(i); {
			case n == 0:
				c.answer(errNoent)
				return
			case n > maxPath:
				c.answer(errNametoolong)
				return
			}
		}
		forward(c)
	}
}

// setTimes asks the file system not to follow a link at the end of the path.
// wazero would open the path for writing instead, which follows the link, or
// fails.
func setTimes(c call) {
	const followLinks = 1
	w := worldOf(c.ctx)
	if w == nil || c.u32(1)&followLinks != 0 {
		paths(3)(c)
		return
	}
	w.FollowTimes(false)
	defer w.FollowTimes(true)
	c.stack[1] |= followLinks
	paths(3)(c)
}

// filesOnly refuses the three streams.
func filesOnly(c call) {
	if c.isStdio(c.u32(0)) {
		c.answer(errBadf)
		return
	}
	forward(c)
}

// seek says of a stream that it has no position, rather than that there is no
// such function.
func seek(c call) {
	forward(c)
	if c.stack[0] == errNosys {
		c.answer(errSpipe)
	}
}

func allocate(c call) {
	switch offset, length := int64(c.stack[1]), int64(c.stack[2]); {
	case offset < 0 || length <= 0:
		c.answer(errInval)
	case offset > math.MaxInt64-length:
		c.answer(errFbig)
	default:
		forward(c)
	}
}

// renumber takes only an open descriptor as the new number. wazero would make
// room for any number up to 2^31, and lose a file that is moved to itself.
func renumber(c call) {
	from, to := c.u32(0), c.u32(1)
	switch {
	case !c.isOpen(from) || !c.isOpen(to):
		c.answer(errBadf)
	case from == to:
		c.answer(0)
	default:
		forward(c)
	}
}

func readdir(c call) {
	if c.u32(2) > maxListing {
		c.answer(errInval)
		return
	}
	forward(c)
}

// vectors checks the pieces of a read or write: arguments 1 and 2.
func (c call) vectors() (errno uint32) {
	at, count := c.u32(1), c.u32(2)
	if count > maxVectors {
		return errInval
	}
	list, ok := c.mod.Memory().Read(at, count*8)
	if !ok {
		return errFault
	}
	var sum uint64
	for ; len(list) > 0; list = list[8:] {
		ptr, size := le.Uint32(list), le.Uint32(list[4:])
		if !c.inMemory(ptr, uint64(size)) {
			return errFault
		}
		sum += uint64(size)
	}
	if sum > maxTransfer {
		return errInval
	}
	return 0
}

func readVector(c call) {
	if errno := c.vectors(); errno != 0 {
		c.answer(errno)
		return
	}
	forward(c)
}

// writeVector writes one piece at a time. wazero would go on after a piece that
// fitted only in part, and report a failure although an earlier piece was
// written.
func writeVector(c call) { c.writeEach(3, false) }

// pwriteVector is writeVector with an offset.
func pwriteVector(c call) { c.writeEach(4, true) }

func (c call) writeEach(result int, positioned bool) {
	if errno := c.vectors(); errno != 0 {
		c.answer(errno)
		return
	}
	if c.u32(2) <= 1 {
		forward(c)
		return
	}
	fd, list, count, resultPtr := c.stack[0], c.u32(1), c.u32(2), c.u32(result)
	if !c.inMemory(resultPtr, 4) {
		c.answer(errFault)
		return
	}
	mem := c.mod.Memory()
	var written uint64
	for i := range count {
		// The piece is looked up each time: the count that is stored after each
		// piece may lie in the list.
		size, _ := mem.ReadUint32Le(list + i*8 + 4)
		if written+uint64(size) > maxTransfer {
			break
		}
		check(c.ctx)
		args := []uint64{fd, uint64(list + i*8), 1, uint64(resultPtr)}
		if positioned {
			args = []uint64{fd, uint64(list + i*8), 1, c.stack[3] + written, uint64(resultPtr)}
		}
		if errno := c.with(args...); errno != 0 {
			if written == 0 {
				c.answer(errno)
				return
			}
			break
		}
		n, _ := mem.ReadUint32Le(resultPtr)
		written += uint64(n)
		if n < size {
			break
		}
	}
	mem.WriteUint32Le(resultPtr, uint32(written))
	c.answer(0)
}
