package runtime

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/mayfly-run/mayfly/governor"
)

// Names of trace notes.
const (
	// NoteGovernor is a decision about a call.
	NoteGovernor = "harness.governor"
	// NoteTool is the end of a call that was let through: its tool was started,
	// or could not be.
	NoteTool = "harness.tool"
)

// Note is one line of the trace. It never holds an argument's value or a
// result.
type Note struct {
	Time    time.Time `json:"time"`
	Name    string    `json:"name"`
	Run     string    `json:"run"`
	Call    string    `json:"call"`
	Tool    string    `json:"tool"`
	Outcome string    `json:"outcome"`
	// Of a decision: which step made it, why, and how long each step took.
	Step   string     `json:"step,omitzero"`
	Code   string     `json:"code,omitzero"`
	Reason string     `json:"reason,omitzero"`
	Steps  []StepNote `json:"steps,omitzero"`
	// Of a tool's end.
	ErrorType string         `json:"error_type,omitzero"`
	Truncated bool           `json:"truncated,omitzero"`
	Redacted  map[string]int `json:"redacted,omitzero"`
	// Artifacts are the files that were handed back, without what is in them.
	Artifacts []ArtifactNote `json:"artifacts,omitzero"`
	// MissingLayers are the layers of confinement that the host did not have.
	MissingLayers []string       `json:"missing_layers,omitzero"`
	Took          DurationMicros `json:"took_us"`
}

// ArtifactNote is a file that code handed back.
type ArtifactNote struct {
	Name string `json:"name"`
	Size int    `json:"size"` // bytes; those of one that was withheld are not counted
}

// StepNote is how one of the governor's steps went.
type StepNote struct {
	Step    string         `json:"step"`
	Outcome string         `json:"outcome"`
	Code    string         `json:"code,omitzero"`
	Took    DurationMicros `json:"took_us"`
}

// DurationMicros is a duration, in JSON a number of microseconds.
type DurationMicros time.Duration

// MarshalJSON gives whole microseconds.
func (d DurationMicros) MarshalJSON() ([]byte, error) {
	return json.Marshal(time.Duration(d).Microseconds())
}

// UnmarshalJSON reads whole microseconds.
func (d *DurationMicros) UnmarshalJSON(b []byte) error {
	var us int64
	if err := json.Unmarshal(b, &us); err != nil {
		return err
	}
	*d = DurationMicros(time.Duration(us) * time.Microsecond)
	return nil
}

// decisionNote says what the governor decided.
func decisionNote(now time.Time, d governor.Decision) Note {
	n := Note{
		Time: now, Name: NoteGovernor, Run: given(d.Run), Call: given(d.CallID), Tool: given(d.Tool), Outcome: d.Outcome.String(),
		Step: string(d.Step), Code: string(d.Code), Reason: d.Reason,
	}
	for _, s := range d.Notes {
		n.Steps = append(n.Steps, StepNote{string(s.Step), s.Outcome.String(), string(s.Code), DurationMicros(s.Duration)})
		n.Took += DurationMicros(s.Duration)
	}
	return n
}

// maxGiven is how much of a name that a caller gave stands in a note: more than
// any that exists has.
const maxGiven = 256

// given is a name that a caller gave, of a tool that need not exist: as long as
// a note can bear, and UTF-8, without which there could be no note.
func given(name string) string {
	if len(name) > maxGiven {
		name = name[:maxGiven] + "…"
	}
	return strings.ToValidUTF8(name, "\uFFFD")
}

// endNote says how a call ended that was let through.
func endNote(now time.Time, r Result, took time.Duration) Note {
	n := Note{
		Time: now, Name: NoteTool, Run: given(r.Decision.Run), Call: given(r.CallID), Tool: given(r.Decision.Tool),
		Outcome: string(r.Outcome), MissingLayers: r.MissingLayers, Took: DurationMicros(took),
	}
	if r.Error != nil {
		n.ErrorType = r.Error.Type
	}
	if r.Output != nil {
		n.Truncated, n.Redacted = r.Output.Truncated, r.Output.Redactions
	}
	for _, a := range r.Artifacts {
		n.Artifacts = append(n.Artifacts, ArtifactNote{Name: a.Name, Size: len(a.Bytes)})
	}
	return n
}

// tracer appends notes to a file of JSON Lines. Each note is one write of a
// file opened for appending, so that several processes can share it.
type tracer struct {
	mu   sync.Mutex
	file *os.File   // nil: none is written
	tell func(Note) // nil: nobody
}

// newTracer makes a tracer; nil if there is nothing to write to and nobody to
// tell.
func newTracer(path string, tell func(Note)) (*tracer, error) {
	if path == "" {
		if tell == nil {
			return nil, nil
		}
		return &tracer{tell: tell}, nil
	}
	t, err := openTrace(path)
	if err != nil {
		return nil, err
	}
	t.tell = tell
	return t, nil
}

// openTrace opens the trace for appending. A new one is its owner's alone. One
// that others can write to, or that is a link, proves nothing and is refused.
func openTrace(path string) (*tracer, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("open trace: %w", err)
	}
	f, err := openRegular(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY|noFollow, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open trace %s: it must be a regular file, and no link to one: %w", path, err)
	}
	info, err := f.Stat()
	if err == nil {
		err = ownFile(info)
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("open trace %s: %w", path, err)
	}
	return &tracer{file: f}, nil
}

func (t *tracer) note(n Note) error {
	if t == nil {
		return nil
	}
	if t.file != nil {
		if err := t.write(n); err != nil {
			return fmt.Errorf("write trace: %w", err)
		}
	}
	if t.tell != nil {
		t.tell(n)
	}
	return nil
}

func (t *tracer) write(n Note) error {
	line, err := json.Marshal(n)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	_, err = t.file.Write(append(line, '\n'))
	return err
}

func (t *tracer) close() error {
	if t == nil || t.file == nil {
		return nil
	}
	return t.file.Close()
}
