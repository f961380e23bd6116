package governor

import (
	"context"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Judge is asked about every call that the steps before it would let pass or put
// to a person. It can only tighten: what it allows is still subject to what the
// others said. A judge that fails, panics, takes longer than the harness gives
// it, or answers something else than a [Verdict] puts the call to a person.
type Judge interface {
	// Judge gives a verdict on a call. It should return when ctx ends; nobody
	// waits for it any longer.
	Judge(ctx context.Context, r JudgeRequest) (Verdict, error)
}

// JudgeRequest is what a judge sees.
type JudgeRequest struct {
	// Tool is the tool's name.
	Tool string
	// Args are the arguments, valid by the tool's schema.
	Args Arguments
}

// JSON gives {"args": …, "tool": …}, the form in which judges outside of the
// process are asked.
func (r JudgeRequest) JSON() []byte {
	b := append([]byte(`{"args":`), r.Args.Text()...)
	b = append(b, `,"tool":`...)
	return append(appendText(b, r.Tool), '}')
}

// Verdict is what a judge says. Any other text, "" too, counts as a failure.
type Verdict string

// The verdicts.
const (
	VerdictAllow           Verdict = "allow"
	VerdictBlock           Verdict = "block"
	VerdictRequireApproval Verdict = "require_approval"
	// VerdictEscalate means the same as VerdictRequireApproval.
	VerdictEscalate Verdict = "escalate"
)

// ParseVerdict reads the answer of a judge outside of the process: an object
// with the verdict in "decision". Other fields, such as a reason, are for the
// judge's own log and are ignored; they never reach a model. What cannot be
// read gives "", which is no verdict.
func ParseVerdict(text []byte) Verdict {
	var answer struct {
		Decision Verdict        `json:"decision"`
		Rest     jsontext.Value `json:",inline"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return ""
	}
	return answer.Decision
}
