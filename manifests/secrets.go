package manifests

import (
	"slices"
	"strings"
	"time"
)

// Secret says where the value of a secret comes from, and who may have it. Tools
// name secrets in grants.secrets; neither manifest ever holds a value. Exactly
// one of Env, File and Command is set. This is Mayfly's own addition to the
// format.
type Secret struct {
	// Env is an environment variable of the host.
	Env string
	// File is a file that others cannot read, absolute or from the harness's
	// directory.
	File string
	// Command is a program that writes the value to its standard output. It is
	// as confined as a handler, and may touch what Grants says.
	Command *Handler
	// Grants are Command's; nil: it may touch nothing. Grants.Secrets is always
	// empty.
	Grants *Grants
	// Timeout is how long Command may take. Default 10s.
	Timeout time.Duration
	// Tools are the tools that may be granted the secret; nil: any.
	Tools []string
	// Tasks are the tasks in whose runs it is handed over; nil: any run, also
	// one without a task.
	Tasks []string
	// Principals are those on whose behalf it is handed over; nil: any.
	Principals []string
}

// For reports whether the secret may be handed over in a run of this task on
// behalf of this principal.
func (s *Secret) For(task, principal string) bool {
	return (s.Tasks == nil || slices.Contains(s.Tasks, task)) && (s.Principals == nil || slices.Contains(s.Principals, principal))
}

func (s *Secret) fields() fields {
	names := func(p *[]string, r rule) slot { return list(p, func(p *string) slot { return textSlot{p, r} }) }
	return fields{
		{name: "env", slot: textSlot{&s.Env, variable}, doc: "The environment variable of the host that holds the value."},
		{name: "file", slot: textSlot{&s.File, localPath},
			doc: "The file that holds the value, absolute or from the harness's directory; one line end at its end does not count. It must be the host's own or root's, and no other user may read it."},
		{name: "command", slot: commandSlot{&s.Command}, doc: "A program that writes the value to its standard output; one line end at its end does not count. It is confined and granted nothing but what grants says."},
		{name: "grants", slot: optionalSlot[Grants]{&s.Grants, func() *Grants { return new(Grants) }, fetcherGrants}, doc: "What command may touch; relative paths are from its working directory, and network opens all of it. Default: nothing."},
		{name: "timeout", slot: duration(&s.Timeout), doc: "How long command may take. Default: 10s."},
		{name: "tools", slot: names(&s.Tools, toolName), doc: "The tools that may be granted the secret. Default: any."},
		{name: "tasks", slot: names(&s.Tasks, toolName), doc: "The tasks in whose runs the secret is handed over. Default: any run, also one without a task."},
		{name: "principals", slot: names(&s.Principals, label), doc: "Those on whose behalf the secret is handed over. Default: anyone."},
	}
}

// fetcherGrants is the table of what a command that fetches a secret may touch:
// no secrets, which it would have to wait for.
func fetcherGrants(g *Grants) fields {
	return slices.DeleteFunc(grantFields(g), func(f field) bool { return f.name == "secrets" })
}

// checkSecrets sees to it that each secret has one source, and nothing that its
// source has no use for.
func (h *Harness) checkSecrets(r *reporter, n *node) {
	if n == nil || n.kind != objectNode {
		return
	}
	for _, secret := range n.items {
		if secret.kind != objectNode {
			continue // refused, and reported
		}
		sources := 0
		for _, source := range []string{"env", "file", "command"} {
			if given := secret.get(source); given != nil {
				if sources++; sources > 1 {
					r.at(given, CodeMisplaced, "a secret comes from exactly one of env, file and command")
				}
			}
		}
		if sources == 0 {
			r.at(secret, CodeMissingField, "a secret comes from exactly one of env, file and command; nothing is read that is not named")
		}
		for _, field := range []string{"grants", "timeout"} {
			if given := secret.get(field); given != nil && secret.get("command") == nil {
				r.at(given, CodeMisplaced, "only a secret that comes from a command has %s", field)
			}
		}
	}
}

// checkGranted refuses tools that are granted a secret which the harness does
// not have, or not for them.
func (s *Set) checkGranted() Errors {
	var errs Errors
	for _, t := range s.tools {
		// What a tool is handed by its server stands in the harness.
		r, place := &reporter{file: t.Origin.File}, t.grantedSecret
		if t.Spec.Transport == TransportMCP {
			r.file = s.Harness.Origin.File
			place = func(string) *node { return s.serverOf(t) }
		}
		for _, name := range s.Harness.SecretsOf(t) {
			secret, ok := s.Harness.Secrets[name]
			switch {
			case !ok:
				r.at(place(name), CodeUnknownSecret, "the harness has no secret of this name; spec.secrets says where its value comes from")
			case secret.Tools != nil && !slices.Contains(secret.Tools, t.Metadata.Name):
				r.at(place(name), CodeSecretScope, "the harness does not give this secret to this tool; its spec.secrets lists the tools that may have it")
			}
		}
		errs = append(errs, r.all()...)
	}
	return errs
}

// serverOf is where the secrets of a tool's server are granted.
func (s *Set) serverOf(t *Tool) *node {
	if n := s.Harness.doc.get("spec", "mcp_servers", strings.TrimPrefix(t.Spec.Server, "mcp://"), "grants", "secrets"); n != nil {
		return n
	}
	return &node{}
}

// grantedSecret is where a tool names a secret.
func (t *Tool) grantedSecret(name string) *node {
	if list := t.doc.get("spec", "grants", "secrets"); list != nil {
		for _, n := range list.items {
			if n.text == name {
				return n
			}
		}
	}
	return &node{}
}
