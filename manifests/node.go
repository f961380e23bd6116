package manifests

import (
	"math/big"
	"strconv"
	"strings"
)

// node is one value of a document, from YAML or JSON alike, with its place.
type node struct {
	kind kind
	// line and column count from 1, column in characters.
	line, column int
	// offset is where the value's text starts, in bytes.
	offset int
	// text is a string's value.
	text string
	// value is a boolean (bool) or a number (int64, *big.Int, float64).
	value any
	// keys and items are the members of an object; items those of a list.
	keys, items []*node
	// flow: a container in brackets, as all of JSON is.
	flow bool

	parent *node
	step   string // from parent to here
}

// kind is what a node is.
type kind uint8

const (
	// invalid: an error about the node has been reported; nothing more is to
	// be said about it.
	invalid kind = iota
	nullNode
	boolNode
	numberNode
	textNode
	listNode
	objectNode
)

func (k kind) String() string {
	return [...]string{"invalid", "empty", "true or false", "a number", "a string", "a list", "an object"}[k]
}

// pointer is the JSON pointer of the node in its document.
func (n *node) pointer() string {
	if n.parent == nil {
		return ""
	}
	return n.parent.pointer() + "/" + escapePointer(n.step)
}

var pointerEscape = strings.NewReplacer("~", "~0", "/", "~1")

func escapePointer(step string) string { return pointerEscape.Replace(step) }

// get returns a member of an object, nil when there is none or n is nil.
func (n *node) get(path ...string) *node {
	for _, name := range path {
		n = n.member(name)
	}
	return n
}

func (n *node) member(name string) *node {
	if n == nil || n.kind != objectNode {
		return nil
	}
	for i, key := range n.keys {
		if key.text == name && key.kind == textNode {
			return n.items[i]
		}
	}
	return nil
}

// child returns the member or item of a container that a step of a JSON
// pointer leads to.
func (n *node) child(step string) *node {
	if n.kind == listNode {
		i, err := strconv.Atoi(step)
		if err != nil || i < 0 || i >= len(n.items) {
			return nil
		}
		return n.items[i]
	}
	return n.member(step)
}

// tree gives the node as plain JSON data, as canonjson has it. ok is false when
// there is an invalid node in it.
func (n *node) tree() (v any, ok bool) {
	switch n.kind {
	case nullNode:
		return nil, true
	case boolNode, numberNode:
		return n.value, true
	case textNode:
		return n.text, true
	case listNode:
		list := make([]any, len(n.items))
		ok = true
		for i, item := range n.items {
			v, fine := item.tree()
			list[i] = v
			ok = ok && fine
		}
		return list, ok
	case objectNode:
		object := make(map[string]any, len(n.items))
		ok = true
		for i, item := range n.items {
			v, fine := item.tree()
			object[n.keys[i].text] = v
			ok = ok && fine && n.keys[i].kind == textNode
		}
		return object, ok
	}
	return nil, false
}

// integer reads a number that has no fraction and fits.
func (n *node) integer() (int64, bool) {
	switch v := n.value.(type) {
	case int64:
		return v, true
	case float64:
		i := int64(v)
		return i, float64(i) == v
	case *big.Int:
		return 0, false
	}
	return 0, false
}
