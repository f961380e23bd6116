package manifests

import (
	"bytes"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// AddManifest changes the text of a harness so that its tools.manifests lead to
// a file, given relative to the harness's directory with slashes: the file's
// directory is added to the list, or the file itself where that directory is
// the harness's own, which holds other files too. Comments and layout stay, and
// a text whose list leads there already comes back unchanged. The name says
// what the text is, as for [Parse].
//
// A returned error is of type [Errors]: the text does not hold exactly one
// harness, or has no place for the entry (code pin).
func AddManifest(name string, text []byte, file string) ([]byte, error) {
	body, marked := bytes.CutPrefix(text, byteOrderMark)
	r := &reporter{file: name}
	docs := readNodes(r, name, body)
	doc := onlyHarness(r, docs)
	if errs := r.all(); len(errs) > 0 {
		return nil, errs
	}
	entry := path.Dir(path.Clean(file))
	if entry == "." {
		entry = path.Clean(file)
	}
	if globRule.check(entry) != "" || strings.ContainsAny(entry, "*?[]{}") {
		r.add(0, 0, "", CodeGlob, "a file of that name cannot be listed in tools.manifests: it must lie below the harness's directory, without *, ?, [], {} and \\ in its path")
		return nil, r.all()
	}
	list := doc.get("spec", "tools", "manifests")
	if leadsTo(list, file) {
		return text, nil
	}
	asJSON := strings.EqualFold(path.Ext(name), ".json")
	e, ok := manifestsEdit(body, doc, entry, asJSON)
	out := apply(body, []edit{e})
	if !ok || !added(name, doc, out, entry) {
		at := doc
		for _, step := range []string{"spec", "tools", "manifests"} {
			if next := at.get(step); next != nil {
				at = next
			}
		}
		r.at(at, CodePin, "is laid out so that an entry for tools.manifests cannot be put in place; add it there by hand: %s", quoteEntry(entry, asJSON))
		return nil, r.all()
	}
	if marked {
		out = slices.Concat(byteOrderMark, out)
	}
	return out, nil
}

// onlyHarness gives the one harness among documents.
func onlyHarness(r *reporter, docs []*node) *node {
	var found []*node
	for _, doc := range docs {
		if documentKind(r, doc) == KindHarness {
			found = append(found, doc)
		}
	}
	if len(found) == 1 {
		return found[0]
	}
	if len(r.errs) == 0 {
		r.add(0, 0, "", CodeKind, "must hold exactly one document of kind %s", KindHarness)
	}
	return nil
}

// leadsTo reports whether a list of patterns leads to a file.
func leadsTo(list *node, file string) bool {
	if list == nil {
		return false
	}
	file = path.Clean(file)
	return slices.ContainsFunc(list.items, func(n *node) bool {
		pattern := path.Clean(n.text)
		if n.kind != textNode || globRule.check(n.text) != "" {
			return false
		}
		if pattern == path.Dir(file) { // a directory
			pattern = path.Join(pattern, "*.{yaml,yml,json}")
		}
		match, err := doublestar.Match(pattern, file)
		return err == nil && match
	})
}

// quoteEntry writes a path as a value.
func quoteEntry(entry string, asJSON bool) string {
	if !asJSON && isPlain(entry) {
		return entry
	}
	text, err := appendText(nil, entry)
	if err != nil {
		return `""` // not UTF-8: no file of that name can be listed
	}
	return string(text)
}

// manifestsEdit works out how to add an entry to tools.manifests.
func manifestsEdit(text []byte, doc *node, entry string, asJSON bool) (edit, bool) {
	quoted := quoteEntry(entry, asJSON)
	key := func(name string) string {
		if asJSON {
			return `"` + name + `"`
		}
		return name
	}
	spec := doc.get("spec")
	tools := spec.get("tools")
	switch list := tools.get("manifests"); {
	case list != nil:
		return appendItem(text, list, quoted)
	case tools != nil:
		return firstMember(text, tools, "manifests", key("manifests"), "["+quoted+"]")
	case spec != nil:
		return firstMember(text, spec, "tools", key("tools"), "{ "+key("manifests")+": ["+quoted+"] }")
	}
	return firstMember(text, doc, "spec", key("spec"), "{ "+key("tools")+": { "+key("manifests")+": ["+quoted+"] } }")
}

// firstMember is insertMember that also knows empty brackets and whole
// documents.
func firstMember(text []byte, object *node, name, quotedName, value string) (edit, bool) {
	switch {
	case object.kind != objectNode:
		return edit{}, false
	case len(object.keys) == 0 && object.flow:
		return edit{object.offset + 1, object.offset + 1, " " + quotedName + ": " + value + " "}, true
	case len(object.keys) == 0:
		return edit{}, false
	case object.parent == nil && !object.flow:
		last := object.keys[len(object.keys)-1]
		if !bytes.ContainsAny(text[last.offset:], "\r\n") { // the file's last line has no end
			return edit{len(text), len(text), "\n" + name + ": " + value}, true
		}
		return newLine(text, last.offset, last.offset, name+": "+value)
	}
	return insertMember(text, object, name, value)
}

// appendItem adds an item to a list.
func appendItem(text []byte, list *node, quoted string) (edit, bool) {
	if list.kind != listNode {
		return edit{}, false
	}
	if len(list.items) == 0 {
		at := list.offset + 1
		return edit{at, at, quoted}, list.flow
	}
	last := list.items[len(list.items)-1]
	if list.flow {
		at := last.offset + scalarLength(text[last.offset:])
		return edit{at, at, ", " + quoted}, at > last.offset
	}
	start := bytes.LastIndexAny(text[:last.offset], "\r\n") + 1
	before := string(text[start:last.offset])
	if strings.Trim(before, " ") != "-" {
		return edit{}, false
	}
	end := bytes.IndexAny(text[last.offset:], "\r\n")
	if end < 0 { // the file's last line has no end
		return edit{len(text), len(text), "\n" + before + quoted}, true
	}
	at := last.offset + end
	eol := "\n"
	if text[at] == '\r' {
		eol = "\r"
		if bytes.HasPrefix(text[at:], []byte("\r\n")) {
			eol = "\r\n"
		}
	}
	return edit{at, at, eol + before + quoted}, true
}

// scalarLength is how long the string between brackets is that text starts
// with, 0 when that cannot be told from its first line.
func scalarLength(text []byte) int {
	line := string(text)
	if end := strings.IndexAny(line, "\r\n"); end >= 0 {
		line = line[:end]
	}
	if strings.HasPrefix(line, `"`) || strings.HasPrefix(line, `'`) {
		return quotedLength(line)
	}
	if end := strings.IndexAny(line, ",]#"); end >= 0 {
		line = line[:end]
	}
	return len(strings.TrimRight(line, " \t"))
}

// added checks the result: the same harness, but for one entry more.
func added(name string, before *node, text []byte, entry string) bool {
	r := &reporter{file: name}
	after := onlyHarness(r, readNodes(r, name, text))
	if after == nil {
		return false
	}
	readHarness(r, after)
	if len(r.errs) > 0 {
		return false
	}
	was, _ := before.tree()
	is, _ := after.tree()
	old, rest := takeManifests(was)
	list, restAfter := takeManifests(is)
	return reflect.DeepEqual(append(slices.Clone(old), any(entry)), list) && reflect.DeepEqual(rest, restAfter)
}

// takeManifests splits tools.manifests off the tree of a harness. Objects that
// hold nothing else count as absent.
func takeManifests(v any) (list []any, rest map[string]any) {
	doc, _ := v.(map[string]any)
	spec, _ := doc["spec"].(map[string]any)
	tools, _ := spec["tools"].(map[string]any)
	list, _ = tools["manifests"].([]any)
	rest = without(doc, "spec", without(spec, "tools", without(tools, "manifests", nil)))
	return list, rest
}

// without copies an object with one member replaced, or left out if what
// replaces it is empty.
func without(object map[string]any, name string, inner map[string]any) map[string]any {
	out := make(map[string]any, len(object))
	for k, v := range object {
		if k != name {
			out[k] = v
		}
	}
	if len(inner) > 0 {
		out[name] = inner
	}
	return out
}
