package manifests

import (
	"slices"
	"strings"
)

// The formats are tables of fields. One table reads a document, writes it,
// and gives the JSON Schema that editors use, so that the three cannot differ.

// field is one entry of a table.
type field struct {
	name string
	slot slot
	// doc says what the field means, its unit, and what its absence means where
	// the schema's default does not say it.
	doc string
	// required: a document without it is refused.
	required bool
}

// slot is a variable that a field's value goes into.
type slot interface {
	// read takes the value from a document. n is never null.
	read(r *reporter, n *node)
	// value gives what the variable holds as JSON data: nil, bool, int64,
	// string, []any, object, or a canonjson tree. nil means not set.
	value() any
	// schema describes the values that read takes. It depends on the slot's
	// type only.
	schema() object
}

// fields is a table.
type fields []field

// read reads an object.
func (fs fields) read(r *reporter, n *node) {
	if !expect(r, n, objectNode) {
		return
	}
	seen := make(map[string]bool, len(fs))
	for i, key := range n.keys {
		if key.kind != textNode {
			continue
		}
		f := fs.named(key.text)
		if f == nil {
			r.at(key, CodeUnknownField, "is not a field here%s", fs.suggest(key.text))
			continue
		}
		seen[f.name] = true
		switch v := n.items[i]; v.kind {
		case invalid:
		case nullNode:
			r.at(v, CodeType, "has no value; leave the field out instead")
		default:
			f.slot.read(r, v)
		}
	}
	for _, f := range fs {
		if f.required && !seen[f.name] {
			r.below(n, f.name, CodeMissingField, "is required")
		}
	}
}

func (fs fields) named(name string) *field {
	for i := range fs {
		if fs[i].name == name {
			return &fs[i]
		}
	}
	return nil
}

// suggest names the field that was probably meant.
func (fs fields) suggest(name string) string {
	names := make([]string, len(fs))
	for i, f := range fs {
		names[i] = f.name
	}
	return suggest(name, names)
}

// suggest asks whether one of the names was meant, if one is close enough.
func suggest(name string, names []string) string {
	best, least := "", 3
	for _, n := range names {
		if d := distance(strings.ToLower(strings.ReplaceAll(name, "-", "_")), n); d < least && d < len(n) {
			best, least = n, d
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean " + best + "?"
}

// distance is how many single-character edits lead from a to b.
func distance(a, b string) int {
	if len(a) > 64 {
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		previous := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substitute := previous
			if a[i] != b[j] {
				substitute++
			}
			previous = row[j+1]
			row[j+1] = min(substitute, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}

// value gives the whole object, defaults included.
func (fs fields) value() any {
	o := object{}
	for _, f := range fs {
		if v := f.slot.value(); v != nil {
			o = append(o, member{f.name, v})
		}
	}
	return o
}

// schema describes the object. The slots hold their defaults.
func (fs fields) schema() object {
	properties, required := object{}, []any{}
	for _, f := range fs {
		s := f.slot.schema()
		s = slices.Concat(object{{"description", f.doc}}, s)
		if v := f.slot.value(); v != nil && !f.required {
			if _, group := v.(object); !group {
				s = append(s, member{"default", v})
			}
		}
		properties = append(properties, member{f.name, s})
		if f.required {
			required = append(required, f.name)
		}
	}
	s := object{{"type", "object"}, {"properties", properties}}
	if len(required) > 0 {
		s = append(s, member{"required", required})
	}
	return append(s, member{"additionalProperties", false})
}

// expect reports a value of the wrong type.
func expect(r *reporter, n *node, want kind) bool {
	if n.kind == want {
		return true
	}
	if n.kind != invalid {
		hint := ""
		if want == textNode && (n.kind == numberNode || n.kind == boolNode) {
			hint = "; use quotes"
		}
		r.at(n, CodeType, "must be %s, not %s%s", want, n.kind, hint)
	}
	return false
}

// isText reports a value that is no string, in the words of what it must be.
func isText(r *reporter, n *node, words string) bool {
	if n.kind != textNode && n.kind != invalid {
		r.at(n, CodeType, "%s; this is %s", words, n.kind)
	}
	return n.kind == textNode
}

// object is JSON data that keeps the order of its members.
type object []member

type member struct {
	name  string
	value any
}

func (o object) get(name string) any {
	for _, m := range o {
		if m.name == name {
			return m.value
		}
	}
	return nil
}
