package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mayfly-run/mayfly/manifests"
	"github.com/mayfly-run/mayfly/runtime/mcp"
)

// gatewayCommand makes allow-lists for gateways that stand in front of MCP
// servers themselves.
type gatewayCommand struct {
	MCP     gatewayMCPCommand     `cmd:"" name:"mcp" help:"An allow-list as JSON: servers, and the tools of each with their digests."`
	LiteLLM gatewayLiteLLMCommand `cmd:"" name:"litellm" help:"The mcp_servers of a LiteLLM proxy's configuration, with allowed_tools."`
}

// gatewayFlags are for both.
type gatewayFlags struct {
	harnessFlag
	JSON bool `name:"json" help:"Print a JSON object with the configuration and what was left out of it."`
}

const gatewayHelp = `A gateway lets a call through or does not; it knows nothing of runs, labels, approvals and budgets, and does nothing to results. So only those tools of MCP servers are listed whose calls Mayfly would let through whatever came before, and whose results it would hand on as they are. What is left out is named on standard error, with the reasons. Such tools are for clients of mayfly mcp, which a gateway can have behind it as well.

Example:

  `

type gatewayMCPCommand struct{ gatewayFlags }

func (gatewayMCPCommand) Help() string {
	return gatewayHelp + `mayfly gateway mcp > allow.json` + manifestExitCodes
}

type gatewayLiteLLMCommand struct{ gatewayFlags }

func (gatewayLiteLLMCommand) Help() string {
	return gatewayHelp + `mayfly gateway litellm >> config.yaml` + manifestExitCodes
}

func (c *gatewayMCPCommand) Run(p *process) error {
	return c.run(p, "mcp", func(l gatewayList) (any, []byte, error) {
		list, err := l.allowList()
		return list, nil, err
	})
}

func (c *gatewayLiteLLMCommand) Run(p *process) error {
	return c.run(p, "litellm", func(l gatewayList) (any, []byte, error) {
		config := l.liteLLM()
		text, err := config.yaml()
		return config, text, err
	})
}

// gatewayReport is what "gateway --json" prints.
type gatewayReport struct {
	Gateway  string         `json:"gateway"`
	Harness  string         `json:"harness"`
	Config   any            `json:"config"`
	Withheld []withheldTool `json:"withheld"`
}

// withheldTool is one that a gateway is not told of.
type withheldTool struct {
	Tool    string   `json:"tool"`
	Reasons []string `json:"reasons"`
}

// run makes a list, has shape turn it into a configuration, and prints that: as
// text, if it has one.
func (f gatewayFlags) run(p *process, gateway string, shape func(gatewayList) (config any, text []byte, err error)) error {
	file, set, err := f.load(p)
	if err != nil {
		return err
	}
	list, withheld := newGatewayList(set)
	config, text, err := shape(list)
	if err != nil {
		return err
	}
	if f.JSON {
		return p.stdout.object(gatewayReport{gateway, file, config, withheld})
	}
	for _, w := range withheld {
		p.stderr.note("%s is left out: %s", w.Tool, strings.Join(w.Reasons, "; "))
	}
	for _, name := range slices.Sorted(maps.Keys(list)) {
		if list[name].url == "" {
			p.stderr.note("the harness does not say where mcp://%s is; the gateway has to", name)
		}
	}
	if len(list) == 0 {
		p.stderr.note("no tool is left that a gateway can be told of")
	}
	if text != nil {
		return p.stdout.guest(text)
	}
	return p.stdout.document(config)
}

// gatewayList has the tools that a gateway may let through, by server.
type gatewayList map[string]gatewayServer

type gatewayServer struct {
	url   string // empty: the harness does not say
	tools []*manifests.Tool
}

func newGatewayList(set *manifests.Set) (gatewayList, []withheldTool) {
	list, withheld := gatewayList{}, []withheldTool{}
	for _, t := range set.Tools() {
		if isBuiltIn(t.Metadata.Name) {
			continue
		}
		if reasons := needsMayfly(set.Harness, t); len(reasons) > 0 {
			withheld = append(withheld, withheldTool{t.Metadata.Name, reasons})
			continue
		}
		name := strings.TrimPrefix(t.Spec.Server, "mcp://")
		server := list[name]
		if s, ok := set.Harness.MCPServer(t); ok {
			server.url = s.URL
		}
		server.tools = append(server.tools, t)
		list[name] = server
	}
	return list, withheld
}

// needsMayfly says why a gateway cannot stand in for the governor; nothing: it
// can.
func needsMayfly(h *manifests.Harness, t *manifests.Tool) []string {
	spec := t.Spec
	if spec.Transport != manifests.TransportMCP {
		return []string{fmt.Sprintf("it is a tool of Mayfly's own (%s), not of an MCP server", spec.Transport)}
	}
	if !spec.Enabled {
		return []string{"it is disabled"}
	}
	if !t.PinMatches() {
		return []string{"its definition is not the pinned one"}
	}
	var reasons []string
	add := func(is bool, why string) {
		if is {
			reasons = append(reasons, why)
		}
	}
	server, _ := h.MCPServer(t)
	add(server.Command != nil, "its server is a program, which Mayfly confines and a gateway does not")
	add(len(spec.Tenants) > 0, "it is not for every tenant")
	add(h.Policy != nil, "the policy decides on each call")
	asks := spec.Approval.When.Source != "" || h.Tools.Requires(spec.Risk)
	for _, task := range h.Tasks {
		asks = asks || slices.Contains(task.Approvals.Tools, t.Metadata.Name)
	}
	add(asks, "a person may have to approve a call")
	add(len(spec.Egress) > 0, "it can send data out, so that it counts what its run has seen")
	add(t.Private(), "it reads private data, which its run has to remember")
	add(spec.RateLimit != manifests.RateLimit{}, "its calls are counted for each principal or tenant")
	add(h.Budgets.MaxToolCalls > 0, "its calls are counted in a run's budget")
	add(h.Tools.Judge != nil, "a judge is asked about each call")
	add(spec.SideEffect.Writes(), "it changes something, which a run must not repeat blindly")
	add(len(spec.Output.Sanitize) > 0, "its results are to be sanitized")
	return reasons
}

// allowListJSON is a list for any gateway.
type allowListJSON struct {
	Servers map[string]allowedServer `json:"servers"`
}

type allowedServer struct {
	URL   string        `json:"url,omitzero"`
	Tools []allowedTool `json:"tools"`
}

// allowedTool has what a gateway needs to tell the tool from one that has
// changed.
type allowedTool struct {
	Name        string         `json:"name"`
	Version     string         `json:"version,omitzero"`
	Digest      string         `json:"definition_digest"`
	Pinned      bool           `json:"pinned"`
	Scopes      []string       `json:"scopes"`
	Description string         `json:"description"`
	InputSchema jsontext.Value `json:"inputSchema"`
	Annotations mcp.Hints      `json:"annotations"`
}

func (l gatewayList) allowList() (allowListJSON, error) {
	list := allowListJSON{Servers: make(map[string]allowedServer, len(l))}
	for name, s := range l {
		server := allowedServer{URL: s.url}
		for _, t := range s.tools {
			schema, err := inputSchema(t)
			if err != nil {
				return list, fmt.Errorf("describe %s: %w", t.Metadata.Name, err)
			}
			server.Tools = append(server.Tools, allowedTool{
				t.Metadata.Name, t.Metadata.Version, t.Digest(), t.Pinned(), slices.Concat([]string{}, t.Spec.Scopes), t.Spec.Description, schema, mcp.HintsOf(t),
			})
		}
		list.Servers[name] = server
	}
	return list, nil
}

// liteLLMConfig is the part of a LiteLLM proxy's configuration that is about
// MCP servers.
type liteLLMConfig struct {
	Servers map[string]liteLLMServer `json:"mcp_servers"`
}

type liteLLMServer struct {
	URL       string   `json:"url,omitzero"`
	Transport string   `json:"transport"`
	Allowed   []string `json:"allowed_tools"`
}

func (l gatewayList) liteLLM() liteLLMConfig {
	config := liteLLMConfig{Servers: make(map[string]liteLLMServer, len(l))}
	for name, s := range l {
		server := liteLLMServer{URL: s.url, Transport: "http"}
		for _, t := range s.tools {
			server.Allowed = append(server.Allowed, t.Metadata.Name)
		}
		config.Servers[name] = server
	}
	return config
}

// yaml writes the configuration. Strings are JSON's, which YAML reads.
func (c liteLLMConfig) yaml() ([]byte, error) {
	if len(c.Servers) == 0 {
		return []byte("mcp_servers: {}\n"), nil
	}
	var b strings.Builder
	var bad error
	quote := func(s string) string {
		text, err := jsontext.AppendQuote(nil, s)
		if err != nil {
			bad = err
		}
		return string(text)
	}
	b.WriteString("mcp_servers:\n")
	for _, name := range slices.Sorted(maps.Keys(c.Servers)) {
		s := c.Servers[name]
		fmt.Fprintf(&b, "  %s:\n", quote(name))
		if s.URL != "" {
			fmt.Fprintf(&b, "    url: %s\n", quote(s.URL))
		}
		fmt.Fprintf(&b, "    transport: %s\n    allowed_tools:\n", quote(s.Transport))
		for _, t := range s.Allowed {
			fmt.Fprintf(&b, "      - %s\n", quote(t))
		}
	}
	return []byte(b.String()), bad
}
