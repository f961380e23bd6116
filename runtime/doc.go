// Package runtime wires guests, sandboxes and (as they come) the governor into
// what a host program uses.
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
