package rewrite

// memory.copy and memory.fill do not return to anybody before they are done,
// and a large one that meets untouched pages takes longer than Go's collector
// may wait. So metering replaces them by calls of two helper functions. These
// count fuel for the bytes, and do in chunks, with a look at the fuel before
// each, what is longer than one chunk.
const (
	// bulkChunk is 64 pages of 4 KiB: about 0.1 ms if each has to be made.
	bulkChunk = 256 << 10
	// bulkUnit says that one unit of fuel pays for 1<<bulkUnit bytes: between
	// the speed of cached memory and that of new pages.
	bulkUnit = 5
	// bulkInline is the largest constant length that stays as it is, free of
	// charge: a structure's assignment.
	bulkInline = 256
)

// The parameters of both helpers, and their two locals.
const (
	bulkTo    = 0
	bulkFrom  = 1 // or the value to fill with
	bulkLeft  = 2
	bulkPart  = 3
	bulkLimit = 4
)

// replacesBulk reports whether instrs[i], a memory.copy or memory.fill, needs
// the helper.
func replacesBulk(instrs []instr, i int) bool {
	if i > 0 {
		if length := &instrs[i-1]; length.op == opI32Const && length.a <= bulkInline {
			return false
		}
	}
	return true
}

// bulkHelper returns the function index of the helper that stands for op.
func (e *emitter) bulkHelper(op opcode) uint32 {
	if op == opMemoryCopy {
		if e.copyHelper == 0 {
			e.copyHelper = e.addHelper(e.bulkFunction(e.copyBody()))
		}
		return e.copyHelper
	}
	if e.fillHelper == 0 {
		e.fillHelper = e.addHelper(e.bulkFunction(e.fillBody()))
	}
	return e.fillHelper
}

func (e *emitter) bulkFunction(body code) helper {
	locals := []byte{1, 2, byte(I32)}
	return helper{typ: e.bulkType, body: append(locals, body...)}
}

func (e *emitter) copyBody() code {
	var c code
	e.bulkStart(&c, code.copyDirect)
	c.trapUnlessInside(bulkTo)
	c.trapUnlessInside(bulkFrom)
	// Behind the source and overlapping it: from the end to the start.
	c.get(bulkTo)
	c.get(bulkFrom)
	c.op(opI32Sub)
	c.get(bulkLeft)
	c.op(opI32LtU)
	c.block(opIf)
	c.block(opLoop)
	e.bulkNext(&c)
	c.takePart()
	for _, start := range []uint32{bulkTo, bulkFrom} {
		c.get(start)
		c.get(bulkLeft)
		c.op(opI32Add)
	}
	c.get(bulkPart)
	c.copyMemory()
	c.get(bulkLeft)
	c.index(opBrIf, 0)
	c.op(opEnd, opReturn, opEnd)
	c.block(opLoop)
	e.bulkNext(&c)
	c.takePart()
	c.get(bulkTo)
	c.get(bulkFrom)
	c.get(bulkPart)
	c.copyMemory()
	c.advance(bulkTo)
	c.advance(bulkFrom)
	c.get(bulkLeft)
	c.index(opBrIf, 0)
	c.op(opEnd, opEnd)
	return c
}

func (e *emitter) fillBody() code {
	var c code
	e.bulkStart(&c, code.fillDirect)
	c.trapUnlessInside(bulkTo)
	c.block(opLoop)
	e.bulkNext(&c)
	c.takePart()
	c.get(bulkTo)
	c.get(bulkFrom)
	c.get(bulkPart)
	c.fillMemory()
	c.advance(bulkTo)
	c.get(bulkLeft)
	c.index(opBrIf, 0)
	c.op(opEnd, opEnd)
	return c
}

func (c code) copyDirect() code { c.copyMemory(); return c }
func (c code) fillDirect() code { c.fillMemory(); return c }

// bulkStart does what fits one chunk, pays for it, and returns. Nobody looks
// at the fuel then; the next loop or call does.
func (e *emitter) bulkStart(c *code, direct func(code) code) {
	c.get(bulkLeft)
	c.i32(bulkChunk)
	c.op(opI32GtU, opI32Eqz)
	c.block(opIf)
	e.bulkPay(c, bulkLeft)
	c.get(bulkTo)
	c.get(bulkFrom)
	c.get(bulkLeft)
	*c = direct(*c)
	c.op(opReturn, opEnd)
}

func (e *emitter) bulkPay(c *code, length uint32) {
	c.index(opGlobalGet, e.fuel)
	c.get(length)
	c.i32(bulkUnit)
	c.op(opI32ShrU, opI64ExtendI32U, opI64Sub)
	c.index(opGlobalSet, e.fuel)
}

// trapUnlessInside traps, before anything is written, if the last byte of the
// range that begins at the given local is outside the memory.
func (c *code) trapUnlessInside(start uint32) {
	c.get(start)
	c.get(bulkLeft)
	c.op(opI32Add)
	c.i32(1)
	c.op(opI32Sub)
	c.index(opLocalTee, bulkLimit)
	c.get(start)
	c.op(opI32LtU)
	c.block(opIf) // the end is above 4 GiB
	c.i32(-1)
	c.load8(1)
	c.op(opDrop, opEnd)
	c.get(bulkLimit)
	c.load8(0)
	c.op(opDrop)
}

// bulkNext sets the part to the next chunk's length, pays for it, and calls
// refuel if that was too much.
func (e *emitter) bulkNext(c *code) {
	c.get(bulkLeft)
	c.i32(bulkChunk)
	c.get(bulkLeft)
	c.i32(bulkChunk)
	c.op(opI32LtU, opSelect)
	c.set(bulkPart)
	e.bulkPay(c, bulkPart)
	c.index(opGlobalGet, e.fuel)
	c.i64(0)
	c.op(opI64LtS)
	c.block(opIf)
	c.index(opCall, e.refuel)
	c.op(opEnd)
}

// takePart subtracts the part from what is left.
func (c *code) takePart() {
	c.get(bulkLeft)
	c.get(bulkPart)
	c.op(opI32Sub)
	c.set(bulkLeft)
}

func (c *code) advance(local uint32) {
	c.get(local)
	c.get(bulkPart)
	c.op(opI32Add)
	c.set(local)
}
