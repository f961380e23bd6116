// Package variant names ways to build an engine that exist only to measure
// what a design decision costs. Being internal, it keeps them out of reach of
// programs that use Mayfly.
package variant

// Variant is a set of differences from the real engine. The zero value is the
// real engine.
type Variant struct {
	// Unmetered leaves metering out of the guest. Warning: such a guest cannot
	// be stopped while it computes.
	Unmetered bool
	// EngineDeadline uses wazero's own way to interrupt a guest
	// (WithCloseOnContextDone).
	EngineDeadline bool
}
