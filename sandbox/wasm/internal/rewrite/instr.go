package rewrite

// instr is one decoded instruction of a function body.
type instr struct {
	op opcode
	// start and end are where its bytes stand in the module.
	start, end uint32
	// a is the first immediate: an index, a label, a constant's bits, a
	// memarg's alignment or, for a block type, the type index, noType or
	// oneResult.
	a uint32
	// b is the second one: a table index or a memarg's offset.
	b uint32
}

// decodeExpr appends the instructions of the expression at r's position to
// into, up to and with its last end, and leaves r behind it.
func decodeExpr(r *reader, into []instr) []instr {
	depth := 1
	for depth > 0 {
		in := decodeInstr(r)
		if r.err != nil {
			return into
		}
		switch in.op {
		case opBlock, opLoop, opIf:
			depth++
		case opEnd:
			depth--
		}
		into = append(into, in)
	}
	return into
}

func decodeInstr(r *reader) instr {
	start := r.pos
	op := opcode(r.byte())
	imm := plainImmediates[op]
	if imm == immPrefix {
		table := miscImmediates
		if op == 0xfd {
			table = vectorImmediates
		}
		imm = immInvalid
		if second := r.u32(); second < 256 {
			imm = table[second]
			op = op<<8 | opcode(second)
		}
	}
	in := instr{op: op, start: uint32(start)}
	switch imm {
	case immNone:
	case immIndex:
		in.a = r.u32()
	case immTwoIndexes:
		in.a = r.u32()
		in.b = r.u32()
	case immMemArg, immMemArgLane:
		at := r.pos
		in.a = r.u32()
		if in.a > 4 {
			r.failAt(at, "alignment or memory index out of range in a memory access")
		}
		in.b = r.u32()
		if imm == immMemArgLane {
			r.byte()
		}
	case immI32:
		in.a = uint32(r.signed(32))
	case immI64:
		r.signed(64)
	case immF32:
		in.a = r.le32()
	case immF64:
		r.le64()
	case immBlockType:
		in.a = decodeBlockType(r)
	case immBrTable:
		n := r.count("labels of a br_table")
		for range n {
			r.u32()
		}
		r.u32()
	case immSelect:
		n := r.count("types of a select")
		for range n {
			checkValueType(r, r.pos, r.byte())
		}
	case immMemory:
		zeroIndex(r)
	case immMemories:
		zeroIndex(r)
		zeroIndex(r)
	case immRefType:
		at := r.pos
		if t := ValueType(r.byte()); t != FuncRef && t != ExternRef {
			r.failAt(at, "unknown reference type %#x", byte(t))
		}
	case immLane:
		r.byte()
	case immSixteen:
		r.bytes(16)
	default:
		r.failAt(start, "unknown or refused instruction %#x", uint16(op))
	}
	in.end = uint32(r.pos)
	return in
}

func zeroIndex(r *reader) {
	at := r.pos
	if r.byte() != 0 {
		r.failAt(at, "memory index is not zero")
	}
}

// What instr.a holds for a block without a type index: no parameters, and no
// result or one.
const (
	noType    = ^uint32(0)
	oneResult = ^uint32(0) - 1
)

func decodeBlockType(r *reader) uint32 {
	at := r.pos
	v := r.signed(33)
	if v >= 0 {
		return uint32(v)
	}
	b := byte(v & 0x7f)
	if v >= -64 && b == 0x40 {
		return noType
	}
	if v < -64 || !isValueType(ValueType(b)) {
		r.failAt(at, "unknown block type")
	}
	return oneResult
}
