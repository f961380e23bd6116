package manifests

// MCPServer is where the tools of one MCP server are reached. Exactly one of URL
// and Command is set. This form is Mayfly's own.
type MCPServer struct {
	// URL is a server that speaks streamable HTTP. Its tools reach it only if
	// their egress lists its host.
	URL string
	// HeadersEnv are headers for URL, as in [ToolSpec].
	HeadersEnv map[string]string
	// Command is a server that speaks over its standard streams. It is started
	// for each call, confined like a handler.
	Command *Handler
	// Grants is what the command's process may touch; nil: nothing.
	Grants *Grants
}

func (s *MCPServer) fields() fields {
	return fields{
		{name: "url", slot: textSlot{&s.URL, address}, doc: "A server that speaks streamable HTTP. A tool of it must list its host in egress."},
		{name: "headers_env", slot: headers(&s.HeadersEnv), doc: "Headers for url, each with the name of the environment variable that holds its value. Default: none."},
		{name: "command", slot: commandSlot{&s.Command}, doc: "A server that speaks over its standard streams. It is started for each call, and confined."},
		{name: "grants", slot: optionalSlot[Grants]{&s.Grants, func() *Grants { return new(Grants) }, grantFields},
			doc: "What the command's process may touch; everything else is denied. Default: nothing."},
	}
}

// serverNameRule is the name of a server: what follows mcp://.
var serverNameRule = rule{pattern: `^[A-Za-z0-9][A-Za-z0-9._-]*$`, check: func(s string) string {
	if why := serverRule.check("mcp://" + s); why != "" {
		return "must be the name of a server: letters, digits, ., _ and -, starting with a letter or digit"
	}
	return ""
}}

// checkServers sees to it that there is one way to reach each server.
func (h *Harness) checkServers(r *reporter, n *node) {
	if n == nil || n.kind != objectNode {
		return
	}
	for _, server := range n.items {
		if server.kind != objectNode {
			continue
		}
		url, command := server.get("url"), server.get("command")
		switch {
		case url == nil && command == nil:
			r.at(server, CodeMissingField, "a server has exactly one of url and command")
		case url != nil && command != nil:
			r.at(command, CodeMisplaced, "a server has exactly one of url and command")
		}
		if given := server.get("headers_env"); given != nil && url == nil {
			r.at(given, CodeMisplaced, "headers are for a server with a url")
		}
		if given := server.get("grants"); given != nil && command == nil {
			r.at(given, CodeMisplaced, "grants are for a server with a command")
		}
	}
}

// SecretsOf are the names of the secrets that a tool's handler is handed: those of
// its own grants, or of the server that it is a tool of.
func (h *Harness) SecretsOf(t *Tool) []string {
	if s, ok := h.MCPServer(t); ok && t.Spec.Transport == TransportMCP {
		if s.Grants == nil {
			return nil
		}
		return s.Grants.Secrets
	}
	return t.Spec.Grants.Secrets
}

// MCPServer finds the server of an mcp tool.
func (h *Harness) MCPServer(t *Tool) (MCPServer, bool) {
	name := t.Spec.Server
	if len(name) < len("mcp://") {
		return MCPServer{}, false
	}
	s, ok := h.MCPServers[name[len("mcp://"):]]
	return s, ok
}
