package runtime

import (
	"bytes"
	"context"
	"errors"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mayfly-run/mayfly/guests"
	"github.com/mayfly-run/mayfly/manifests"
	"github.com/mayfly-run/mayfly/sandbox"
)

// CodeInput is what [Runtime.CallCode] adds to a call of a code tool.
type CodeInput struct {
	// Name is what tracebacks call the source. Default: the guest's.
	Name string
	// Globals are bound as they are, without a detour through JSON: see
	// [sandbox.Spec]. The governor sees their names and kinds.
	Globals map[string]any
	// Limits can only tighten those of the tool; zero fields keep them.
	Limits sandbox.Limits
	// Deterministic fixes randomness and clock; see [sandbox.Spec].
	Deterministic *sandbox.Deterministic
	// HostCalls lets the code call the run's other tools.
	HostCalls bool
}

// code reaches code tools. Each guest is opened when it is first needed.
type code struct {
	open func(ctx context.Context, guest string) (sandbox.Sandbox, error)

	mu    sync.Mutex
	boxes map[string]sandbox.Sandbox
}

// prepare opens the guest, which takes seconds the first time on a machine: a
// tool whose own timeout is shorter would never run.
func (c *code) prepare(ctx context.Context, t *manifests.Tool) *reply {
	_, err := c.box(ctx, t.Spec.Sandbox.Guest())
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return &reply{outcome: Cancelled, failure: &Failure{Type: "cancelled", Message: "the call was given up before it started"}}
	}
	// A program without the guest stays so.
	return &reply{outcome: Unavailable, notSetUp: errors.Is(err, guests.ErrMissing), failure: &Failure{Type: "Unavailable", Message: err.Error()}}
}

func (c *code) invoke(ctx context.Context, in invocation) reply {
	box, err := c.box(ctx, in.tool.Spec.Sandbox.Guest())
	if err != nil {
		return reply{outcome: Unavailable, failure: &Failure{Type: "Unavailable", Message: err.Error()}}
	}
	result, err := box.Run(ctx, codeSpec(in))
	if err != nil {
		return reply{outcome: Internal, started: true, failure: &Failure{Type: "internal", Message: err.Error()}}
	}
	r := reply{outcome: codeOutcome(result.Status), started: result.Status != sandbox.StatusBusy && result.Status != sandbox.StatusInvalid, sandbox: &result}
	if result.Error != nil {
		r.failure = &Failure{Type: result.Error.Type, Message: result.Error.Message}
	}
	if r.outcome == InvalidArguments || r.outcome == Busy {
		return r
	}
	if r.json, err = codeJSON(result); err != nil {
		return reply{outcome: Internal, started: true, failure: &Failure{Type: "internal", Message: err.Error()}}
	}
	return r
}

// box gives the sandbox of a guest.
func (c *code) box(ctx context.Context, guest string) (sandbox.Sandbox, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if box, ok := c.boxes[guest]; ok {
		return box, nil
	}
	box, err := c.open(ctx, guest)
	if err != nil {
		return nil, err
	}
	c.boxes[guest] = box
	return box, nil
}

func (c *code) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var first error
	for _, box := range c.boxes {
		if err := box.Close(); first == nil {
			first = err
		}
	}
	c.boxes = nil
	return first
}

// codeSpec is the sandbox's part of a call: the code, and the other arguments
// as global variables.
func codeSpec(in invocation) sandbox.Spec {
	spec := sandbox.Spec{
		Limits:   codeLimits(in.tool.Spec.Limits),
		HostCall: in.hostCall,
	}
	args, _ := in.args.Tree().(map[string]any)
	spec.Code, _ = args[in.tool.Spec.CodeArg].(string)
	spec.Globals = make(map[string]any, len(args))
	for name, value := range args {
		if name != in.tool.Spec.CodeArg {
			spec.Globals[name] = value
		}
	}
	// Both hold; the sandbox says which when it is used up.
	least(&spec.Limits.Timeout, in.tool.Spec.Timeout)
	if in.code != nil {
		spec.Name, spec.Globals, spec.Deterministic = in.code.Name, in.code.Globals, in.code.Deterministic
		spec.Limits = tighter(spec.Limits, in.code.Limits)
		if !in.code.HostCalls {
			spec.HostCall = nil
		}
	}
	return spec
}

// codeLimits are a manifest's limits in the sandbox's terms.
func codeLimits(l manifests.CodeLimits) sandbox.Limits {
	return sandbox.Limits{
		Timeout:          l.Timeout,
		MaxMemory:        uint64(l.MaxMemoryMB) << 20,
		MaxOutput:        l.MaxOutputBytes,
		MaxFuel:          l.MaxFuel,
		MaxValue:         l.MaxValueBytes,
		MaxSource:        l.MaxSourceBytes,
		MaxDepth:         int(l.MaxDepth),
		MaxFiles:         int(l.MaxFiles),
		MaxFileBytes:     l.MaxFileBytes,
		MaxArtifacts:     int(l.MaxArtifacts),
		MaxArtifactBytes: l.MaxArtifactBytes,
		MaxHostCalls:     int(l.MaxHostCalls),
	}
}

// tighter gives the smaller of each limit. A zero field of the tool's stands
// for the default, one of the call's for none of its own.
func tighter(tool, call sandbox.Limits) sandbox.Limits {
	l := tool.WithDefaults()
	least(&l.Timeout, call.Timeout)
	least(&l.MaxMemory, call.MaxMemory)
	least(&l.MaxOutput, call.MaxOutput)
	least(&l.MaxValue, call.MaxValue)
	least(&l.MaxSource, call.MaxSource)
	least(&l.MaxDepth, call.MaxDepth)
	least(&l.MaxFiles, call.MaxFiles)
	least(&l.MaxFileBytes, call.MaxFileBytes)
	least(&l.MaxHostCalls, call.MaxHostCalls)
	least(&l.MaxArtifacts, call.MaxArtifacts)
	least(&l.MaxArtifactBytes, call.MaxArtifactBytes)
	if l.MaxFuel == 0 {
		l.MaxFuel = call.MaxFuel
	}
	least(&l.MaxFuel, call.MaxFuel)
	return l
}

func least[T ~int | ~int64 | ~uint64](limit *T, other T) {
	if other > 0 {
		*limit = min(*limit, other)
	}
}

// codeOutcome is the outcome for a sandbox's status.
func codeOutcome(s sandbox.Status) Outcome {
	switch s {
	case sandbox.StatusOK:
		return OK
	case sandbox.StatusError, sandbox.StatusCallLimit, sandbox.StatusCrashed:
		return ToolError
	case sandbox.StatusTimeout:
		return Timeout
	case sandbox.StatusMemoryLimit, sandbox.StatusStackLimit:
		return MemoryLimit
	case sandbox.StatusOutputLimit:
		return OutputLimit
	case sandbox.StatusFuelLimit:
		return FuelLimit
	case sandbox.StatusCancelled:
		return Cancelled
	case sandbox.StatusBusy:
		return Busy
	case sandbox.StatusInvalid:
		return InvalidArguments
	}
	return Internal
}

// codeResult is the shape of a code tool's result.
type codeResult struct {
	Value     jsontext.Value     `json:"value,omitzero"`
	Error     *sandbox.Error     `json:"error,omitzero"`
	Stdout    string             `json:"stdout"`
	Stderr    string             `json:"stderr,omitzero"`
	Truncated *sandbox.Truncated `json:"truncated,omitzero"`
}

// codeJSON makes the result that the governor's last step gets.
func codeJSON(r sandbox.Result) ([]byte, error) {
	text := func(b []byte) string { return string(bytes.ToValidUTF8(b, []byte("\uFFFD"))) }
	return json.Marshal(codeResult{
		Value: jsontext.Value(r.Value), Error: r.Error,
		Stdout: text(r.Stdout), Stderr: text(r.Stderr), Truncated: r.Truncated,
	})
}

// valueOf gives the value in a code tool's result; nil if there is none.
func valueOf(text []byte) []byte {
	var r struct {
		Value jsontext.Value `json:"value"`
		Rest  jsontext.Value `json:",inline"`
	}
	if json.Unmarshal(text, &r) != nil {
		return nil
	}
	return r.Value
}
