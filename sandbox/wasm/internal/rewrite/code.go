package rewrite

// code builds instructions of helper functions.
type code []byte

func (c *code) op(ops ...opcode) {
	for _, op := range ops {
		if op > 0xff {
			*c = appendU32(append(*c, byte(op>>8)), uint32(op&0xff))
		} else {
			*c = append(*c, byte(op))
		}
	}
}

func (c *code) index(op opcode, i uint32) {
	c.op(op)
	*c = appendU32(*c, i)
}

func (c *code) get(local uint32) { c.index(opLocalGet, local) }
func (c *code) set(local uint32) { c.index(opLocalSet, local) }

func (c *code) i32(v int32) { *c = appendSigned(append(*c, byte(opI32Const)), int64(v)) }
func (c *code) i64(v int64) { *c = appendSigned(append(*c, byte(opI64Const)), v) }

// block opens a block, loop or if without parameters and results.
func (c *code) block(op opcode) { *c = append(*c, byte(op), 0x40) }

func (c *code) load8(offset uint32) { *c = appendU32(append(*c, byte(opI32Load8U), 0), offset) }
func (c *code) copyMemory()         { *c = append(*c, 0xfc, byte(opMemoryCopy&0xff), 0, 0) }
func (c *code) fillMemory()         { *c = append(*c, 0xfc, byte(opMemoryFill&0xff), 0) }
