package runtime

import (
	_ "embed"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/mayfly-run/mayfly/manifests"
	"github.com/mayfly-run/mayfly/sandbox"
)

//go:embed exec.tool.yaml
var execManifest []byte

// ExecTool is the name of the built-in tool that mayfly exec calls.
const ExecTool = "mayfly.exec"

// ExecManifest gives the built-in tool's manifest.
func ExecManifest() (*manifests.Tool, error) {
	docs, err := manifests.Parse("mayfly.exec.yaml", execManifest)
	if err != nil {
		return nil, fmt.Errorf("BUG(mayfly): the built-in manifest: %w", err)
	}
	return docs.Tools[0], nil
}

// execInput describes one global variable to the governor.
type execInput struct {
	Kind    string   `json:"kind"`
	Rows    *int     `json:"rows,omitzero"`
	Columns []string `json:"columns,omitzero"`
	Bytes   *int     `json:"bytes,omitzero"`
	SHA256  string   `json:"sha256,omitzero"`
}

// ExecArgs makes the arguments of a call of [ExecTool]: the code, and what the
// globals are, without their values. digest gives the SHA-256, in hex, that
// stands for a value, so that a person who approves the call approves it with
// these values only; nil leaves that out, for calls that no one approves. It
// fails for text that is not UTF-8.
func ExecArgs(code string, globals map[string]any, digest func(value any) string) (sandbox.RawJSON, error) {
	if !utf8.ValidString(code) {
		return nil, errors.New("the code is not valid UTF-8")
	}
	inputs := make(map[string]execInput, len(globals))
	for name, value := range globals {
		in := execInput{Kind: "json"}
		switch v := value.(type) {
		case *sandbox.Table:
			n := len(v.Rows)
			in = execInput{Kind: "table", Rows: &n, Columns: v.Columns}
		case sandbox.RawJSON:
			n := len(v)
			in.Bytes = &n
		}
		if digest != nil {
			in.SHA256 = digest(value)
		}
		inputs[name] = in
	}
	args := map[string]any{"code": code}
	if len(inputs) > 0 {
		args["inputs"] = inputs
	}
	text, err := json.Marshal(args, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("the names of the globals: %w", err)
	}
	return text, nil
}
