package mcp

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mayfly-run/mayfly/governor"
	"github.com/mayfly-run/mayfly/runtime"
)

// The verbs of [SurfaceVerbs].
const (
	VerbSearch   = "tool_search"
	VerbDescribe = "tool_describe"
	VerbInvoke   = "tool_invoke"
)

func isVerb(name string) bool {
	return name == VerbSearch || name == VerbDescribe || name == VerbInvoke
}

// Bounds of a search.
const (
	defaultFound = 10
	maxFound     = 50
)

func (s *Session) addVerbs() {
	looks := Hints{ReadOnly: true, Idempotent: true}
	s.server.AddTool(&sdk.Tool{
		Name: VerbSearch, Title: title(VerbSearch), Annotations: looks.annotations(title(VerbSearch)),
		Description: "Find tools by words in their names and descriptions. Without words, all of them in order of their names.",
		InputSchema: jsontext.Value(fmt.Sprintf(`{"type":"object","properties":{`+
			`"query":{"type":"string","description":"Words to look for.","maxLength":%d},`+
			`"limit":{"type":"integer","minimum":1,"maximum":%d,"description":"How many to give. Default %d."}},"additionalProperties":false}`,
			maxQuery, maxFound, defaultFound)),
		OutputSchema: jsontext.Value(`{"type":"object","properties":{` +
			`"tools":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"description":{"type":"string"},` +
			`"side_effect":{"type":"string"},"risk":{"type":"string"}},"required":["name"]}},` +
			`"matches":{"type":"integer","description":"How many there are in all."}}}`),
	}, s.search)
	s.server.AddTool(&sdk.Tool{
		Name: VerbDescribe, Title: title(VerbDescribe), Annotations: looks.annotations(title(VerbDescribe)),
		Description:  "Show what a tool does and which arguments it takes.",
		InputSchema:  jsontext.Value(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"],"additionalProperties":false}`),
		OutputSchema: jsontext.Value(`{"type":"object","properties":{"name":{"type":"string"},"inputSchema":{"type":"object"}}}`),
	}, s.describe)
	s.server.AddTool(&sdk.Tool{
		Name: VerbInvoke, Title: title(VerbInvoke),
		// It can be any of the tools, so nothing better can be promised.
		Annotations: Hints{Destructive: true, OpenWorld: true}.annotations(title(VerbInvoke)),
		Description: "Call a tool. What is decided and reviewed is that tool with these arguments.",
		InputSchema: jsontext.Value(`{"type":"object","properties":{"name":{"type":"string"},` +
			`"arguments":{"type":"object","description":"As tool_describe says. Default: none."}},"required":["name"],"additionalProperties":false}`),
	}, s.invoke)
}

func (s *Session) search(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	var args struct {
		Query string `json:"query"`
		Limit *int   `json:"limit"`
	}
	if why := readVerb(req, &args); why != "" {
		return failed(badVerb(VerbSearch, why)), nil
	}
	limit := defaultFound
	if args.Limit != nil {
		limit = *args.Limit
	}
	if limit < 1 || limit > maxFound || len(args.Query) > maxQuery {
		return failed(badVerb(VerbSearch, fmt.Sprintf("limit is from 1 to %d, and query has at most %d bytes", maxFound, maxQuery))), nil
	}
	leave, ok := s.config.Room.Act(ctx)
	if !ok {
		return s.result(VerbSearch, busy(ctx), nil), nil
	}
	defer leave()
	tools, err := s.offered(ctx)
	if err != nil {
		return nil, s.broken("search tools", err)
	}
	found := find(tools, args.Query)
	shown := searchResult{Tools: []foundTool{}, Matches: len(found)}
	for _, t := range found[:min(limit, len(found))] {
		spec := t.manifest.Spec
		shown.Tools = append(shown.Tools, foundTool{t.name, shorten(t.wire.Description), string(spec.SideEffect), string(spec.Risk)})
	}
	return structured(shown)
}

// searchResult is what tool_search gives.
type searchResult struct {
	Tools   []foundTool `json:"tools"`
	Matches int         `json:"matches"`
}

type foundTool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	SideEffect  string `json:"side_effect"`
	Risk        string `json:"risk"`
}

func (s *Session) describe(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	var args struct {
		Name *string `json:"name"`
	}
	if why := readVerb(req, &args); why != "" || args.Name == nil {
		return failed(badVerb(VerbDescribe, "name is required, and nothing else is taken")), nil
	}
	leave, ok := s.config.Room.Act(ctx)
	if !ok {
		return s.result(VerbDescribe, busy(ctx), nil), nil
	}
	defer leave()
	tools, err := s.offered(ctx)
	if err != nil {
		return nil, s.broken("describe a tool", err)
	}
	for _, t := range tools {
		if t.name == *args.Name {
			return structured(t.wire)
		}
	}
	return failed(problem{
		Outcome: runtime.Denied, Tool: VerbDescribe, Step: string(governor.StepRegistry), Code: string(governor.CodeToolUnknown),
		Reason: "this run has no tool of that name", Next: "look with tool_search", Run: s.run,
	}), nil
}

func (s *Session) invoke(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	var args struct {
		Name      *string        `json:"name"`
		Arguments jsontext.Value `json:"arguments"`
	}
	if why := readVerb(req, &args); why != "" || args.Name == nil {
		return failed(badVerb(VerbInvoke, "name is required, arguments may follow, and nothing else is taken")), nil
	}
	return s.call(ctx, req, *args.Name, args.Arguments, canAsk(req))
}

// readVerb reads the arguments of a verb and says what is wrong with them.
func readVerb(req *sdk.CallToolRequest, into any) string {
	text := []byte(req.Params.Arguments)
	if len(text) == 0 {
		text = []byte("{}")
	}
	if err := json.Unmarshal(text, into, json.RejectUnknownMembers(true)); err != nil {
		return "the arguments do not fit"
	}
	return ""
}

// badVerb is the problem with the arguments of a verb itself.
func badVerb(verb, why string) problem {
	return problem{
		Outcome: runtime.InvalidArguments, Tool: verb, Step: string(governor.StepSchema), Code: string(governor.CodeSchemaInvalid), Reason: why,
		Next: runtime.InvalidArguments.Next(),
	}
}

// structured is a result of the server's own.
func structured(v any) (*sdk.CallToolResult, error) {
	body, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("write a result: %w", err)
	}
	return &sdk.CallToolResult{Content: []sdk.Content{text(string(body))}, StructuredContent: jsontext.Value(body)}, nil
}
