package manifests

import "time"

// CodeLimits bound the code of one call of a code tool. The first three fields
// are the format's; the others are Mayfly's own and map to [sandbox.Limits]
// one by one. A zero field stands for the sandbox's default.
type CodeLimits struct {
	// Timeout is how long the code may run. Default 5s. The tool's own timeout
	// holds as well.
	Timeout time.Duration
	// MaxMemoryMB is how much memory the code may use beyond the interpreter's
	// own, in MiB. Default 64.
	MaxMemoryMB int64
	// MaxOutputBytes is how much of its output is kept. Default 100,000.
	MaxOutputBytes int64
	// MaxFuel bounds the work in the engine's own units. Default: no bound of
	// its own.
	MaxFuel int64
	// MaxValueBytes is how much JSON the value may have. Default 8 MiB.
	MaxValueBytes int64
	// MaxSourceBytes is how much code is accepted. Default 1 MiB.
	MaxSourceBytes int64
	// MaxDepth is how deeply arguments and the value may nest. Default 64.
	MaxDepth int64
	// MaxFiles is how many files the code may make in its private /tmp. Default
	// 1000.
	MaxFiles int64
	// MaxFileBytes is how large they may be together. Default 32 MiB.
	MaxFileBytes int64
	// MaxArtifacts is how many files the code may hand back beside its value.
	// Default 32.
	MaxArtifacts int64
	// MaxArtifactBytes is how large those may be together. Default 8 MiB.
	MaxArtifactBytes int64
	// MaxHostCalls is how many other tools the code may call. Default 100.
	MaxHostCalls int64
}

// DefaultCodeLimits are the limits of a code tool that sets none.
func DefaultCodeLimits() CodeLimits {
	return CodeLimits{
		Timeout:          5 * time.Second,
		MaxMemoryMB:      64,
		MaxOutputBytes:   100_000,
		MaxValueBytes:    8 << 20,
		MaxSourceBytes:   1 << 20,
		MaxDepth:         64,
		MaxFiles:         1000,
		MaxFileBytes:     32 << 20,
		MaxArtifacts:     32,
		MaxArtifactBytes: 8 << 20,
		MaxHostCalls:     100,
	}
}

// MaxBytes is the largest number of bytes that a manifest can ask for anywhere.
const MaxBytes = 1 << 30

// codeLimitFields has the ranges that the engine has: a value that no call can run
// with is refused here, where it has a place.
func codeLimitFields(l *CodeLimits) fields {
	return fields{
		{name: "timeout", slot: duration(&l.Timeout),
			doc: "How long the code may run, compiling included. The tool's own timeout holds as well."},
		{name: "max_memory_mb", slot: countSlot{&l.MaxMemoryMB, 2, 3072},
			doc: "How much memory the code may use beyond the interpreter's own, in MiB."},
		{name: "max_output_bytes", slot: countSlot{&l.MaxOutputBytes, 1, MaxBytes},
			doc: "How much of what the code prints is kept, in bytes."},
		{name: "max_fuel", slot: countSlot{&l.MaxFuel, 1, 1 << 53},
			doc: "How much work the code may do, in the engine's units: one for each pass of a loop and each recursive call inside the interpreter. Default: only the timeout bounds it."},
		{name: "max_value_bytes", slot: countSlot{&l.MaxValueBytes, 1, MaxBytes},
			doc: "How large the value may be as JSON, in bytes."},
		{name: "max_source_bytes", slot: countSlot{&l.MaxSourceBytes, 1, 64 << 20},
			doc: "How much code is accepted, in bytes."},
		{name: "max_depth", slot: countSlot{&l.MaxDepth, 1, 500},
			doc: "How deeply lists and objects may nest in arguments and value."},
		{name: "max_files", slot: countSlot{&l.MaxFiles, 1, 1_000_000},
			doc: "How many files and directories the code may make in its private /tmp."},
		{name: "max_file_bytes", slot: countSlot{&l.MaxFileBytes, 1, MaxBytes},
			doc: "How large all those files may be together, in bytes."},
		{name: "max_artifacts", slot: countSlot{&l.MaxArtifacts, 1, 1 << 16},
			doc: "How many files the code may hand back beside its value, from /tmp/out. More, and the call fails."},
		{name: "max_artifact_bytes", slot: countSlot{&l.MaxArtifactBytes, 1, MaxBytes},
			doc: "How large all those files may be together, in bytes. Larger, and the call fails."},
		{name: "max_host_calls", slot: countSlot{&l.MaxHostCalls, 1, 1_000_000},
			doc: "How many calls of other tools the code may make."},
	}
}
