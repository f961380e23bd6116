// Package variant names ways to build an engine that exist only to measure
// what a design decision costs. Being internal, it keeps them out of reach of
// programs that use Mayfly.
package variant

import "io/fs"

// Variant is a set of differences from the real engine. The zero value is the
// real engine.
type Variant struct {
	// Unmetered leaves metering out of the guest. Warning: such a guest cannot
	// be stopped while it computes.
	Unmetered bool
	// EngineDeadline uses wazero's own way to interrupt a guest
	// (WithCloseOnContextDone).
	EngineDeadline bool
	// Files, if set, is a directory that every call sees as /mnt, read-only. It
	// is read when the engine starts, and is no part of the image.
	Files fs.FS
}
