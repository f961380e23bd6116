package runtime

import (
	_ "embed"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/mayfly-run/mayfly/governor"
	"github.com/mayfly-run/mayfly/manifests"
	"github.com/mayfly-run/mayfly/sandbox"
)

//go:embed exec.tool.yaml
var execManifest []byte

// ExecTool is the name of the built-in tool that mayfly exec calls.
const ExecTool = "mayfly.exec"

// Language is what the code of a call of [ExecTool] is written in.
type Language string

// The languages.
const (
	Python     Language = "python"
	JavaScript Language = "js"
)

// Guest is the name of the guest that runs code in the language; "" for an
// unknown one.
func (l Language) Guest() string {
	switch l {
	case Python:
		return "python"
	case JavaScript:
		return "js"
	}
	return ""
}

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

// ExecArgs makes the arguments of a call of [ExecTool]: the code, its language,
// and what the globals are, without their values. digest gives the SHA-256, in
// hex, that stands for a value, so that a person who approves the call approves it with
// these values only; nil leaves that out, for calls that no one approves. It
// fails for text that is not UTF-8.
func ExecArgs(language Language, code string, globals map[string]any, digest func(value any) string) (sandbox.RawJSON, error) {
	if language.Guest() == "" {
		return nil, fmt.Errorf("the language %q is neither python nor js", language)
	}
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
	if language != Python {
		args["language"] = language
	}
	if len(inputs) > 0 {
		args["inputs"] = inputs
	}
	text, err := json.Marshal(args, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("the names of the globals: %w", err)
	}
	return text, nil
}

// execLanguage gives what the code of a call is written in, if the call is one
// of [ExecTool]; else "". The governor has seen it among the arguments.
func execLanguage(tool *manifests.Tool, args governor.Arguments) Language {
	if tool.Metadata.Name != ExecTool {
		return ""
	}
	tree, _ := args.Tree().(map[string]any)
	if language, ok := tree["language"].(string); ok {
		return Language(language)
	}
	return Python
}

// execIn gives the tool as it is for a call: [ExecTool] runs in the guest of the
// language that the call is in.
func execIn(tool *manifests.Tool, args governor.Arguments) *manifests.Tool {
	language := execLanguage(tool, args)
	if language == "" || language == Python {
		return tool
	}
	t := *tool
	t.Spec.Sandbox = manifests.Sandbox(language.Guest())
	return &t
}
