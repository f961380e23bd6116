package sandbox

import (
	"context"
	"errors"
)

// Sandbox runs calls. Implementations are safe for concurrent use.
type Sandbox interface {
	// Run executes one call and waits for its end. The returned error is
	// non-nil only when the host failed; what the guest does is in the Result.
	Run(ctx context.Context, spec Spec) (Result, error)
	// Close waits for running calls, then frees everything. Run after Close
	// gives [ErrClosed].
	Close() error
}

// ErrClosed is returned by Run after Close.
var ErrClosed = errors.New("sandbox: closed")

// Guest is an interpreter that a back end can host: a WebAssembly module that
// keeps the guest ABI (see ARCHITECTURE.md) and what the host must know of its
// language.
type Guest struct {
	// Name selects the guest: "python", "js".
	Name string
	// Version is what the interpreter calls itself, such as "3.13.5".
	Version string
	// Module is the WebAssembly binary.
	Module []byte
	// DefaultName is Spec.Name's default.
	DefaultName string
	// EncodeGlobals turns Spec.Globals into the form that this guest reads. It
	// fails with *ArgumentError for what has no form.
	EncodeGlobals func(globals map[string]any, maxDepth int) ([]byte, error)
}

// ArgumentError says which argument cannot be handed to a guest, and why. Its
// text never holds the value.
type ArgumentError struct {
	// Path is a JSON pointer that starts with the argument's name.
	Path string
	// Reason is one sentence without the value.
	Reason string
}

func (e *ArgumentError) Error() string { return "argument " + e.Path + ": " + e.Reason }
