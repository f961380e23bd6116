package httpapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/sandbox"
)

// execRequest is a piece of code of the caller's own.
type execRequest struct {
	Code     string           `json:"code"`
	Language runtime.Language `json:"language"` // default python
	// Globals are variables for the code, by name.
	Globals map[string]jsontext.Value `json:"globals"`
	// Tables are variables too, read as sandbox/rows does.
	Tables map[string]tableText `json:"tables"`
	Limits execLimits           `json:"limits"`
	// Run, Approval and Call are those of a call.
	Run      string `json:"run"`
	Approval string `json:"approval"`
	Call     string `json:"call"`
}

// execLimits can only tighten what the server allows.
type execLimits struct {
	TimeoutMS   int64 `json:"timeout_ms"`
	MaxMemoryMB int64 `json:"max_memory_mb"`
}

func (q *request) exec() answer {
	if !q.s.config.Exec {
		return no(refuse(http.StatusNotFound, "exec", "", "this server runs no code of callers; mayfly serve --exec lets it"))
	}
	var in execRequest
	if refused := q.readWork(&in); refused != nil {
		return no(refused)
	}
	limits, refused := in.Limits.within(q.s.config.ExecLimits)
	if refused != nil {
		return no(refused)
	}
	globals, refused := q.globals(in)
	if refused != nil {
		return no(refused)
	}
	language := in.Language
	if language == "" {
		language = runtime.Python
	}
	args, err := runtime.ExecArgs(language, in.Code, globals, in.digest)
	if err != nil {
		return no(refuse(http.StatusBadRequest, "bad_request", "/language", "%v", err))
	}
	call := callRequest{Args: jsontext.Value(args), Run: in.Run, Approval: in.Approval, Call: in.Call}
	return q.calling(call, false, []string{runtime.ExecTool}, func(ctx context.Context, c runtime.Call) (runtime.Result, error) {
		c.Tool = runtime.ExecTool
		return q.s.rt.CallCode(ctx, c, runtime.CodeInput{Globals: globals, Limits: limits})
	})
}

// within gives the limits of a call, of which the server's are the most.
func (l execLimits) within(most sandbox.Limits) (sandbox.Limits, *refused) {
	if l.TimeoutMS != 0 {
		d := time.Duration(l.TimeoutMS) * time.Millisecond
		if l.TimeoutMS < 1 || l.TimeoutMS > most.Timeout.Milliseconds() {
			return most, refuse(http.StatusBadRequest, "bad_request", "/limits/timeout_ms", "the timeout is from 1 to %d ms here", most.Timeout.Milliseconds())
		}
		most.Timeout = d
	}
	if l.MaxMemoryMB != 0 {
		if l.MaxMemoryMB < 2 || uint64(l.MaxMemoryMB) > most.MaxMemory>>20 {
			return most, refuse(http.StatusBadRequest, "bad_request", "/limits/max_memory_mb", "the memory is from 2 to %d MB here", most.MaxMemory>>20)
		}
		most.MaxMemory = uint64(l.MaxMemoryMB) << 20
	}
	return most, nil
}

// digest stands for a value where a person approves a call.
func (in execRequest) digest(value any) string {
	text, ok := value.(sandbox.RawJSON)
	if !ok {
		// A table of what was read: the same text gives the same.
		encoded, err := json.Marshal(value, json.Deterministic(true))
		if err != nil {
			return ""
		}
		text = encoded
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
