package sandbox

import "time"

// Limits bound one call. A zero field means its default: leaving a limit out
// never means unlimited, and there is no value that does.
type Limits struct {
	// Timeout is the wall time of the whole call: waiting for a free instance,
	// compiling the source, running, sleeping, host calls. Default
	// [DefaultTimeout]. It cannot be caught by the guest.
	Timeout time.Duration
	// MaxMemory is how many bytes the guest may have beyond the interpreter's
	// own image, rounded up to a whole WebAssembly page (64 KiB). Arguments,
	// files in /tmp and the result count. Default [DefaultMaxMemory].
	MaxMemory uint64
	// MaxOutput is how many bytes of standard output and standard error are
	// kept, both together. What is over is counted and dropped; at
	// [FloodFactor] times the limit the call is stopped. Default
	// [DefaultMaxOutput].
	MaxOutput int64
	// MaxValue is how many bytes of JSON the value may have. Default
	// [DefaultMaxValue].
	MaxValue int64
	// MaxFuel is how much fuel the call may use; one unit is one pass of a loop
	// or one call of a function that can recurse, inside the interpreter.
	// Deterministic for the same guest, code, arguments, seed and clock.
	// Zero: no fuel limit of its own; the timeout still holds.
	MaxFuel int64
	// MaxSource is how many bytes of source are accepted. Default
	// [DefaultMaxSource].
	MaxSource int64
	// MaxDepth is how deeply arguments and the value may nest. Default
	// [DefaultMaxDepth].
	MaxDepth int
	// MaxFiles is how many files and directories the private /tmp may hold.
	// Default [DefaultMaxFiles]; their bytes count against MaxMemory too.
	MaxFiles int
	// MaxFileBytes is how many bytes all files in the private /tmp may have
	// together. Default [DefaultMaxFileBytes].
	MaxFileBytes int64
	// MaxArtifacts is how many files a call may hand back. Default
	// [DefaultMaxArtifacts]. More: [StatusOutputLimit].
	MaxArtifacts int
	// MaxArtifactBytes is how many bytes they may have together. Default
	// [DefaultMaxArtifactBytes]. More: [StatusOutputLimit].
	MaxArtifactBytes int64
	// MaxHostCalls is how many host tools the code may call. Default
	// [DefaultMaxHostCalls]. Meaningless without Spec.HostCall.
	MaxHostCalls int
}

// Defaults of [Limits].
const (
	DefaultTimeout                 = 5 * time.Second
	DefaultMaxMemory        uint64 = 64 << 20
	DefaultMaxOutput        int64  = 100_000
	DefaultMaxValue         int64  = 8 << 20
	DefaultMaxSource        int64  = 1 << 20
	DefaultMaxDepth                = 64
	DefaultMaxFiles                = 1000
	DefaultMaxFileBytes     int64  = 32 << 20
	DefaultMaxArtifacts            = 32
	DefaultMaxArtifactBytes int64  = 8 << 20
	DefaultMaxHostCalls            = 100
)

// FloodFactor is how many times Limits.MaxOutput a call may write before it
// is stopped with [StatusOutputLimit].
const FloodFactor = 16

// WithDefaults returns l with every zero field set to its default.
func (l Limits) WithDefaults() Limits {
	setDefault(&l.Timeout, DefaultTimeout)
	setDefault(&l.MaxMemory, DefaultMaxMemory)
	setDefault(&l.MaxOutput, DefaultMaxOutput)
	setDefault(&l.MaxValue, DefaultMaxValue)
	setDefault(&l.MaxSource, DefaultMaxSource)
	setDefault(&l.MaxDepth, DefaultMaxDepth)
	setDefault(&l.MaxFiles, DefaultMaxFiles)
	setDefault(&l.MaxFileBytes, DefaultMaxFileBytes)
	setDefault(&l.MaxArtifacts, DefaultMaxArtifacts)
	setDefault(&l.MaxArtifactBytes, DefaultMaxArtifactBytes)
	setDefault(&l.MaxHostCalls, DefaultMaxHostCalls)
	return l
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
