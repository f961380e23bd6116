package rewrite

// effect is what an instruction takes from the operand stack and puts on it.
type effect struct{ pops, pushes int8 }

// effects covers the instructions that have the same effect wherever they
// stand; the rest is left out, as are vectors.
var (
	plainEffects = effectTable([]effectRange{
		{0x01, 0x01, 0, 0}, // nop
		{0x1a, 0x1a, 1, 0}, // drop
		{0x1b, 0x1c, 3, 1}, // select
		{0x20, 0x20, 0, 1}, // local.get
		{0x21, 0x21, 1, 0},
		{0x22, 0x22, 1, 1},
		{0x23, 0x23, 0, 1}, // global.get
		{0x24, 0x24, 1, 0},
		{0x25, 0x25, 1, 1},                     // table.get
		{0x28, 0x35, 1, 1},                     // loads
		{0x36, 0x3e, 2, 0},                     // stores
		{0x3f, 0x3f, 0, 1},                     // memory.size
		{0x40, 0x40, 1, 1},                     // memory.grow
		{0x41, 0x44, 0, 1},                     // constants
		{0x45, 0x45, 1, 1}, {0x46, 0x4f, 2, 1}, // comparisons
		{0x50, 0x50, 1, 1}, {0x51, 0x5a, 2, 1},
		{0x5b, 0x66, 2, 1},
		{0x67, 0x69, 1, 1}, {0x6a, 0x78, 2, 1}, // i32
		{0x79, 0x7b, 1, 1}, {0x7c, 0x8a, 2, 1}, // i64
		{0x8b, 0x91, 1, 1}, {0x92, 0x98, 2, 1}, // f32
		{0x99, 0x9f, 1, 1}, {0xa0, 0xa6, 2, 1}, // f64
		{0xa7, 0xc4, 1, 1}, // conversions
		{0xd0, 0xd0, 0, 1}, // ref.null
		{0xd1, 0xd1, 1, 1},
		{0xd2, 0xd2, 0, 1}, // ref.func
	})
	miscEffects = effectTable([]effectRange{
		{0x00, 0x07, 1, 1}, // saturating conversions
		{0x0a, 0x0b, 3, 0}, // memory.copy, memory.fill
		{0x10, 0x10, 0, 1}, // table.size
	})
)

type effectRange struct {
	first, last  int
	pops, pushes int8
}

// noEffect marks what the tables leave out.
var noEffect = effect{-1, -1}

func effectTable(ranges []effectRange) *[256]effect {
	var table [256]effect
	for i := range table {
		table[i] = noEffect
	}
	for _, r := range ranges {
		for i := r.first; i <= r.last; i++ {
			table[i] = effect{r.pops, r.pushes}
		}
	}
	return &table
}

func effectOf(op opcode) effect {
	switch op >> 8 {
	case 0:
		return plainEffects[op]
	case 0xfc:
		return miscEffects[op&0xff]
	}
	return noEffect
}

// accessSize is how many bytes a load or store of plain numbers touches; 0 for
// other instructions.
func accessSize(op opcode) uint32 {
	const sizes = "\x04\x08\x04\x08\x01\x01\x02\x02\x01\x01\x02\x02\x04\x04" + // loads
		"\x04\x08\x04\x08\x01\x02\x01\x02\x04" // stores
	if op < 0x28 || op > 0x3e {
		return 0
	}
	return uint32(sizes[op-0x28])
}

// isStore reports whether op is a store, and of what type.
func isStore(op opcode) (ValueType, bool) {
	switch op {
	case 0x36, 0x3a, 0x3b:
		return I32, true
	case 0x37, 0x3c, 0x3d, 0x3e:
		return I64, true
	case 0x38:
		return F32, true
	case 0x39:
		return F64, true
	}
	return 0, false
}
