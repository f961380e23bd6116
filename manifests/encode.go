package manifests

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"

	"github.com/mayfly-run/mayfly/internal/canonjson"
)

// YAML writes the tool as a manifest that [Parse] reads back as the same tool
// with the same digest. Fields that have their default are left out.
func (t *Tool) YAML() ([]byte, error) {
	return encodeYAML(document(t.fields(), newTool().fields()))
}

// JSON writes the tool as a manifest in JSON, like YAML.
func (t *Tool) JSON() ([]byte, error) {
	return encodeJSON(document(t.fields(), newTool().fields()))
}

// YAML writes the harness as a manifest that [Parse] reads back as the same
// harness. Fields that have their default are left out.
func (h *Harness) YAML() ([]byte, error) {
	return encodeYAML(document(h.fields(), NewHarness().fields()))
}

// JSON writes the harness as a manifest in JSON, like YAML.
func (h *Harness) JSON() ([]byte, error) {
	return encodeJSON(document(h.fields(), NewHarness().fields()))
}

// document gives the members of a table that are not at their defaults, with
// the version and kind in front.
func document(fs, defaults fields) object {
	full := fs.value().(object)
	rest := prune(full[2:], defaults.value().(object)[2:])
	return append(slices.Clone(full[:2]), rest...)
}

// prune drops what o has in common with defaults.
func prune(o, defaults object) object {
	var out object
	for _, m := range o {
		was := defaults.get(m.name)
		if reflect.DeepEqual(m.value, was) {
			continue
		}
		inner, ok := m.value.(object)
		wasInner, both := was.(object)
		if ok && both {
			if inner = prune(inner, wasInner); len(inner) == 0 {
				continue
			}
			m.value = inner
		}
		out = append(out, m)
	}
	return out
}

func encodeJSON(o object) ([]byte, error) {
	out, err := appendJSON(nil, o, "\n")
	if err != nil {
		return nil, err
	}
	return append(out, '\n'), nil
}

// appendJSON writes JSON data over several lines. newline is a line feed and
// the indentation of the value.
func appendJSON(dst []byte, v any, newline string) ([]byte, error) {
	inner := newline + "  "
	var err error
	switch v := v.(type) {
	case object:
		if len(v) == 0 {
			return append(dst, "{}"...), nil
		}
		dst = append(dst, '{')
		for i, m := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(dst, inner...)
			if dst, err = appendText(dst, m.name); err != nil {
				return nil, err
			}
			dst = append(dst, ": "...)
			if dst, err = appendJSON(dst, m.value, inner); err != nil {
				return nil, err
			}
		}
		return append(append(dst, newline...), '}'), nil
	case map[string]any:
		return appendJSON(dst, sorted(v), newline)
	case []any:
		if len(v) == 0 {
			return append(dst, "[]"...), nil
		}
		dst = append(dst, '[')
		for i, item := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(dst, inner...)
			if dst, err = appendJSON(dst, item, inner); err != nil {
				return nil, err
			}
		}
		return append(append(dst, newline...), ']'), nil
	case string:
		return appendText(dst, v)
	}
	return canonjson.Append(dst, v)
}

// appendText writes a string as JSON, readable where canonjson escapes.
func appendText(dst []byte, s string) ([]byte, error) {
	if strings.ContainsFunc(s, func(c rune) bool { return c > '~' && (!unicode.IsPrint(c) || c == unicode.ReplacementChar) }) {
		return canonjson.Append(dst, s)
	}
	dst = append(dst, '"')
	for start, c := range s {
		if c > '~' {
			dst = append(dst, s[start:start+len(string(c))]...)
			continue
		}
		text, err := canonjson.Append(nil, string(c))
		if err != nil {
			return nil, err
		}
		dst = append(dst, text[1:len(text)-1]...)
	}
	return append(dst, '"'), nil
}

// sorted gives an unordered object in order of its names, those of JSON Schema
// that readers look for first in front.
func sorted(m map[string]any) object {
	o := make(object, 0, len(m))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		o = append(o, member{name, m[name]})
	}
	return o
}

func encodeYAML(o object) ([]byte, error) {
	n, err := yamlNode(o)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(n); err != nil {
		return nil, fmt.Errorf("write YAML: %w", err)
	}
	if err := enc.Close(); err != nil {
		return nil, fmt.Errorf("write YAML: %w", err)
	}
	return b.Bytes(), nil
}

func yamlNode(v any) (*yaml.Node, error) {
	switch v := v.(type) {
	case object:
		n := &yaml.Node{Kind: yaml.MappingNode}
		for _, m := range v {
			value, err := yamlNode(m.value)
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, yamlText(m.name), value)
		}
		return n, nil
	case map[string]any:
		return yamlNode(sorted(v))
	case []any:
		n := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		for _, item := range v {
			inner, err := yamlNode(item)
			if err != nil {
				return nil, err
			}
			if inner.Kind != yaml.ScalarNode {
				n.Style = 0
			}
			n.Content = append(n.Content, inner)
		}
		return n, nil
	case string:
		return yamlText(v), nil
	case float64:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: yamlFloat(v)}, nil
	case *big.Int:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: v.String()}, nil
	}
	text, err := canonjson.Append(nil, v)
	return &yaml.Node{Kind: yaml.ScalarNode, Value: string(text)}, err
}

// yamlFloat writes a float in the form that every reader of YAML takes for one.
func yamlFloat(f float64) string {
	if f == math.Trunc(f) || math.Abs(f) >= 1e-4 {
		s := strconv.FormatFloat(f, 'f', -1, 64)
		if !strings.Contains(s, ".") {
			s += ".0"
		}
		return s
	}
	s := strconv.FormatFloat(f, 'e', -1, 64)
	if mantissa, exp, _ := strings.Cut(s, "e"); !strings.Contains(mantissa, ".") {
		s = mantissa + ".0e" + exp
	}
	return s
}

// yamlText writes a string: plain where nothing can take it for something else,
// in lines where it has several, else in quotes.
func yamlText(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s, Style: yaml.DoubleQuotedStyle}
	switch {
	case isPlain(s):
		n.Style = 0
	case isLines(s):
		n.Style = yaml.LiteralStyle
	}
	return n
}

// isPlain is stricter than YAML has to be.
func isPlain(s string) bool {
	if k, _, _, _ := plain(s); k != textNode || !letter(s[0]) && !digit(s[0]) && !isOneOf(s[0], "./_$") {
		return false
	}
	for i := range len(s) {
		c := s[i]
		inside := i > 0 && i+1 < len(s)
		if !letter(c) && !digit(c) && !isOneOf(c, "./_$-") && !(inside && c == ' ') && !(inside && c == ':' && s[i+1] != ' ') && !(i > 0 && isOneOf(c, "()+@")) {
			return false
		}
	}
	return true
}

// isLines reports whether a literal block shows s as it is.
func isLines(s string) bool {
	if !strings.Contains(s, "\n") || s[0] == ' ' || s[0] == '\n' || strings.HasSuffix(s, "\n\n") {
		return false
	}
	for l := range strings.SplitSeq(s, "\n") {
		if l != strings.TrimRight(l, " ") || strings.ContainsFunc(l, func(c rune) bool { return !unicode.IsPrint(c) }) {
			return false
		}
	}
	return true
}
