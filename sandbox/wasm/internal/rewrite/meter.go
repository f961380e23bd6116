package rewrite

// prepareMeter chooses the functions to meter and builds the metering
// sequence.
func (e *emitter) prepareMeter() {
	p := e.p
	e.cut = newCut(newGraph(p, e.s, true), newGraph(p, e.s, false))
	e.noResult = e.typeOf("", "")
	e.refuel = uint32(len(p.importedFuncs))
	e.fuel = uint32(len(p.importGlobals) + len(p.globals))
	e.shift = 1
	// Calling the import takes more code than calling a function of the module.
	body := appendIndexed([]byte{0}, opCall, e.refuel)
	e.refill = e.addHelper(helper{typ: e.noResult, body: append(body, byte(opEnd))})
	e.check = e.meterSequence()
	e.bulkType = e.typeOf(string([]byte{byte(I32), byte(I32), byte(I32)}), "")
}

// meterSequence takes one unit and calls refuel when none is left. It leaves
// the stack as it was, so it can stand behind a loop's opcode whatever the
// loop's parameters.
//
// The call is in the else branch on purpose: the engine's register allocator
// lets the code behind a join go on with the registers of the branch that it
// comes to first, and that must be the one without the call, which keeps them.
func (e *emitter) meterSequence() []byte {
	b := appendIndexed(nil, opGlobalGet, e.fuel)
	b = append(b, byte(opI64Const), 1, byte(opI64Sub))
	b = appendIndexed(b, opGlobalSet, e.fuel)
	b = appendIndexed(b, opGlobalGet, e.fuel)
	b = append(b, byte(opI64Const), 0, byte(opI64GeS))
	b = append(b, byte(opIf), 0x40, byte(opElse))
	b = appendIndexed(b, opCall, e.refill)
	return append(b, byte(opEnd))
}

func appendIndexed(b []byte, op opcode, index uint32) []byte {
	return appendU32(append(b, byte(op)), index)
}
