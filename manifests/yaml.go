package manifests

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"gopkg.in/yaml.v3"
)

// Limits of one file.
const (
	// MaxFileBytes is how large a file may be.
	MaxFileBytes = 1 << 20
	// MaxDepth is how deeply lists and objects may nest in a document.
	MaxDepth = 64
	// MaxDocuments is how many documents a file may hold.
	MaxDocuments = 1000
)

// readYAML gives the documents of a YAML text. Documents without content are
// left out.
func (s *source) readYAML(r *reporter) []*node {
	if !s.checkBreaks(r) {
		return nil
	}
	docs, err := parseYAML(s.text)
	if err != nil {
		s.yamlError(r, err)
	}
	if len(docs) > MaxDocuments {
		r.add(0, 0, "", CodeTooLarge, "holds more than %d documents", MaxDocuments)
		return nil
	}
	y := yamlReader{source: s, reporter: r}
	var nodes []*node
	for _, doc := range docs {
		root := doc.Content[0]
		if root.Kind == yaml.ScalarNode && root.Value == "" && root.Style == 0 && root.Anchor == "" {
			continue
		}
		nodes = append(nodes, y.node(root, nil, "", 1))
	}
	return nodes
}

// parseYAML reads documents up to the first error, or one more than allowed.
func parseYAML(text []byte) (docs []*yaml.Node, err error) {
	defer func() {
		// The library panics on states it holds for impossible.
		if p := recover(); p != nil {
			err = errors.New("yaml: cannot be read")
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(text))
	for len(docs) <= MaxDocuments {
		var doc yaml.Node
		if err := dec.Decode(&doc); err == io.EOF {
			break
		} else if err != nil {
			return docs, err
		}
		if len(doc.Content) == 1 {
			docs = append(docs, &doc)
		}
	}
	return docs, nil
}

// yamlReader turns the library's nodes into ours.
type yamlReader struct {
	*source
	*reporter
}

func (y *yamlReader) node(in *yaml.Node, parent *node, step string, depth int) *node {
	p := y.placeAt(in.Line, in.Column)
	n := &node{parent: parent, step: step, line: p.line, column: p.column, offset: p.offset, flow: in.Style&yaml.FlowStyle != 0}
	switch {
	case in.Kind == yaml.AliasNode:
		y.at(n, CodeAlias, "uses a YAML alias; write the value out")
		return n
	case in.Anchor != "":
		y.at(n, CodeAlias, "has a YAML anchor; manifests have no aliases")
		return n
	case in.Style&yaml.TaggedStyle != 0 || p.offset < len(y.text) && y.text[p.offset] == '!':
		y.at(n, CodeTag, "has a YAML tag; the format decides types")
		return n
	case in.Kind != yaml.ScalarNode && depth > MaxDepth:
		y.at(n, CodeTooDeep, "nests more than %d deep", MaxDepth)
		return n
	}
	switch in.Kind {
	case yaml.MappingNode:
		n.kind = objectNode
		y.mapping(in, n, depth)
	case yaml.SequenceNode:
		n.kind = listNode
		for i, item := range in.Content {
			n.items = append(n.items, y.node(item, n, fmt.Sprint(i), depth+1))
		}
	case yaml.ScalarNode:
		y.scalar(in, n)
	}
	return n
}

func (y *yamlReader) scalar(in *yaml.Node, n *node) {
	const quoted = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	if in.Style&quoted != 0 {
		n.kind, n.text = textNode, in.Value
		return
	}
	var why string
	var code Code
	n.kind, n.value, code, why = plain(in.Value)
	if n.kind == invalid {
		y.at(n, code, "%s", why)
	} else if n.kind == textNode {
		n.text = in.Value
	}
}

func (y *yamlReader) mapping(in *yaml.Node, n *node, depth int) {
	seen := make(map[string]bool, len(in.Content)/2)
	for i := 0; i+1 < len(in.Content); i += 2 {
		k := in.Content[i]
		key := y.key(k, n, depth)
		value := y.node(in.Content[i+1], n, key.step, depth+1)
		switch {
		case key.kind != textNode:
		case seen[key.text]:
			y.at(key, CodeDuplicateKey, "stands here a second time")
			key.kind = invalid
		default:
			seen[key.text] = true
		}
		n.keys, n.items = append(n.keys, key), append(n.items, value)
	}
}

// key reads a key, which must be a string. It has the pointer of its value.
func (y *yamlReader) key(in *yaml.Node, object *node, depth int) *node {
	if in.Kind == yaml.ScalarNode && in.Style == 0 && in.Anchor == "" && in.Value == "<<" {
		p := y.placeAt(in.Line, in.Column)
		key := &node{parent: object, step: "<<", line: p.line, column: p.column, offset: p.offset}
		y.at(key, CodeAlias, "is a YAML merge key; write the members out")
		return key
	}
	key := y.node(in, object, keyStep(in), depth+1)
	if key.kind != textNode && key.kind != invalid {
		y.at(key, CodeType, "a key is a string, this is %s; use quotes", key.kind)
		key.kind = invalid
	}
	return key
}

// keyStep is how a key shows in pointers.
func keyStep(in *yaml.Node) string {
	if in.Kind == yaml.ScalarNode {
		return in.Value
	}
	return "?"
}

// yamlError reports what the library stopped at. It says the line at best, and
// often that of a surrounding value, so the place is worked out here.
func (s *source) yamlError(r *reporter, err error) {
	problem, reported := yamlProblem(err)
	if name, ok := strings.CutPrefix(problem, "unknown anchor '"); ok {
		name, _, _ = strings.Cut(name, "'")
		p := s.placeOf(max(0, bytes.Index(s.text, []byte("*"+name))))
		r.add(p.line, p.column, "", CodeAlias, "uses a YAML alias; write the value out")
		return
	}
	p := s.failure(problem, reported)
	if bytes.HasPrefix(s.text[min(p.offset, len(s.text)):], []byte("\t")) && strings.HasSuffix(problem, "cannot start any token") {
		problem = "a tab cannot stand here; indent with spaces"
	}
	r.add(p.line, p.column, "", CodeSyntax, "is not YAML: %s", problem)
}

// yamlProblem splits the library's message into its words and its line, 0 when
// there is none, which means the first.
func yamlProblem(err error) (problem string, line int) {
	problem = strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, ok := strings.CutPrefix(problem, "line "); ok {
		if n, err := fmt.Sscanf(rest, "%d: ", &line); n == 1 && err == nil {
			_, problem, _ = strings.Cut(rest, ": ")
		}
	}
	return problem, line
}

// searched is how large a text may be for failure to search in.
const searched = 64 << 10

// failure finds the place of a syntax error: the end of the shortest text from
// the start that the library refuses in the same words. The line that it names
// is at or before the place.
func (s *source) failure(problem string, reported int) place {
	start := s.placeAt(max(1, reported-1), 1)
	if len(s.text) > searched {
		return s.placeAt(max(1, reported), 1)
	}
	fails := func(end int) bool {
		_, err := parseYAML(s.text[:end])
		if err == nil {
			return false
		}
		p, _ := yamlProblem(err)
		return p == problem
	}
	// Not every longer text fails in the same words, but nearly every one
	// does, so halving finds the place or one close by.
	low, high := start.offset, len(s.text)
	for low < high {
		if middle := (low + high) / 2; fails(middle) {
			high = middle
		} else {
			low = middle + 1
		}
	}
	for low > 0 && low <= len(s.text) && s.text[low-1]&0xc0 == 0x80 {
		low-- // to the start of a character
	}
	return s.placeOf(max(0, low-1))
}
