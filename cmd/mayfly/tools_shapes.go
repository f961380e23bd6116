package main

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mayfly-run/mayfly/internal/canonjson"
	"github.com/mayfly-run/mayfly/manifests"
	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/runtime/mcp"
)

// The shapes in which APIs take tools. Each is made from Tool.Definition, the
// record that calls are checked against.

// apiRules are what an API refuses though the format of manifests allows it.
type apiRules struct {
	api   string
	name  *regexp.Regexp // of a tool
	words string         // what name asks for
	root  []string       // keywords that must not stand at the top of a schema
}

var (
	openAIRules = apiRules{
		api: "OpenAI", name: regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`), words: "at most 64 letters, digits, _ and -",
		root: []string{"allOf", "anyOf", "enum", "not", "oneOf"},
	}
	anthropicRules = apiRules{
		api: "Anthropic", name: regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`), words: "at most 128 letters, digits, _ and -",
		root: []string{"allOf", "anyOf", "oneOf"},
	}
	mcpRules = apiRules{api: "MCP", name: regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,128}$`), words: "at most 128 letters, digits, _, . and -"}
)

// check says why the API would refuse the tool, and with it the whole list.
func (r apiRules) check(t *manifests.Tool) error {
	var errs []error
	if r.name != nil && !r.name.MatchString(t.Metadata.Name) {
		errs = append(errs, usagef("%s: %s takes names of %s only; name the tools that are wanted, or rename it", t.Metadata.Name, r.api, r.words))
	}
	for _, keyword := range r.root {
		if _, ok := t.Spec.InputSchema[keyword]; ok {
			errs = append(errs, usagef("%s: %s takes no %s at the top of input_schema; name the tools that are wanted, or move it into a property", t.Metadata.Name, r.api, keyword))
		}
	}
	return errors.Join(errs...)
}

// inputSchema is a tool's schema as JSON.
func inputSchema(t *manifests.Tool) (jsontext.Value, error) {
	text, err := canonjson.Append(nil, t.Definition().InputSchema)
	return jsontext.Value(text), err
}

type plainList struct {
	Tools []plainTool `json:"tools"`
}

type plainTool struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	InputSchema jsontext.Value `json:"input_schema"`
	Digest      string         `json:"definition_digest"`
}

func newPlainTool(t *manifests.Tool) (plainTool, error) {
	schema, err := inputSchema(t)
	d := t.Definition()
	return plainTool{d.Name, runtime.Describe(t), schema, t.Digest()}, err
}

type openAITool struct {
	Type     string         `json:"type"`
	Function openAIFunction `json:"function"`
}

type openAIFunction struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitzero"`
	Parameters  jsontext.Value `json:"parameters"`
}

func newOpenAITool(t *manifests.Tool) (openAITool, error) {
	schema, err := inputSchema(t)
	d := t.Definition()
	return openAITool{"function", openAIFunction{d.Name, runtime.Describe(t), schema}}, err
}

type anthropicTool struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitzero"`
	InputSchema jsontext.Value `json:"input_schema"`
}

func newAnthropicTool(t *manifests.Tool) (anthropicTool, error) {
	schema, err := inputSchema(t)
	d := t.Definition()
	return anthropicTool{d.Name, runtime.Describe(t), schema}, err
}

type mcpList struct {
	Tools []mcpTool `json:"tools"`
}

type mcpTool struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitzero"`
	InputSchema jsontext.Value `json:"inputSchema"`
	Annotations mcp.Hints      `json:"annotations"`
}

func newMCPTool(t *manifests.Tool) (mcpTool, error) {
	schema, err := inputSchema(t)
	d := t.Definition()
	return mcpTool{d.Name, runtime.Describe(t), schema, mcp.HintsOf(t)}, err
}

// document prints a value as JSON over several lines, for files that people
// look at too.
func (o output) document(v any) error {
	text, err := json.Marshal(v, jsontext.WithIndent("  "), json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return o.json(text)
}
