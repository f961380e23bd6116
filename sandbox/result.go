package sandbox

import "time"

// Result is how a call ended and what it left.
type Result struct {
	// Status says how the call ended.
	Status Status
	// Value is the JSON text of the code's value, set when Status is
	// [StatusOK]: the value of the last statement if that is an expression,
	// else null.
	Value RawJSON
	// Artifacts are the files that the code left in [ArtifactDir], by name, when
	// Status is [StatusOK]. They are bytes of the guest's choosing: an image in SVG
	// is a program to a browser.
	Artifacts []Artifact
	// ValuePrefix is the start of a value that was over Limits.MaxValue, cut
	// between characters. It is not valid JSON.
	ValuePrefix string
	// Error explains every Status but [StatusOK].
	Error *Error
	// Stdout and Stderr are what the code wrote, cut at Limits.MaxOutput. They
	// are bytes of the guest's choosing: not always UTF-8, possibly with
	// terminal controls.
	Stdout, Stderr []byte
	// Truncated says what was cut; nil when nothing was.
	Truncated *Truncated
	// Usage is what the call cost, measured by the host.
	Usage Usage
}

// Truncated gives the full size, in bytes, of whatever was cut; zero where
// nothing was.
type Truncated struct {
	Stdout int64 `json:"stdout,omitzero"`
	Stderr int64 `json:"stderr,omitzero"`
	Value  int64 `json:"value,omitzero"`
}

// Error is what went wrong in the guest, in the words of the guest.
type Error struct {
	// Type is the exception's type ("ValueError"), or the Status itself when a
	// limit ended the call.
	Type string `json:"type"`
	// Message is the exception's text, cut at 16 KiB. It may hold whatever the
	// code put there.
	Message string `json:"message"`
	// Line is the line of the code that raised, counted from 1; 0 if unknown.
	Line int `json:"line,omitzero"`
	// Source is that line's text.
	Source string `json:"source,omitzero"`
	// Path is the JSON pointer of the part of the value or of the argument
	// that could not be converted.
	Path string `json:"path,omitzero"`
	// Traceback is in the language's own form, with the code's own frames only.
	Traceback string `json:"traceback,omitzero"`
}

// Usage is what a call cost. Every figure is the host's own.
type Usage struct {
	// Wall is the time from Run to its return; Queued the part of it spent
	// waiting for a free instance.
	Wall, Queued time.Duration
	// CPU is the processor time of the thread that ran the guest.
	CPU time.Duration
	// Fuel is how many units were used; see Limits.MaxFuel.
	Fuel int64
	// PeakMemory is the most bytes the guest had beyond its image, in whole
	// WebAssembly pages.
	PeakMemory uint64
	// Dirtied is how many bytes of memory the call made its own, in whole
	// pages of the host. Zero where the host cannot tell.
	Dirtied uint64
	// Stdout, Stderr and Value are the bytes produced, before any cut.
	Stdout, Stderr, Value int64
	// HostCalls is how many host tools the code called.
	HostCalls int
}
