// Package runtime wires guests, sandboxes and the governor into what a host
// program uses.
//
// [Open] gives a [Runtime], which calls tools: each call is decided by the
// governor, journalled if it changes something, run, and its result sanitized.
// How it ended is an [Outcome].
//
// [OpenSandbox] gives a sandbox for model-written code:
//
//	box, err := runtime.OpenSandbox(ctx, runtime.SandboxConfig{Guest: "python"})
//	…
//	result, err := box.Run(ctx, sandbox.Spec{Code: "sum(x for x in xs)", Globals: map[string]any{"xs": xs}})
//
// What the code does wrong is in the result; an error means that the host could
// not do its part.
package runtime
