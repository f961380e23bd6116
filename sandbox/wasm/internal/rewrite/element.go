package rewrite

// The three bits of an element segment's flags.
const (
	elementNotActive   = 1
	elementTableOrDecl = 2 // table index given; without elementActive: declarative
	elementExpressions = 4
)

func (p *parsed) elementSection(r *reader) {
	n := r.count("element segments")
	p.elements = make([]element, 0, n)
	for range n {
		p.elements = append(p.elements, p.element(r))
		if r.err != nil {
			return
		}
	}
}

func (p *parsed) element(r *reader) element {
	at := r.pos
	flags := r.u32()
	e := element{typ: FuncRef}
	if r.err == nil && flags > 7 {
		r.failAt(at, "flags %#x of an element segment", flags)
		return e
	}
	if flags&elementNotActive != 0 {
		if flags&elementTableOrDecl == 0 {
			r.failAt(at, "passive element segment: the table must not change")
			return e
		}
		e.declarative = true
	} else {
		if flags&elementTableOrDecl != 0 {
			e.table = r.u32()
		}
		offset := p.constant(r)
		if r.err != nil {
			return e
		}
		if offset.op != opI32Const {
			r.failAt(offset.at, "element segment whose offset is not an i32.const")
			return e
		}
		e.offset = uint32(offset.bits)
		if e.table >= uint32(len(p.tables)) {
			r.failAt(at, "element segment of table %d, the module has %d", e.table, len(p.tables))
			return e
		}
		e.typ = p.tables[e.table].typ
	}
	if flags&(elementNotActive|elementTableOrDecl) != 0 {
		kindAt := r.pos
		kind := ValueType(r.byte())
		if flags&elementExpressions == 0 {
			if r.err == nil && kind != 0 {
				r.failAt(kindAt, "element kind %#x", byte(kind))
			}
			kind = FuncRef
		}
		if r.err == nil && kind != FuncRef && kind != ExternRef {
			r.failAt(kindAt, "unknown element type %#x", byte(kind))
		}
		if r.err == nil && !e.declarative && kind != e.typ {
			r.failAt(kindAt, "element segment of another type than its table")
		}
		e.typ = kind
	}
	n := r.count("elements")
	e.funcs = make([]uint32, 0, n)
	for range n {
		f := p.elementItem(r, flags&elementExpressions != 0, e.typ)
		if r.err != nil {
			return e
		}
		e.funcs = append(e.funcs, f)
	}
	if t := e.table; !e.declarative && uint64(e.offset)+uint64(n) > uint64(p.tables[t].min) {
		r.failAt(at, "element segment at %d with %d elements is outside its table of %d", e.offset, n, p.tables[t].min)
	}
	return e
}

func (p *parsed) elementItem(r *reader, expression bool, typ ValueType) uint32 {
	if !expression {
		return p.funcIndex(r)
	}
	c := p.constant(r)
	if r.err != nil {
		return nullFunc
	}
	switch {
	case c.op == opRefNull && ValueType(c.raw[1]) == typ:
		return nullFunc
	case c.op == opRefFunc && typ == FuncRef:
		return uint32(c.bits)
	}
	r.failAt(c.at, "element that is neither a function nor null")
	return nullFunc
}

// appendElement writes e with its function indexes mapped.
func appendElement(b []byte, e *element, funcs func(uint32) uint32) []byte {
	expressions := e.typ != FuncRef
	for _, f := range e.funcs {
		expressions = expressions || f == nullFunc
	}
	flags := uint32(elementTableOrDecl)
	if e.declarative {
		flags |= elementNotActive
	}
	if expressions {
		flags |= elementExpressions
	}
	b = appendU32(b, flags)
	if !e.declarative {
		b = appendU32(b, e.table)
		b = append(b, byte(opI32Const))
		b = appendSigned(b, int64(int32(e.offset)))
		b = append(b, byte(opEnd))
	}
	if expressions {
		b = append(b, byte(e.typ))
	} else {
		b = append(b, 0)
	}
	b = appendU32(b, uint32(len(e.funcs)))
	for _, f := range e.funcs {
		switch {
		case !expressions:
			b = appendU32(b, funcs(f))
		case f == nullFunc:
			b = append(b, byte(opRefNull), byte(e.typ), byte(opEnd))
		default:
			b = append(b, byte(opRefFunc))
			b = appendU32(b, funcs(f))
			b = append(b, byte(opEnd))
		}
	}
	return b
}
