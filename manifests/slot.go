package manifests

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// textSlot is a string that keeps a rule.
type textSlot struct {
	p    *string
	rule rule
}

func (t textSlot) read(r *reporter, n *node) {
	if !expect(r, n, textNode) {
		return
	}
	if why := t.rule.check(n.text); why != "" {
		r.at(n, cmp.Or(t.rule.code, CodeValue), "%s", why)
		return
	}
	*t.p = n.text
}

func (t textSlot) value() any {
	if *t.p == "" {
		return nil
	}
	return *t.p
}

func (t textSlot) schema() object {
	s := object{{"type", "string"}}
	if t.rule.pattern != "" {
		s = append(s, member{"pattern", t.rule.pattern})
	}
	return s
}

// choiceSlot is one of several words.
type choiceSlot[T ~string] struct {
	p     *T
	words []T
}

func choice[T ~string](p *T, words ...T) choiceSlot[T] { return choiceSlot[T]{p, words} }

func (c choiceSlot[T]) read(r *reporter, n *node) {
	list := make([]string, len(c.words))
	for i, w := range c.words {
		list[i] = string(w)
	}
	words := "must be one of " + strings.Join(list, ", ")
	if !isText(r, n, words) {
		return
	}
	if !slices.Contains(list, n.text) {
		r.at(n, CodeValue, "%s", words)
		return
	}
	*c.p = T(n.text)
}

func (c choiceSlot[T]) value() any {
	if *c.p == "" {
		return nil
	}
	return string(*c.p)
}

func (c choiceSlot[T]) schema() object {
	var list []any
	for _, w := range c.words {
		list = append(list, string(w))
	}
	return object{{"type", "string"}, {"enum", list}}
}

// flagSlot is true or false.
type flagSlot struct{ p *bool }

func (f flagSlot) read(r *reporter, n *node) {
	if expect(r, n, boolNode) {
		*f.p = n.value.(bool)
	}
}

func (f flagSlot) value() any     { return *f.p }
func (f flagSlot) schema() object { return object{{"type", "boolean"}} }

// countSlot is a whole number within bounds; 0 means not set.
type countSlot struct {
	p        *int64
	min, max int64
}

func (c countSlot) read(r *reporter, n *node) {
	if !expect(r, n, numberNode) {
		return
	}
	v, ok := n.integer()
	if !ok || v < c.min || v > c.max {
		r.at(n, CodeValue, "must be a whole number from %d to %d", c.min, c.max)
		return
	}
	*c.p = v
}

func (c countSlot) value() any {
	if *c.p == 0 {
		return nil
	}
	return *c.p
}

func (c countSlot) schema() object {
	return object{{"type", "integer"}, {"minimum", c.min}, {"maximum", c.max}}
}

// formSlot is a string that stands for a value of another type.
type formSlot[T comparable] struct {
	p *T
	// parse returns the value, or what the string must be.
	parse   func(s string) (T, string)
	format  func(T) string
	pattern string
}

func (f formSlot[T]) read(r *reporter, n *node) {
	if _, words := f.parse(""); !isText(r, n, words) {
		return
	}
	v, why := f.parse(n.text)
	if why != "" {
		r.at(n, CodeValue, "%s", why)
		return
	}
	*f.p = v
}

func (f formSlot[T]) value() any {
	var zero T
	if *f.p == zero {
		return nil
	}
	return f.format(*f.p)
}

func (f formSlot[T]) schema() object {
	return object{{"type", "string"}, {"pattern", f.pattern}}
}

// listSlot is a list without repetitions. An absent list is nil; an empty one
// is not.
type listSlot[T comparable] struct {
	p    *[]T
	elem func(*T) slot
}

func list[T comparable](p *[]T, elem func(*T) slot) listSlot[T] { return listSlot[T]{p, elem} }

func (l listSlot[T]) read(r *reporter, n *node) {
	if !expect(r, n, listNode) {
		return
	}
	out := make([]T, 0, len(n.items))
	seen := make(map[T]bool, len(n.items))
	for _, item := range n.items {
		var v, zero T
		if item.kind == nullNode {
			r.at(item, CodeType, "has no value")
			continue
		}
		l.elem(&v).read(r, item)
		switch {
		case v == zero: // refused, and reported
		case seen[v]:
			r.at(item, CodeDuplicate, "stands in this list twice")
		default:
			seen[v] = true
			out = append(out, v)
		}
	}
	*l.p = out
}

func (l listSlot[T]) value() any {
	if *l.p == nil {
		return nil
	}
	out := make([]any, len(*l.p))
	for i := range *l.p {
		out[i] = l.elem(&(*l.p)[i]).value()
	}
	return out
}

func (l listSlot[T]) schema() object {
	return object{{"type", "array"}, {"items", l.elem(new(T)).schema()}, {"uniqueItems", true}}
}

// rowsSlot is a list of objects.
type rowsSlot[T any] struct {
	p     *[]T
	table func(*T) fields
}

func (l rowsSlot[T]) read(r *reporter, n *node) {
	if !expect(r, n, listNode) {
		return
	}
	out := make([]T, len(n.items))
	for i, item := range n.items {
		if item.kind == nullNode {
			r.at(item, CodeType, "has no value")
			continue
		}
		l.table(&out[i]).read(r, item)
	}
	*l.p = out
}

func (l rowsSlot[T]) value() any {
	if *l.p == nil {
		return nil
	}
	out := make([]any, len(*l.p))
	for i := range *l.p {
		out[i] = l.table(&(*l.p)[i]).value()
	}
	return out
}

func (l rowsSlot[T]) schema() object {
	return object{{"type", "array"}, {"items", l.table(new(T)).schema()}}
}

// mapSlot is an object with names of the author's choice.
type mapSlot[T any] struct {
	p    *map[string]T
	name rule
	elem func(*T) slot
}

func (m mapSlot[T]) read(r *reporter, n *node) {
	if !expect(r, n, objectNode) {
		return
	}
	out := make(map[string]T, len(n.items))
	for i, key := range n.keys {
		if key.kind != textNode {
			continue
		}
		if why := m.name.check(key.text); why != "" {
			r.at(key, CodeValue, "as a name: %s", why)
		}
		var v T
		switch item := n.items[i]; item.kind {
		case invalid:
		case nullNode:
			r.at(item, CodeType, "has no value; leave the name out instead")
		default:
			m.elem(&v).read(r, item)
		}
		out[key.text] = v
	}
	*m.p = out
}

func (m mapSlot[T]) value() any {
	if *m.p == nil {
		return nil
	}
	o := object{}
	for _, name := range slices.Sorted(maps.Keys(*m.p)) {
		v := (*m.p)[name]
		written := m.elem(&v).value()
		if written == nil {
			written = object{} // a group without anything in it
		}
		o = append(o, member{name, written})
	}
	return o
}

func (m mapSlot[T]) schema() object {
	s := object{{"type", "object"}}
	if m.name.pattern != "" {
		s = append(s, member{"propertyNames", object{{"pattern", m.name.pattern}}})
	}
	return append(s, member{"additionalProperties", m.elem(new(T)).schema()})
}

// optionalSlot is an object whose absence means something.
type optionalSlot[T any] struct {
	p     **T
	make  func() *T
	table func(*T) fields
}

func (o optionalSlot[T]) read(r *reporter, n *node) {
	v := o.make()
	o.table(v).read(r, n)
	*o.p = v
}

func (o optionalSlot[T]) value() any {
	if *o.p == nil {
		return nil
	}
	return o.table(*o.p).value()
}

func (o optionalSlot[T]) schema() object { return o.table(o.make()).schema() }

// groupSlot is an object that is always there, its fields at their defaults.
type groupSlot struct{ fields fields }

func group(fs fields) slot { return groupSlot{fs} }

func (g groupSlot) read(r *reporter, n *node) { g.fields.read(r, n) }
func (g groupSlot) schema() object            { return g.fields.schema() }

func (g groupSlot) value() any {
	if o := g.fields.value().(object); len(o) > 0 {
		return o
	}
	return nil
}

// fixedSlot is a field with one possible value, which decides what document
// this is and has been looked at before the table is read.
type fixedSlot struct{ text string }

func (fixedSlot) read(*reporter, *node) {}
func (f fixedSlot) value() any          { return f.text }
func (f fixedSlot) schema() object      { return object{{"const", f.text}} }
