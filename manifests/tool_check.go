package manifests

import (
	"strings"
	"unicode"

	"github.com/mayfly-run/mayfly/internal/egress"
	"github.com/mayfly-run/mayfly/manifests/internal/argschema"
)

// readTool reads a document of kind Tool.
func readTool(r *reporter, doc *node) *Tool {
	t := newTool()
	t.fields().read(r, doc)
	t.checkTransport(r, doc)
	if t.Spec.InputSchema == nil {
		t.Spec.InputSchema = map[string]any{"type": "object"}
	}
	order(t.Spec.Output.Sanitize)
	t.Spec.EgressAllowed = t.Spec.Egress
	t.checkNetwork(r, doc)
	t.compile(r, doc)
	return t
}

// owners says which transport each field belongs to, and whether that one
// requires it.
var owners = []struct {
	field     string
	transport Transport
	required  bool
}{
	{"handler", TransportNative, true},
	{"grants", TransportNative, false},
	{"url", TransportHTTP, true},
	{"headers_env", TransportHTTP, false},
	{"server", TransportMCP, true},
	{"sandbox", TransportCode, true},
	{"code_arg", TransportCode, false},
	{"limits", TransportCode, false},
}

// checkTransport refuses fields that the transport would ignore, and misses
// those it needs.
func (t *Tool) checkTransport(r *reporter, doc *node) {
	if given := doc.get("spec", "transport"); given != nil && given.text != string(t.Spec.Transport) {
		return // refused, and reported
	}
	spec := doc.get("spec")
	for _, o := range owners {
		n := spec.get(o.field)
		switch {
		case n != nil && o.transport != t.Spec.Transport:
			r.at(n, CodeMisplaced, "only %s tools have %s, this one is %s", o.transport, o.field, t.Spec.Transport)
		case n == nil && o.required && o.transport == t.Spec.Transport && spec != nil:
			r.below(spec, o.field, CodeMissingField, "is required for %s tools", t.Spec.Transport)
		}
	}
	if t.Spec.Transport != TransportCode {
		t.Spec.CodeArg, t.Spec.Limits = "", CodeLimits{}
	}
}

// checkNetwork sees to it that the trifecta rule knows of every tool that can
// send data out.
func (t *Tool) checkNetwork(r *reporter, doc *node) {
	name, spec := t.Metadata.Name, doc.get("spec")
	if given := spec.get("egress"); len(t.Spec.Egress) == 0 && (given == nil || given.kind == listNode && len(given.items) == 0) {
		if t.Spec.Grants.Network {
			r.below(spec, "egress", CodeMissingField, "is required with grants.network: name the hosts that the tool sends data to, or *")
		} else if len(t.Spec.Grants.NetworkLocal) > 0 {
			r.warn(spec.get("grants", "network_local"), name, WarnEgress, "leads to a service that may send data on, and egress is empty, so that the trifecta rule does not stop it")
		}
	}
	if t.Spec.URL == "" {
		return
	}
	n := spec.get("url")
	t.checkReach(r, n)
	if plaintext(t.Spec.URL) {
		r.warn(n, name, WarnPlaintext, "sends arguments and headers in the clear; use https")
	}
}

// checkReach sees to it that an http tool may reach what it posts to.
func (t *Tool) checkReach(r *reporter, n *node) {
	_, target, why := parseAddress(t.Spec.URL)
	policy, err := egress.NewPolicy(hostTexts(t.Spec.Egress))
	switch {
	case t.Spec.Transport != TransportHTTP || why != "" || err != nil: // refused, and reported
	case !addressHost(t.Spec.URL).coveredBy(t.Spec.Egress):
		r.at(n, CodeEgress, "leads to a host that the tool's egress does not list; add it there")
	case policy.Check(target) != nil:
		r.at(n, CodeEgress, "leads to this machine, to a private network or to an address with a special use; egress has to list it itself, * does not cover it")
	}
}

// problemCodes are the codes of what is wrong with a schema.
var problemCodes = map[argschema.Kind]Code{
	argschema.Keyword:   CodeSchemaKeyword,
	argschema.Inert:     CodeSchemaKeyword,
	argschema.Value:     CodeSchemaValue,
	argschema.Reference: CodeSchemaRef,
	argschema.Pattern:   CodeSchemaPattern,
	argschema.TooLarge:  CodeTooLarge,
}

// noteCodes are the codes of what is worth a look in a schema.
var noteCodes = map[argschema.Kind]WarningCode{
	argschema.NoteOpen:       WarnOpenSchema,
	argschema.NoteUnanchored: WarnUnanchored,
}

// compile checks the schema and takes the digest.
func (t *Tool) compile(r *reporter, doc *node) {
	name, in := t.Metadata.Name, doc.get("spec", "input_schema")
	if in == nil {
		in = doc // where to point when there is no schema to point at
	} else if _, whole := in.tree(); !whole || in.kind != objectNode {
		return // refused, and reported
	}
	if typ, given := t.Spec.InputSchema["type"]; given && typ != "object" {
		r.at(in.follow("type"), CodeSchemaValue, "must be object: arguments are always an object")
		return
	}
	s, problems, notes := argschema.Compile(t.Spec.InputSchema)
	for _, p := range problems {
		n := in.follow(p.Path...)
		if p.Kind == argschema.Keyword || p.Kind == argschema.Inert {
			n = n.key()
		}
		r.at(n, problemCodes[p.Kind], "%s", p.Reason)
	}
	if s == nil {
		return
	}
	for _, p := range notes {
		r.warn(in.follow(p.Path...), name, noteCodes[p.Kind], "%s", p.Reason)
	}
	t.schema = s
	if t.Spec.Transport == TransportCode {
		t.checkCodeArg(r, in)
	}
	warnHidden(r, name, doc.get("spec", "description"))
	warnHidden(r, name, doc.get("spec", "input_schema"))
	t.seal(r, doc)
}

// checkCodeArg warns about a code tool that can be called without code.
func (t *Tool) checkCodeArg(r *reporter, in *node) {
	arg := in.get("properties", t.Spec.CodeArg)
	required := false
	if names := in.get("required"); names != nil {
		for _, n := range names.items {
			required = required || n.text == t.Spec.CodeArg
		}
	}
	if typ := arg.get("type"); !required || typ == nil || typ.text != "string" {
		r.warn(in, t.Metadata.Name, WarnCodeArg, "does not require a string named as code_arg says, so that calls without code get this far")
	}
}

// seal takes the digest and compares it with the pin.
func (t *Tool) seal(r *reporter, doc *node) {
	digest, err := t.Definition().Digest()
	if err != nil {
		r.at(doc, CodeEncoding, "its definition has no digest")
		return
	}
	t.digest = digest
	switch n := doc.get("spec", "definition_digest"); {
	case n == nil:
		r.warn(doc.follow("spec"), t.Metadata.Name, WarnUnpinned, "is not pinned; its definition_digest is %s", digest)
	case !t.PinMatches():
		r.warn(n, t.Metadata.Name, WarnDigestMismatch, "does not match the definition, so that every call is blocked; if the change is right, the new digest is %s", digest)
	}
}

// follow goes down to the last node of a path that exists.
func (n *node) follow(path ...string) *node {
	for _, step := range path {
		next := n.child(step)
		if next == nil {
			break
		}
		n = next
	}
	return n
}

// key gives the key of a member of an object, and any other node itself.
func (n *node) key() *node {
	if n.parent != nil && n.parent.kind == objectNode {
		for i, item := range n.parent.items {
			if item == n {
				return n.parent.keys[i]
			}
		}
	}
	return n
}

// warnHidden warns about text that a model reads and a person does not see.
func warnHidden(r *reporter, tool string, n *node) {
	if n == nil {
		return
	}
	if n.kind == textNode && strings.ContainsFunc(n.text, hidden) {
		r.warn(n, tool, WarnHidden, "holds characters that cannot be seen; a model reads them all the same")
	}
	for _, key := range n.keys {
		if strings.ContainsFunc(key.text, hidden) {
			r.warn(key, tool, WarnHidden, "is a name with characters that cannot be seen; a model reads them all the same")
		}
	}
	for _, item := range n.items {
		warnHidden(r, tool, item)
	}
}

// hidden reports characters that show as nothing, or reorder what is shown.
func hidden(c rune) bool {
	switch c {
	case '\n', '\t', '\r':
		return false
	case 0x034f, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x3164, 0xffa0: // fillers that are letters or marks
		return true
	}
	return unicode.Is(unicode.Cf, c) || unicode.Is(unicode.Cc, c) || unicode.Is(unicode.Co, c) || unicode.Is(unicode.Variation_Selector, c) ||
		unicode.Is(unicode.Zl, c) || unicode.Is(unicode.Zp, c)
}
