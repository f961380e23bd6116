package manifests

import "time"

// fields is the table of a document of kind Harness.
func (h *Harness) fields() fields {
	return fields{
		versionField(),
		kindField(KindHarness),
		{name: "metadata", slot: group(h.Metadata.fields(false)), doc: "The harness's name, version and owner. Default: none."},
		{name: "spec", slot: group(h.specFields()), doc: "Which tools there are, and the rules and limits for all of them."},
	}
}

func (h *Harness) specFields() fields {
	return fields{
		{name: "tools", slot: group(h.Tools.fields()), doc: "What holds for all tools."},
		{name: "policy", slot: optionalSlot[Policy]{&h.Policy, func() *Policy { return &Policy{DefaultEffect: Deny} }, (*Policy).fields},
			doc: "Rules over calls. Without a policy this step lets every call pass to the next one."},
		{name: "tasks", slot: mapSlot[Task]{&h.Tasks, toolName, func(t *Task) slot { return group(t.fields()) }},
			doc: "Kinds of runs, by name: which tools they get, and which calls need a person. Default: none."},
		{name: "secrets", slot: mapSlot[Secret]{&h.Secrets, variable, func(s *Secret) slot { return group(s.fields()) }},
			doc: "Where the values of secrets come from, by the names that tools' grants.secrets have, and who may have them. They are read when a call needs them. Default: none."},
		{name: "approvals", slot: group(h.Approvals.fields()), doc: "Who approves calls, and by when."},
		{name: "budgets", slot: group(h.Budgets.fields()), doc: "What a run may use. Default: no bound."},
		{name: "limits", slot: group(h.Limits.fields()),
			doc: "The operator's ceilings. A manifest that asks for more gets the tighter value, and a warning. Default: no ceilings."},
		{name: "mcp_servers", slot: mapSlot[MCPServer]{&h.MCPServers, serverNameRule, func(s *MCPServer) slot { return group(s.fields()) }},
			doc: "Where the tools of MCP servers are, by the name that follows mcp:// in a manifest. Mayfly's own addition. Default: none."},
		{name: "store", slot: textSlot{&h.Store, localPath},
			doc: "The file for approvals, rate limits and the journal of effects, from the harness's directory; memory keeps nothing on disk."},
		{name: "trace", slot: group(h.Trace.fields()), doc: "Where decisions are noted down. Arguments never are."},
	}
}

func (c *ToolsConfig) fields() fields {
	return fields{
		{name: "manifests", slot: list(&c.Manifests, func(p *string) slot { return textSlot{p, globRule} }),
			doc: "Files with tool manifests: paths, directories (all .yaml, .yml and .json files in them) or patterns with *, ?, [...], {a,b} and **, from the harness's directory. Default: none."},
		{name: "require_manifest", slot: flagSlot{&c.RequireManifest}, doc: "Refuses calls of tools that have no manifest."},
		{name: "trifecta", slot: choice(&c.Trifecta, TrifectaApproval, TrifectaBlock),
			doc: "What happens to a call of a tool with egress after the run has seen both private data and untrusted content."},
		{name: "approval_by_risk", slot: mapSlot[Requirement]{&c.ApprovalByRisk, riskRule, func(p *Requirement) slot { return choice(p, Required) }},
			doc: "The risks (low, medium, high, critical) whose tools need approval for every call, each with the value required. Default: none."},
		{name: "max_output_bytes", slot: countSlot{&c.MaxOutputBytes, 1, MaxBytes}, doc: "How much of a result is kept where a manifest does not say, in bytes of UTF-8."},
		{name: "namespaces", slot: choice(&c.Namespaces, NamespacesRequired, NamespacesPreferred),
			doc: "What happens to programs of native tools, judges, secrets and MCP servers on a host that has no namespaces to give: they are refused, or run under Landlock, seccomp and the rest, with what is missing noted in the trace. Mayfly's own addition."},
		{name: "judge", slot: optionalSlot[Judge]{&c.Judge, newJudge, (*Judge).fields},
			doc: "Who is asked about a call before it runs: exactly one of url, command and tool. A judge can only tighten; one that fails asks a person. Default: none."},
	}
}

func newJudge() *Judge { return &Judge{Timeout: 10 * time.Second} }

func (j *Judge) fields() fields {
	return fields{
		{name: "url", slot: textSlot{&j.URL, address}, doc: "Where {tool, args} is posted as JSON."},
		{name: "headers_env", slot: headers(&j.HeadersEnv), doc: "Headers for url, each with the name of the environment variable that holds its value. Default: none."},
		{name: "command", slot: commandSlot{&j.Command}, doc: "A program that reads {tool, args} as JSON on its input and writes its verdict. It is confined and granted nothing."},
		{name: "tool", slot: textSlot{&j.Tool, toolName}, doc: "The name of a tool that is called with {tool, args}."},
		{name: "timeout", slot: duration(&j.Timeout), doc: "How long the judge may take; one that takes longer asks a person."},
	}
}

func (p *Policy) fields() fields {
	return fields{
		{name: "default_effect", slot: choice(&p.DefaultEffect, Allow, Deny, RequireApproval), doc: "What holds for calls that no rule matches."},
		{name: "rules", slot: rowsSlot[PolicyRule]{&p.Rules, (*PolicyRule).fields},
			doc: "The rules; their order does not matter: deny goes before require_approval before allow. Default: none."},
	}
}

func (r *PolicyRule) fields() fields {
	return fields{
		{name: "id", required: true, slot: textSlot{&r.ID, label}, doc: "The rule's name in decisions and traces. Unique."},
		{name: "when", required: true, slot: exprSlot{&r.When},
			doc: "An expression over principal, tenant, task, tool, args and labels. A rule that cannot be evaluated applies if it denies or asks for approval, and does not if it allows."},
		{name: "effect", required: true, slot: choice(&r.Effect, Allow, Deny, RequireApproval), doc: "What the rule says about calls that it matches."},
	}
}

func (t *Task) fields() fields {
	return fields{
		{name: "tools", slot: toolNames(&t.Tools), doc: "The tools that a run of this task is given. Default: the task does not say."},
		{name: "approvals", slot: group(fields{
			{name: "tools", slot: toolNames(&t.Approvals.Tools), doc: "Tools that need approval for every call in this task. Default: none."},
			{name: "approver_role", slot: textSlot{&t.Approvals.ApproverRole, label},
				doc: "The role that may approve when the step that asks does not say. Default: the harness's."},
		}), doc: "Which calls of this task need a person, and who."},
		{name: "budgets", slot: group(t.Budgets.fields()), doc: "What a run of this task may use; the harness's budgets hold as well. Default: no bound."},
	}
}

func toolNames(p *[]string) slot {
	return list(p, func(p *string) slot { return textSlot{p, toolName} })
}

func (a *ApprovalsConfig) fields() fields {
	return fields{
		{name: "approver_role", slot: textSlot{&a.ApproverRole, label},
			doc: "The role that may approve when neither the step that asks nor the task says. Default: none, so that such a call has no approver."},
		{name: "timeout", slot: durationUpTo(&a.Timeout, MaxPatience), doc: "How long a request waits for a person before it counts as rejected, at most 30d. Mayfly's own addition."},
	}
}

func (b *Budgets) fields() fields {
	return fields{
		{name: "max_tool_calls", slot: countSlot{&b.MaxToolCalls, 1, 1_000_000_000}, doc: "How many calls of tools a run may make. Default: no bound."},
	}
}

func (t *TraceConfig) fields() fields {
	return fields{
		{name: "file", slot: textSlot{&t.File, localPath}, doc: "A file of JSON Lines, one for each decision, from the harness's directory."},
		{name: "otlp", slot: optionalSlot[OTLP]{&t.OTLP, func() *OTLP { return new(OTLP) }, (*OTLP).fields},
			doc: "An OpenTelemetry collector that gets spans as well. Default: none."},
	}
}

func (o *OTLP) fields() fields {
	return fields{
		{name: "endpoint", required: true, slot: textSlot{&o.Endpoint, address}, doc: "The collector's URL, for OTLP over HTTP with protobuf. /v1/traces is added to its path unless it ends so."},
		{name: "headers_env", slot: headers(&o.HeadersEnv), doc: "Headers of its requests, each with the name of the environment variable that holds its value. Default: none."},
		{name: "arguments_of", slot: toolNames(&o.ArgumentsOf),
			doc: "The tools whose spans have the arguments of a call that was allowed, as gen_ai.tool.call.arguments. Members whose schema has writeOnly, or whose name is that of a credential, are withheld; secrets and personal data are taken out. Default: none. Mayfly's own addition."},
	}
}

func (c *Ceilings) fields() fields {
	return fields{
		{name: "timeout", slot: duration(&c.Timeout), doc: "The longest timeout of a call. Default: no ceiling."},
		{name: "max_output_bytes", slot: countSlot{&c.MaxOutputBytes, 1, MaxBytes}, doc: "The most of a result that is kept, in bytes of UTF-8. Default: no ceiling."},
		{name: "code", slot: group(codeLimitFields(&c.Code)), doc: "The largest limits of the code of code tools. Default: no ceilings."},
		{name: "egress", slot: list(&c.Egress, host),
			doc: "The only hosts that tools may send data to. An http tool that leads elsewhere is disabled; a handler with grants.network reaches those of its hosts that are here too, and has no network if there are none. Default: any host."},
		{name: "grants", slot: optionalSlot[Grants]{&c.Grants, func() *Grants { return new(Grants) }, grantFields},
			doc: "The most that native tools may be granted. Relative paths are from the harness's directory. Default: anything."},
	}
}

// riskRule is a key of approval_by_risk.
var riskRule = rule{pattern: `^(low|medium|high|critical)$`, check: func(s string) string {
	switch Risk(s) {
	case RiskLow, RiskMedium, RiskHigh, RiskCritical:
		return ""
	}
	return "must be one of low, medium, high, critical"
}}
