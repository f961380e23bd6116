package main

import (
	"bytes"
	"fmt"
	"math"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mayfly-run/mayfly/sandbox"
)

// report is what is told of a call.
type report struct {
	result sandbox.Result
	limits sandbox.Limits
	replay *replay
	// written are the paths of the artifacts, in their order; nil: they were not
	// asked to be.
	written []string
}

// resultJSON is the object that --json prints. Exactly one of Value and Error
// is there.
type resultJSON struct {
	Status      sandbox.Status     `json:"status"`
	Value       jsontext.Value     `json:"value,omitzero"`
	Error       *sandbox.Error     `json:"error,omitzero"`
	Artifacts   []artifactJSON     `json:"artifacts,omitzero"`
	ValuePrefix string             `json:"value_prefix,omitzero"`
	Stdout      string             `json:"stdout"`
	Stderr      string             `json:"stderr"`
	Truncated   *sandbox.Truncated `json:"truncated,omitzero"`
	Usage       usageJSON          `json:"usage"`
	Replay      *replay            `json:"replay,omitzero"`
}

// artifactJSON is a file that the code handed back: its content in base64, or
// where it was written.
type artifactJSON struct {
	Name      string `json:"name"`
	MediaType string `json:"media_type"`
	Size      int    `json:"size"`
	Bytes     []byte `json:"bytes,omitzero"`
	File      string `json:"file,omitzero"`
}

type usageJSON struct {
	WallMS          milliseconds `json:"wall_ms"`
	CPUMS           milliseconds `json:"cpu_ms"`
	QueuedMS        milliseconds `json:"queued_ms"`
	Fuel            int64        `json:"fuel"`
	PeakMemoryBytes uint64       `json:"peak_memory_bytes"`
	DirtiedBytes    uint64       `json:"dirtied_bytes"`
	StdoutBytes     int64        `json:"stdout_bytes"`
	StderrBytes     int64        `json:"stderr_bytes"`
	ValueBytes      int64        `json:"value_bytes"`
}

// milliseconds are written to the microsecond.
type milliseconds float64

func inMilliseconds(d time.Duration) milliseconds {
	return milliseconds(math.Round(float64(d)/1e3) / 1e3)
}

// json prints the result as one object.
func (r report) json(p *process) error {
	u := r.result.Usage
	object := resultJSON{
		Status:      r.result.Status,
		ValuePrefix: r.result.ValuePrefix,
		Stdout:      string(r.result.Stdout),
		Stderr:      string(r.result.Stderr),
		Truncated:   r.result.Truncated,
		Usage: usageJSON{
			WallMS:          inMilliseconds(u.Wall),
			CPUMS:           inMilliseconds(u.CPU),
			QueuedMS:        inMilliseconds(u.Queued),
			Fuel:            u.Fuel,
			PeakMemoryBytes: u.PeakMemory,
			DirtiedBytes:    u.Dirtied,
			StdoutBytes:     u.Stdout,
			StderrBytes:     u.Stderr,
			ValueBytes:      u.Value,
		},
		Replay: r.replay,
	}
	if r.result.Status == sandbox.StatusOK {
		object.Value = jsontext.Value(r.result.Value)
		for i, a := range r.result.Artifacts {
			j := artifactJSON{Name: a.Name, MediaType: a.MediaType, Size: len(a.Bytes), Bytes: a.Bytes}
			if r.written != nil {
				j.Bytes, j.File = nil, r.written[i]
			}
			object.Artifacts = append(object.Artifacts, j)
		}
	} else {
		object.Error = r.error()
	}
	return p.stdout.object(object)
}

// error is the result's error, or one made of the status if a back end left
// it out.
func (r report) error() *sandbox.Error {
	if r.result.Error != nil {
		return r.result.Error
	}
	return &sandbox.Error{Type: string(r.result.Status), Message: "no further explanation"}
}

// object prints a value as JSON. Text that is not UTF-8 gets U+FFFD where it
// is not.
func (o output) object(v any) error {
	text, err := json.Marshal(v, jsontext.AllowInvalidUTF8(true), json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return o.json(text)
}

// text prints the result for people: what the code wrote and its value to
// standard output; what it wrote to standard error, what went wrong and what
// was cut to standard error.
func (r report) text(p *process) error {
	if err := p.stdout.guest(r.result.Stdout); err != nil {
		return err
	}
	value := jsontext.Value(r.result.Value)
	hasValue := r.result.Status == sandbox.StatusOK && string(value) != "null"
	// The value starts a line of its own, and so does what follows on a screen.
	if hasValue || p.stdout.terminal {
		if err := startLine(p.stdout, r.result.Stdout); err != nil {
			return err
		}
	}
	if hasValue {
		if err := value.Indent(jsontext.WithIndent("  "), jsontext.AllowDuplicateNames(true)); err != nil {
			return fmt.Errorf("print the value: %w", err)
		}
		if err := p.stdout.json(value); err != nil {
			return err
		}
	}
	if err := p.stderr.guest(r.result.Stderr); err != nil {
		return err
	}
	if err := startLine(p.stderr, r.result.Stderr); err != nil {
		return err
	}
	r.notes(p)
	return nil
}

// startLine ends the guest's last line if the guest did not.
func startLine(o output, written []byte) error {
	if len(written) == 0 || bytes.HasSuffix(written, []byte("\n")) {
		return nil
	}
	return o.all([]byte("\n"))
}

// notes says what went wrong and what was cut.
func (r report) notes(p *process) {
	status, t := r.result.Status, r.result.Truncated
	switch e := r.error(); {
	case status == sandbox.StatusOK:
	case e.Type == sandbox.ErrorArtifact && status == sandbox.StatusOutputLimit:
		p.stderr.note("%s: %s (the limits are set by --max-artifacts and --max-artifact-bytes)", status, e.Message)
	case status == sandbox.StatusError:
		text := e.Traceback
		if text == "" {
			text = e.Type + ": " + e.Message
		}
		_ = p.stderr.guest([]byte(text))
		_ = startLine(p.stderr, []byte(text))
		if e.Path != "" {
			p.stderr.note("the place in the value is %s", e.Path)
		}
	case limitFlags[status] != "" && (t == nil || t.Value == 0): // no flag moves a value's limit
		p.stderr.note("%s: %s (the limit is set by %s)", status, e.Message, limitFlags[status])
	default:
		p.stderr.note("%s: %s", status, e.Message)
	}
	if t != nil {
		cut := func(what string, kept int, full int64, limit string) {
			if full > 0 {
				p.stderr.note("%s is cut: %d of %d bytes%s", what, kept, full, limit)
			}
		}
		limit := fmt.Sprintf(" (--max-output-bytes is %d)", r.limits.MaxOutput)
		cut("standard output", len(r.result.Stdout), t.Stdout, limit)
		cut("standard error", len(r.result.Stderr), t.Stderr, limit)
		cut("the value", len(r.result.ValuePrefix), t.Value, fmt.Sprintf(" (a value may have %d; --json prints its start)", r.limits.MaxValue))
	}
	for i, a := range r.result.Artifacts {
		if r.written != nil {
			p.stderr.note("wrote %s, %d bytes", r.written[i], len(a.Bytes))
		}
	}
	if n := len(r.result.Artifacts); n > 0 && r.written == nil {
		p.stderr.note("the code hands back %s; --artifacts DIR writes that", artifactNames(r.result.Artifacts))
	}
	if r.replay != nil {
		if text, err := json.Marshal(r.replay); err == nil {
			p.stderr.note("replay %s", text)
		}
	}
}
