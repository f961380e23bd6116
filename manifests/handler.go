package manifests

import (
	"path"
	"strings"
)

// HandlerKind is how a native tool is run. Every kind is a process of its own.
type HandlerKind string

// The kinds of handlers.
const (
	// HandlerPython is a function in a Python module.
	HandlerPython HandlerKind = "python"
	// HandlerNode is a function that a JavaScript file exports.
	HandlerNode HandlerKind = "node"
	// HandlerCommand is any program.
	HandlerCommand HandlerKind = "command"
)

// Handler is what a native tool calls. Relative paths are relative to the
// directory of harness.yaml; see [Origin].
type Handler struct {
	// Kind says which of the other fields are set.
	Kind HandlerKind
	// Module is a dotted Python module, or the path of a JavaScript file that
	// starts with ./.
	Module string
	// Function is the name of a function in Module.
	Function string
	// Command is the program: an absolute path, a path that starts with ./, or
	// the bare name of an installed program. No shell is involved.
	Command string
	// Args are its arguments.
	Args []string
	// Cwd is the directory that it starts in. Default ".".
	Cwd string
}

// String gives a Python or Node handler as it is written in a manifest, and
// the program of a command.
func (h *Handler) String() string {
	switch h.Kind {
	case HandlerPython:
		return h.Module + ":" + h.Function
	case HandlerNode:
		return h.Module + "#" + h.Function
	}
	return h.Command
}

const handlerWords = `must be a Python function (package.module:function), a JavaScript one (./file.mjs#function), or {command, args, cwd}`

// handlerPattern is the form of a handler that is a string.
const handlerPattern = `^([A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*:[A-Za-z_][A-Za-z0-9_]*|\./[^#]+\.(js|mjs|cjs)#[A-Za-z_$][A-Za-z0-9_$]*)$`

// ParseHandler reads a handler that is written as a string.
func ParseHandler(s string) (*Handler, error) {
	h, why := parseHandler(s)
	if why != "" {
		return nil, &Error{File: "handler", Code: CodeValue, Reason: why}
	}
	return h, nil
}

func parseHandler(s string) (*Handler, string) {
	if file, function, ok := strings.Cut(s, "#"); ok {
		ext := path.Ext(file)
		if !strings.HasPrefix(file, "./") || checkPath(file) != "" || ext != ".mjs" && ext != ".js" && ext != ".cjs" || !isIdentifier(function, "$") {
			return nil, handlerWords
		}
		return &Handler{Kind: HandlerNode, Module: file, Function: function}, ""
	}
	module, function, ok := strings.Cut(s, ":")
	if !ok || len(s) > maxPath || !isIdentifier(function, "") {
		return nil, handlerWords
	}
	for step := range strings.SplitSeq(module, ".") {
		if !isIdentifier(step, "") {
			return nil, handlerWords
		}
	}
	return &Handler{Kind: HandlerPython, Module: module, Function: function}, ""
}

// isIdentifier checks an ASCII identifier that may also hold the characters of
// extra.
func isIdentifier(s, extra string) bool {
	for i := range len(s) {
		if c := s[i]; !letter(c) && c != '_' && !isOneOf(c, extra) && (i == 0 || !digit(c)) {
			return false
		}
	}
	return s != ""
}

// commandFields is the table of a handler that is an object.
func commandFields(h *Handler) fields {
	return fields{
		{name: "command", required: true, slot: textSlot{&h.Command, program},
			doc: "The program: an absolute path, a path that starts with ./ (from the harness's directory), or the bare name of an installed program. Started without a shell."},
		{name: "args", slot: argsSlot{&h.Args},
			doc: "The program's arguments, as they are; nothing is expanded. Absent: none."},
		{name: "cwd", slot: textSlot{&h.Cwd, localPath},
			doc: "The directory that the program starts in, absolute or from the harness's directory. Default: the harness's directory."},
	}
}

func newCommand() *Handler { return &Handler{Kind: HandlerCommand, Cwd: "."} }

// handlerSlot is a handler in either form.
type handlerSlot struct{ p **Handler }

func (h handlerSlot) read(r *reporter, n *node) {
	if n.kind == objectNode {
		v := newCommand()
		commandFields(v).read(r, n)
		*h.p = v
		return
	}
	if !isText(r, n, handlerWords) {
		return
	}
	v, why := parseHandler(n.text)
	if why != "" {
		r.at(n, CodeValue, "%s", why)
		return
	}
	*h.p = v
}

func (h handlerSlot) value() any {
	switch v := *h.p; {
	case v == nil:
		return nil
	case v.Kind == HandlerCommand:
		return commandFields(v).value()
	default:
		return v.String()
	}
}

func (handlerSlot) schema() object {
	return object{{"oneOf", []any{
		object{{"type", "string"}, {"pattern", handlerPattern}},
		commandFields(newCommand()).schema(),
	}}}
}

// commandSlot is a command that has no other form.
type commandSlot struct{ p **Handler }

func (c commandSlot) read(r *reporter, n *node) {
	v := newCommand()
	commandFields(v).read(r, n)
	*c.p = v
}

func (c commandSlot) value() any {
	if *c.p == nil {
		return nil
	}
	return commandFields(*c.p).value()
}

func (commandSlot) schema() object { return commandFields(newCommand()).schema() }

// argsSlot is a list of strings that may be equal or empty.
type argsSlot struct{ p *[]string }

func (a argsSlot) read(r *reporter, n *node) {
	if !expect(r, n, listNode) {
		return
	}
	out := make([]string, 0, len(n.items))
	for _, item := range n.items {
		if item.kind == nullNode {
			r.at(item, CodeType, "has no value")
		} else if expect(r, item, textNode) {
			if strings.Contains(item.text, "\x00") {
				r.at(item, CodeValue, "must not hold a NUL character")
			}
			out = append(out, item.text)
		}
	}
	*a.p = out
}

func (a argsSlot) value() any {
	if *a.p == nil {
		return nil
	}
	out := make([]any, len(*a.p))
	for i, s := range *a.p {
		out[i] = s
	}
	return out
}

func (argsSlot) schema() object {
	return object{{"type", "array"}, {"items", object{{"type", "string"}}}}
}
