package rewrite

// opcode is the first byte of an instruction; for the prefixed ones it is
// prefix<<8 | second number, which is at most 255 in all that is accepted.
type opcode uint16

const (
	opUnreachable        opcode = 0x00
	opBlock              opcode = 0x02
	opLoop               opcode = 0x03
	opIf                 opcode = 0x04
	opElse               opcode = 0x05
	opEnd                opcode = 0x0b
	opBr                 opcode = 0x0c
	opBrIf               opcode = 0x0d
	opBrTable            opcode = 0x0e
	opReturn             opcode = 0x0f
	opCall               opcode = 0x10
	opCallIndirect       opcode = 0x11
	opReturnCall         opcode = 0x12
	opReturnCallIndirect opcode = 0x13
	opDrop               opcode = 0x1a
	opSelect             opcode = 0x1b
	opLocalGet           opcode = 0x20
	opLocalSet           opcode = 0x21
	opLocalTee           opcode = 0x22
	opGlobalGet          opcode = 0x23
	opGlobalSet          opcode = 0x24
	opTableGet           opcode = 0x25
	opTableSet           opcode = 0x26
	opI32Load8U          opcode = 0x2d
	opMemorySize         opcode = 0x3f
	opMemoryGrow         opcode = 0x40
	opI32Const           opcode = 0x41
	opI64Const           opcode = 0x42
	opF32Const           opcode = 0x43
	opF64Const           opcode = 0x44
	opI32Eqz             opcode = 0x45
	opI32Eq              opcode = 0x46
	opI32LtU             opcode = 0x49
	opI32GtU             opcode = 0x4b
	opI64LtS             opcode = 0x53
	opI64GeS             opcode = 0x59
	opF32Eq              opcode = 0x5b
	opF64Ge              opcode = 0x66
	opI32Add             opcode = 0x6a
	opI32Sub             opcode = 0x6b
	opI32And             opcode = 0x71
	opI32Or              opcode = 0x72
	opI32ShrU            opcode = 0x76
	opI64Add             opcode = 0x7c
	opI64Sub             opcode = 0x7d
	opI64ExtendI32U      opcode = 0xad
	opRefNull            opcode = 0xd0
	opRefFunc            opcode = 0xd2
	opMemoryInit         opcode = 0xfc08
	opDataDrop           opcode = 0xfc09
	opMemoryCopy         opcode = 0xfc0a
	opMemoryFill         opcode = 0xfc0b
	opTableInit          opcode = 0xfc0c
	opElemDrop           opcode = 0xfc0d
	opTableCopy          opcode = 0xfc0e
	opTableGrow          opcode = 0xfc0f
	opTableSize          opcode = 0xfc10
	opTableFill          opcode = 0xfc11
	opV128Const          opcode = 0xfd0c
)

// immediates says what follows an opcode.
type immediates uint8

const (
	immInvalid immediates = iota
	immNone
	immBlockType
	immIndex      // one u32
	immTwoIndexes // two u32
	immBrTable
	immSelect // vector of value types
	immMemArg
	immMemory // the memory index, which must be zero
	immMemories
	immI32
	immI64
	immF32
	immF64
	immRefType
	immLane
	immMemArgLane
	immSixteen
	immPrefix
)

// The tables are indexed by opcode, or by the second number after prefix 0xfc
// (misc) and 0xfd (vector).
var (
	plainImmediates = immediatesTable([]immediatesRange{
		{immNone, 0x00, 0x01},
		{immBlockType, 0x02, 0x04},
		{immNone, 0x05, 0x05},
		{immNone, 0x0b, 0x0b},
		{immIndex, 0x0c, 0x0d},
		{immBrTable, 0x0e, 0x0e},
		{immNone, 0x0f, 0x0f},
		{immIndex, 0x10, 0x10},
		{immTwoIndexes, 0x11, 0x11},
		{immIndex, 0x12, 0x12},
		{immTwoIndexes, 0x13, 0x13},
		{immNone, 0x1a, 0x1b},
		{immSelect, 0x1c, 0x1c},
		{immIndex, 0x20, 0x26},
		{immMemArg, 0x28, 0x3e},
		{immMemory, 0x3f, 0x40},
		{immI32, 0x41, 0x41},
		{immI64, 0x42, 0x42},
		{immF32, 0x43, 0x43},
		{immF64, 0x44, 0x44},
		{immNone, 0x45, 0xc4},
		{immRefType, 0xd0, 0xd0},
		{immNone, 0xd1, 0xd1},
		{immIndex, 0xd2, 0xd2},
		{immPrefix, 0xfc, 0xfd},
	})
	miscImmediates = immediatesTable([]immediatesRange{
		{immNone, 0, 7},
		{immTwoIndexes, 8, 8},
		{immIndex, 9, 9},
		{immMemories, 10, 10},
		{immMemory, 11, 11},
		{immTwoIndexes, 12, 12},
		{immIndex, 13, 13},
		{immTwoIndexes, 14, 14},
		{immIndex, 15, 17},
	})
	vectorImmediates = immediatesTable([]immediatesRange{
		{immMemArg, 0x00, 0x0b},
		{immSixteen, 0x0c, 0x0d},
		{immNone, 0x0e, 0x14},
		{immLane, 0x15, 0x22},
		{immNone, 0x23, 0x53},
		{immMemArgLane, 0x54, 0x5b},
		{immMemArg, 0x5c, 0x5d},
		// The gaps are numbers that WebAssembly 2.0 leaves unused.
		{immNone, 0x5e, 0x99}, {immNone, 0x9b, 0xa1}, {immNone, 0xa3, 0xa4},
		{immNone, 0xa7, 0xae}, {immNone, 0xb1, 0xb1}, {immNone, 0xb5, 0xba},
		{immNone, 0xbc, 0xc1}, {immNone, 0xc3, 0xc4}, {immNone, 0xc7, 0xce},
		{immNone, 0xd1, 0xd1}, {immNone, 0xd5, 0xe1}, {immNone, 0xe3, 0xed},
		{immNone, 0xef, 0xff},
	})
)

type immediatesRange struct {
	imm         immediates
	first, last int
}

func immediatesTable(ranges []immediatesRange) *[256]immediates {
	var table [256]immediates
	for _, r := range ranges {
		for i := r.first; i <= r.last; i++ {
			table[i] = r.imm
		}
	}
	return &table
}
