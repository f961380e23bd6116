package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/sandbox"
)

// ExecName is the name under which [runtime.ExecTool] is offered. Some clients
// take no dot in a name.
const ExecName = "mayfly_exec"

const execDescription = "Run Python or JavaScript code in a fresh sandbox. " +
	"The value is that of the last statement, if it is an expression. The members of globals are bound as variables. " +
	"JavaScript may await at its top level; integers beyond 2^53 are BigInt."

const execSchema = `{"type":"object","properties":{` +
	`"code":{"type":"string","description":"The source text."},` +
	`"language":{"enum":["python","js"],"default":"python","description":"What the source is written in."},` +
	`"globals":{"type":"object","description":"Variables for the code, by name; a list of objects becomes a list of dicts, or an array of objects."}},` +
	`"required":["code"],"additionalProperties":false}`

// execArgs makes the arguments of [runtime.ExecTool], and the globals, from what
// a client sent. What the governor sees, and a person approves, is the code and a
// digest of each global.
func execArgs(args []byte) (described sandbox.RawJSON, globals map[string]any, err error) {
	var given struct {
		Code     *string                   `json:"code"`
		Language *runtime.Language         `json:"language"`
		Globals  map[string]jsontext.Value `json:"globals"`
	}
	if err := json.Unmarshal(args, &given, json.RejectUnknownMembers(true)); err != nil {
		return nil, nil, err
	}
	if given.Code == nil {
		return nil, nil, errors.New("there is no code")
	}
	language := runtime.Python
	if given.Language != nil {
		language = *given.Language
	}
	globals = make(map[string]any, len(given.Globals))
	for name, value := range given.Globals {
		globals[name] = sandbox.RawJSON(value)
	}
	described, err = runtime.ExecArgs(language, *given.Code, globals, func(v any) string {
		raw, _ := v.(sandbox.RawJSON) // all of them are
		sum := sha256.Sum256(raw)
		return hex.EncodeToString(sum[:])
	})
	return described, globals, err
}
