package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mayfly-run/mayfly/sandbox"
)

// fake is a sandbox whose calls do what the first word of the code says:
//
//	echo          the value says what the call was given
//	{…}           the result is this JSON
//	wait PIPE     writes the process ID to a named pipe, then waits for the end
//	              of the context
//	break         the host fails
//	no-close      as echo, but Close fails afterwards
type fake struct{ closeErr error }

func openFake(_ context.Context, config openConfig) (opened, error) {
	if config.cacheDir == "refuse" {
		return opened{}, errors.New("open sandbox: no guest in this program")
	}
	return opened{
		Sandbox:       &fake{},
		guestDigest:   "guest-digest",
		imageDigest:   "image-digest",
		engineVersion: "fake 1",
	}, nil
}

func (f *fake) Close() error { return f.closeErr }

func (f *fake) Run(ctx context.Context, spec sandbox.Spec) (sandbox.Result, error) {
	word, rest, _ := strings.Cut(spec.Code, " ")
	switch {
	case word == "break":
		return sandbox.Result{}, errors.New("run: the machine is on fire")
	case word == "no-close":
		f.closeErr = errors.New("stuck")
		fallthrough
	case strings.TrimSpace(word) == "echo":
		value, err := json.Marshal(describe(spec), json.Deterministic(true))
		return sandbox.Result{Status: sandbox.StatusOK, Value: value}, err
	case word == "wait":
		if err := os.WriteFile(strings.TrimSpace(rest), fmt.Append(nil, os.Getpid()), 0); err != nil {
			return sandbox.Result{}, err
		}
		<-ctx.Done()
		return sandbox.Result{
			Status: sandbox.StatusCancelled,
			Stdout: []byte("written before\n"),
			Error:  &sandbox.Error{Type: "cancelled", Message: "the call was cancelled"},
		}, nil
	case strings.HasPrefix(spec.Code, "{"):
		var r fakeResult
		if err := json.Unmarshal([]byte(spec.Code), &r, json.RejectUnknownMembers(true)); err != nil {
			return sandbox.Result{}, err
		}
		u := r.Usage
		return sandbox.Result{
			Status: r.Status, Value: sandbox.RawJSON(r.Value), ValuePrefix: r.Prefix, Error: r.Error,
			Stdout: r.Stdout, Stderr: r.Stderr, Truncated: r.Truncated,
			Usage: sandbox.Usage{
				Wall: time.Duration(u.Wall), CPU: time.Duration(u.CPU), Queued: time.Duration(u.Queued), Fuel: u.Fuel,
				PeakMemory: u.PeakMemory, Dirtied: u.Dirtied, Stdout: u.Stdout, Stderr: u.Stderr, Value: u.Value,
			},
		}, nil
	}
	return sandbox.Result{}, fmt.Errorf("the fake does not know %q", word)
}

// fakeResult spells a Result; Stdout and Stderr are base64.
type fakeResult struct {
	Status         sandbox.Status
	Value          jsontext.Value
	Prefix         string
	Error          *sandbox.Error
	Stdout, Stderr []byte
	Truncated      *sandbox.Truncated
	Usage          struct {
		Wall, CPU, Queued, Fuel, Stdout, Stderr, Value int64 // times in ns
		PeakMemory, Dirtied                            uint64
	}
}

// describe renders what a call was given.
func describe(spec sandbox.Spec) map[string]any {
	d := map[string]any{
		"name":   spec.Name,
		"code":   spec.Code,
		"limits": fmt.Sprintf("%v %d %d %d", spec.Limits.Timeout, spec.Limits.MaxMemory, spec.Limits.MaxOutput, spec.Limits.MaxFuel),
	}
	for _, name := range slices.Sorted(maps.Keys(spec.Globals)) {
		d["arg "+name] = kindAndValue(spec.Globals[name])
	}
	if det := spec.Deterministic; det != nil {
		d["deterministic"] = fmt.Sprintf("%d %s", det.Seed, det.Clock)
	}
	return d
}

func kindAndValue(v any) string {
	switch v := v.(type) {
	case *sandbox.Table:
		var b strings.Builder
		fmt.Fprintf(&b, "table %q", v.Columns)
		for _, row := range v.Rows {
			b.WriteString(" |")
			for _, cell := range row {
				b.WriteString(" " + kindAndValue(cell))
			}
		}
		return b.String()
	case sandbox.RawJSON:
		return "json " + string(v)
	case string:
		return fmt.Sprintf("%q", v)
	}
	return fmt.Sprintf("%T %v", v, v)
}
