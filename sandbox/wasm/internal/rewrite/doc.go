// Package rewrite turns a guest module into the module that the engine runs:
// metered, so that a guest returns to the host often enough to be stopped and
// never holds up Go's garbage collector; without data segments, because their
// bytes are in the memory image already; and without custom sections, because
// an engine spends longer on names than on everything else it loads.
//
// What [Rewrite] accepts is deliberately less than WebAssembly: one memory of
// its own, a function table that nothing changes at run time, mutable globals
// that are all exported, constant offsets, no passive data, no start function.
// Everything else is refused with the offset of the byte that says so. The
// rewriter is not a validator: it decodes every instruction, but types and
// stack heights stay the engine's business. A module that the engine accepts
// and the rewriter accepts gives a module that the engine accepts.
//
// The module is trusted to be an interpreter that wants to work: metering
// bounds the time between two looks at the fuel by the longest way through the
// code without a loop and without recursion. A module written to make that way
// long (thirty functions that call one another twice each) is out of scope;
// the code that an interpreter runs cannot change it.
package rewrite
