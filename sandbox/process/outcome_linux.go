//go:build amd64 || arm64

package process

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/mayfly-run/mayfly/sandbox"
)

// result puts together how the call ended.
func (c *call) result(r *report, s *streams, cause sandbox.Status) Result {
	s.mu.Lock()
	defer s.mu.Unlock()
	result := Result{ExitCode: -1}
	if r.exited {
		result.ExitCode, result.Signal = r.code, r.signal
	}
	result.Stdout, result.Stderr = s.stdout.text, s.stderr.text
	result.Usage = sandbox.Usage{CPU: r.cpu, PeakMemory: r.peak, Stdout: s.stdout.total, Stderr: s.stderr.total, Value: s.value.total}
	cut := sandbox.Truncated{Stdout: over(s.stdout), Stderr: over(s.stderr), Value: over(s.value)}
	if cut != (sandbox.Truncated{}) {
		result.Truncated = &cut
	}
	if r.started {
		result.Enforced = c.enforced(r)
	}
	result.Status, result.Error = c.status(r, s, cause)
	switch result.Status {
	case sandbox.StatusOK:
		result.Value = s.value.text
		if len(result.Value) == 0 {
			result.Value = sandbox.RawJSON("null")
		}
	case sandbox.StatusOutputLimit:
		if cut.Value > 0 {
			result.ValuePrefix = wholeRunes(s.value.text)
		}
	}
	return result
}

// over is the size of a stream that was cut, else 0.
func over(s stream) int64 {
	if s.total > int64(len(s.text)) {
		return s.total
	}
	return 0
}

// wholeRunes leaves out a character that was cut in two.
func wholeRunes(text []byte) string {
	for i := len(text) - 1; i >= 0 && i > len(text)-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:]) {
				text = text[:i]
			}
			break
		}
	}
	return string(bytes.ToValidUTF8(text, []byte("\uFFFD")))
}

func (c *call) status(r *report, s *streams, cause sandbox.Status) (sandbox.Status, *sandbox.Error) {
	fault := func(status sandbox.Status, kind, format string, args ...any) (sandbox.Status, *sandbox.Error) {
		return status, &sandbox.Error{Type: kind, Message: fmt.Sprintf(format, args...)}
	}
	limits := c.spec.Limits
	switch {
	case r.layer == layerDir:
		status, e := fault(sandbox.StatusInvalid, string(sandbox.StatusInvalid), "cannot be entered by the program's user: %s", r.reason)
		e.Path = "/dir"
		return status, e
	case r.layer == layerExec:
		status, e := fault(sandbox.StatusInvalid, string(sandbox.StatusInvalid), "cannot be started (%s); the program, its interpreter and its loader must be granted for execution, and open to the program's user", r.reason)
		e.Path = "/command"
		return status, e
	case s.value.total > limits.MaxValue:
		return fault(sandbox.StatusOutputLimit, string(sandbox.StatusOutputLimit), "the value is larger than %d bytes", limits.MaxValue)
	case cause == sandbox.StatusMemoryLimit:
		return fault(cause, string(cause), "the processes of the call needed more than %d bytes of memory together", limits.MaxTreeMemory)
	case cause == sandbox.StatusTimeout && limits.MaxCPU > 0 && r.cpu >= limits.MaxCPU:
		return fault(cause, string(cause), "the processes of the call used more than %v of processor time together", limits.MaxCPU)
	case cause == sandbox.StatusTimeout:
		return fault(cause, string(cause), "the call ran longer than %v", limits.Timeout)
	case cause == sandbox.StatusOutputLimit:
		return fault(cause, string(cause), "the program wrote more than %d times the %d bytes that are kept", sandbox.FloodFactor, limits.MaxOutput)
	case cause != "":
		return fault(cause, string(cause), "the caller gave the call up")
	case !r.exited:
		return fault(sandbox.StatusCrashed, "keeper", "the keeper of the call ended before the program did")
	case r.signal != "":
		return fault(sandbox.StatusError, "signal", "the program was ended by %s", r.signal)
	case r.code != 0:
		return fault(sandbox.StatusError, "exit", "the program ended with code %d", r.code)
	}
	if len(s.value.text) > 0 || c.spec.Output == OutputStdout {
		if err := checkJSON(s.value.text); err != nil {
			return fault(sandbox.StatusError, "value", "the program's value is not one JSON value: %v", err)
		}
	}
	return sandbox.StatusOK, nil
}

// enforced is what the keeper reported, as layers.
func (c *call) enforced(r *report) Enforced {
	p := c.policy
	e := Enforced{LandlockABI: p.ABI, UID: p.UID, Missing: r.missing}
	have := func(layer Layer, there bool) {
		if there {
			e.Layers = append(e.Layers, layer)
		} else {
			e.Missing = append(e.Missing, layer)
		}
	}
	if have(LayerCgroup, c.group != nil); c.group != nil {
		e.Cgroup = c.group.version
	}
	have(LayerNamespaces, p.Spaces)
	have(LayerFileSystem, p.Spaces)
	if !p.Spaces {
		have(LayerProc, false)
	} else if len(r.missing) == 0 {
		have(LayerProc, true)
	}
	for _, layer := range []Layer{LayerSession, LayerLimits} {
		have(layer, true)
	}
	have(LayerProcesses, p.Processes > 0)
	for _, layer := range []Layer{LayerUser, LayerNoNewPrivs, LayerLandlock, LayerSeccomp, LayerDescriptors} {
		have(layer, true)
	}
	return e
}
