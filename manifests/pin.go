package manifests

import (
	"bytes"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Pin writes the current digest of a tool's definition into the text of its
// manifest, and leaves everything else as it is: one line changes, or is new.
// With tool "" every tool in the text is pinned. The name says what the text
// is, as for [Parse]. A text that is right already comes back unchanged.
//
// A returned error is of type [Errors]: the manifest has other errors, no tool
// in it has that name, or the pin cannot be written in place (code pin).
func Pin(name string, text []byte, tool string) ([]byte, error) {
	body, marked := bytes.CutPrefix(text, byteOrderMark)
	r := &reporter{file: name}
	docs := readNodes(r, name, body)
	var edits []edit
	found := false
	for _, doc := range docs {
		if documentKind(r, doc) != KindTool {
			continue
		}
		if !isNamed(doc, tool) {
			continue
		}
		found = true
		t := readTool(r, doc)
		if t.Digest() == "" || t.Pinned() && t.PinMatches() {
			continue
		}
		e, ok := pinEdit(body, doc, t.Digest())
		if !ok {
			at := doc.get("spec", "definition_digest")
			if at == nil {
				at = doc.follow("spec")
			}
			r.at(at, CodePin, "is laid out so that the pin cannot be put in place; write it by hand: %s", t.Digest())
			continue
		}
		edits = append(edits, e)
	}
	if !found && len(r.errs) == 0 {
		r.add(0, 0, "", CodeUnknownTool, "holds no such tool")
	}
	// A pin that is no digest is what Pin is there to mend.
	r.errs = slices.DeleteFunc(r.errs, func(e *Error) bool {
		return e.Pointer == "/spec/definition_digest" && e.Code != CodePin && e.Code != CodeDuplicateKey
	})
	if errs := r.all(); len(errs) > 0 {
		return nil, errs
	}
	out := apply(body, edits)
	if !pinned(name, docs, out, tool) {
		return nil, Errors{{File: name, Code: CodePin, Reason: "is laid out so that the pin cannot be put in place; write it by hand"}}
	}
	if marked {
		out = slices.Concat(byteOrderMark, out)
	}
	return out, nil
}

// isNamed reports whether a document is about the tool; "" stands for any.
func isNamed(doc *node, tool string) bool {
	if name := doc.get("metadata", "name"); tool != "" {
		return name != nil && name.kind == textNode && name.text == tool
	}
	return true
}

// edit replaces text[from:to].
type edit struct {
	from, to int
	text     string
}

// apply makes edits that do not overlap and are in order.
func apply(text []byte, edits []edit) []byte {
	var out []byte
	done := 0
	for _, e := range edits {
		out = append(append(out, text[done:e.from]...), e.text...)
		done = e.to
	}
	return append(out, text[done:]...)
}

// pinEdit works out how to write digest into a document.
func pinEdit(text []byte, doc *node, digest string) (edit, bool) {
	spec := doc.get("spec")
	if spec == nil || len(spec.keys) == 0 {
		return edit{}, false
	}
	if old := spec.get("definition_digest"); old != nil {
		return replaceScalar(text, old, digest)
	}
	return insertMember(text, spec, "definition_digest", `"`+digest+`"`)
}

// replaceScalar replaces a value that stands on one line, in its own style.
func replaceScalar(text []byte, n *node, digest string) (edit, bool) {
	rest, _, _ := strings.Cut(string(text[n.offset:]), "\n")
	rest = strings.TrimSuffix(rest, "\r")
	e := edit{from: n.offset}
	switch {
	case n.kind == listNode || n.kind == objectNode:
		return edit{}, false
	case n.kind == nullNode && !strings.HasPrefix(strings.ToLower(rest), "null") && !strings.HasPrefix(rest, "~"):
		// Nothing stands there but the colon.
		e.to, e.text = n.offset, ` "`+digest+`"`
		return e, n.offset > 0 && text[n.offset-1] == ':'
	case strings.HasPrefix(rest, `"`), strings.HasPrefix(rest, `'`):
		length := quotedLength(rest)
		if length == 0 {
			return edit{}, false
		}
		e.to, e.text = n.offset+length, rest[:1]+digest+rest[:1]
	case strings.HasPrefix(rest, "|"), strings.HasPrefix(rest, ">"):
		return edit{}, false
	default:
		length := strings.IndexAny(rest+" ", " \t,]}")
		e.to, e.text = n.offset+length, digest
		if n.flow || n.kind != textNode { // JSON has no plain strings
			e.text = `"` + digest + `"`
		}
	}
	return e, true
}

// quotedLength is how long the quoted string that starts s is, 0 if it does not
// end on this line.
func quotedLength(s string) int {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && s[0] == '"':
			i++
		case s[i] == s[0] && s[0] == '\'' && strings.HasPrefix(s[i+1:], "'"):
			i++
		case s[i] == s[0]:
			return i + 1
		}
	}
	return 0
}

// insertMember puts a member in front of those that an object has.
func insertMember(text []byte, object *node, name, value string) (edit, bool) {
	if object.flow {
		return insertInFlow(text, object, name, value)
	}
	return insertLine(text, object, name, value)
}

// insertInFlow puts the member first between the brackets: on a line of its own
// where the first one has one.
func insertInFlow(text []byte, object *node, name, value string) (edit, bool) {
	first := object.keys[0]
	if text[first.offset] == '"' {
		name = `"` + name + `"`
	}
	entry := name + ": " + value
	if first.line == object.line {
		return edit{first.offset, first.offset, entry + ", "}, true
	}
	return newLine(text, object.offset, first.offset, entry+",")
}

// insertLine puts the member on a line of its own, first below the object's
// name, so that no comment gets another neighbour.
func insertLine(text []byte, object *node, name, value string) (edit, bool) {
	first := object.keys[0]
	if first.line == object.key().line {
		return edit{}, false
	}
	return newLine(text, object.key().offset, first.offset, name+": "+value)
}

// newLine adds a line after the one that holds the byte at after, indented like
// the one that holds the byte at like.
func newLine(text []byte, after, like int, entry string) (edit, bool) {
	end := after + bytes.IndexAny(text[after:], "\r\n")
	if end < after {
		return edit{}, false
	}
	eol := text[end : end+1]
	if bytes.HasPrefix(text[end:], []byte("\r\n")) {
		eol = text[end : end+2]
	}
	indent := text[bytes.LastIndexAny(text[:like], "\r\n")+1 : like]
	if len(bytes.Trim(indent, " \t")) > 0 {
		return edit{}, false
	}
	at := end + len(eol)
	return edit{at, at, string(indent) + entry + string(eol)}, true
}

// pinned checks the result: the same documents, but for pins that now match.
func pinned(name string, before []*node, text []byte, tool string) bool {
	r := &reporter{file: name}
	after := readNodes(r, name, text)
	if len(r.errs) > 0 || len(after) != len(before) {
		return false
	}
	for i, doc := range after {
		was, _ := before[i].tree()
		is, _ := doc.tree()
		if !reflect.DeepEqual(unpin(was), unpin(is)) {
			return false
		}
		if documentKind(&reporter{}, doc) != KindTool || !isNamed(doc, tool) {
			continue
		}
		if t := readTool(r, doc); len(r.errs) > 0 || !t.Pinned() || !t.PinMatches() {
			return false
		}
	}
	return true
}

// unpin drops the pin from a document's tree.
func unpin(v any) any {
	doc, _ := v.(map[string]any)
	spec, _ := doc["spec"].(map[string]any)
	if spec == nil {
		return v
	}
	doc, spec = maps.Clone(doc), maps.Clone(spec)
	delete(spec, "definition_digest")
	doc["spec"] = spec
	return doc
}
