package manifests

import "fmt"

// WarningCode says what a [Warning] is about. Stable, like [Code].
type WarningCode string

// The codes of [Warning].
const (
	// WarnUnpinned: a tool without a definition_digest.
	WarnUnpinned WarningCode = "unpinned"
	// WarnDigestMismatch: a tool whose definition is not the pinned one. It
	// loads, and every call to it is blocked.
	WarnDigestMismatch WarningCode = "digest_mismatch"
	// WarnOverLimit: a manifest asks for more than the operator's limits give;
	// the tighter value holds.
	WarnOverLimit WarningCode = "over_limit"
	// WarnOpenSchema: a schema that accepts arguments it does not name.
	WarnOpenSchema WarningCode = "open_schema"
	// WarnUnanchored: a pattern that matches anywhere in the text.
	WarnUnanchored WarningCode = "unanchored_pattern"
	// WarnCodeArg: a code tool whose schema does not ask for the code.
	WarnCodeArg WarningCode = "code_arg"
	// WarnEgress: a tool that may use a local service and lists nothing in
	// egress, so that the trifecta rule does not know of it.
	WarnEgress WarningCode = "egress_undeclared"
	// WarnPlaintext: an address without TLS.
	WarnPlaintext WarningCode = "plaintext"
	// WarnHidden: a description with characters that cannot be seen.
	WarnHidden WarningCode = "hidden_text"
	// WarnNoFiles: a pattern that matches no file.
	WarnNoFiles WarningCode = "no_files"
	// WarnEmpty: a file that holds no manifest.
	WarnEmpty WarningCode = "empty"
)

// Warning is something that loads but deserves a look; `mayfly doctor` prints
// them.
type Warning struct {
	// File, Line, Column and Pointer say where, as in [Error].
	File         string
	Line, Column int
	Pointer      string
	// Tool is the tool's name, "" when it is not about one.
	Tool string
	// Code is the kind, for programs.
	Code WarningCode
	// Message says what it is and what to do.
	Message string
}

// String gives file:line:column, pointer, message and code.
func (w Warning) String() string {
	e := Error{File: w.File, Line: w.Line, Column: w.Column, Pointer: w.Pointer, Code: Code(w.Code), Reason: w.Message}
	return e.Error()
}

// Fails reports whether a check of the manifests should fail for this warning
// alone: the tool can never run as it is.
func (w Warning) Fails() bool { return w.Code == WarnDigestMismatch }

var _ fmt.Stringer = Warning{}
