package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/mayfly-run/mayfly/sandbox"
	"github.com/mayfly-run/mayfly/sandbox/wasm"
)

// guestCase is one case of guests/NAME/testdata/cases; the README in the folder
// of Python's says what its files mean.
type guestCase map[string]string

// guestsWithCases has, for each guest, the ending of its code.
var guestsWithCases = []struct {
	name, ending string
	open         func(testing.TB) *wasm.Engine
}{
	{"python", "py", python},
	{"js", "js", javaScript},
}

// TestGuestCases runs what each guest's folder says about its semantics.
func TestGuestCases(t *testing.T) {
	for _, guest := range guestsWithCases {
		files, err := filepath.Glob("../guests/" + guest.name + "/testdata/cases/*.txtar")
		if err != nil || len(files) == 0 {
			t.Fatalf("%d files of cases, %v", len(files), err)
		}
		for _, file := range files {
			t.Run(guest.name+"/"+strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
				box := guest.open(t)
				for _, c := range readGuestCases(t, file) {
					t.Run(c["NAME"], func(t *testing.T) {
						result, err := box.Run(t.Context(), c.spec(t, guest.ending))
						if err != nil {
							t.Fatal(err)
						}
						c.check(t, result)
					})
				}
			})
		}
	}
}

func readGuestCases(t *testing.T, file string) []guestCase {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var cases []guestCase
	for _, f := range archive.Files {
		name, part, ok := strings.Cut(f.Name, ".")
		if !ok {
			t.Fatalf("%s: the name %q has no ending", file, f.Name)
		}
		if len(cases) == 0 || cases[len(cases)-1]["NAME"] != name {
			cases = append(cases, guestCase{"NAME": name})
		}
		cases[len(cases)-1][part] = string(f.Data)
	}
	return cases
}

func (c guestCase) spec(t *testing.T, ending string) sandbox.Spec {
	t.Helper()
	spec := sandbox.Spec{Code: c[ending]}
	if quoted, ok := c["quoted"]; ok {
		code, err := strconv.Unquote(strings.TrimSpace(quoted))
		if err != nil {
			t.Fatal("the quoted code:", err)
		}
		spec.Code = code
	}
	if args, ok := c["args"]; ok {
		var raw map[string]json.RawMessage
		if err := json.Unmarshal([]byte(args), &raw); err != nil {
			t.Fatal("the arguments:", err)
		}
		spec.Globals = make(map[string]any)
		for name, text := range raw {
			spec.Globals[name] = sandbox.RawJSON(text)
		}
	}
	for line := range strings.Lines(c["options"]) {
		switch name, value, _ := strings.Cut(strings.TrimSpace(line), " "); name {
		case "max_depth":
			depth, err := strconv.Atoi(value)
			if err != nil {
				t.Fatal(err)
			}
			spec.Limits.MaxDepth = depth
		case "name":
			spec.Name = value
		case "host_calls":
			spec.HostCall = echoTool
		default:
			t.Fatalf("there is no option %q", line)
		}
	}
	return spec
}

func echoTool(_ context.Context, tool string, args sandbox.RawJSON) (sandbox.RawJSON, error) {
	switch tool {
	case "echo":
		return args, nil
	case "fail":
		return nil, errors.New("it failed")
	}
	return nil, fmt.Errorf("there is no tool %s", tool)
}

func (c guestCase) check(t *testing.T, r sandbox.Result) {
	t.Helper()
	same := func(what, got, want string) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	same("standard output", string(r.Stdout), c["stdout"])
	same("standard error", string(r.Stderr), c["stderr"])
	if value, ok := c["value"]; ok {
		if r.Status != sandbox.StatusOK {
			t.Fatalf("status %q, error %+v", r.Status, r.Error)
		}
		same("value", string(r.Value), strings.TrimSuffix(value, "\n"))
		return
	}
	wanted, ok := c["error"]
	if !ok {
		t.Fatal("the case says neither value nor error")
	}
	if r.Error == nil {
		t.Fatalf("status %q, value %s, want an error", r.Status, r.Value)
	}
	same("status", string(r.Status), string(statusOfKind(wanted)))
	for line := range strings.Lines(wanted) {
		switch field, want, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " "); field {
		case "kind":
		case "type":
			same("type", r.Error.Type, want)
		case "message":
			same("message", r.Error.Message, want)
		case "message~":
			if !strings.Contains(r.Error.Message, want) {
				t.Errorf("the message %.300q lacks %q", r.Error.Message, want)
			}
		case "line":
			same("line", strconv.Itoa(r.Error.Line), want)
		case "source":
			same("source", r.Error.Source, want)
		case "path":
			same("path", r.Error.Path, want)
		default:
			t.Fatalf("an error has no field %q", field)
		}
	}
	if traceback, ok := c["traceback"]; ok {
		same("traceback", r.Error.Traceback, traceback)
	}
}

func statusOfKind(wanted string) sandbox.Status {
	if strings.HasPrefix(wanted, "kind 3\n") {
		return sandbox.StatusMemoryLimit
	}
	return sandbox.StatusError
}
