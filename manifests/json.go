package manifests

import (
	"bytes"
	"errors"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mayfly-run/mayfly/internal/canonjson"
)

// readJSON gives the documents of a JSON text: values one after the other.
func (s *source) readJSON(r *reporter) []*node {
	j := jsonReader{source: s, reporter: r}
	// Names that occur twice are reported here, with their places.
	j.dec = jsontext.NewDecoder(bytes.NewBuffer(s.text), jsontext.AllowDuplicateNames(true))
	var nodes []*node
	for {
		start := j.dec.InputOffset()
		n, err := j.node(nil, "", 1)
		if err == io.EOF {
			return nodes
		}
		if err != nil {
			j.refuse(err, int(start))
			return nodes
		}
		if nodes = append(nodes, n); len(nodes) > MaxDocuments {
			r.add(0, 0, "", CodeTooLarge, "holds more than %d documents", MaxDocuments)
			return nil
		}
	}
}

// jsonReader turns JSON tokens into nodes.
type jsonReader struct {
	*source
	*reporter
	dec *jsontext.Decoder
}

var errTooDeep = errors.New("too deep")

func (j *jsonReader) node(parent *node, step string, depth int) (*node, error) {
	tok, err := j.dec.ReadToken()
	if err != nil {
		return nil, err
	}
	n := &node{parent: parent, step: step, flow: true}
	end := int(j.dec.InputOffset())
	switch tok.Kind() {
	case 'n':
		n.kind = nullNode
		j.place(n, end-len("null"))
	case 't', 'f':
		n.kind, n.value = boolNode, tok.Bool()
		j.place(n, end-len(tok.String()))
	case '0':
		literal := tok.String()
		j.place(n, end-len(literal))
		j.number(n, literal)
	case '"':
		n.kind, n.text = textNode, tok.String()
		j.place(n, j.stringStart(end))
	case '[':
		j.place(n, end-1)
		n.kind = listNode
		return n, j.list(n, depth)
	case '{':
		j.place(n, end-1)
		n.kind = objectNode
		return n, j.object(n, depth)
	}
	return n, nil
}

func (j *jsonReader) place(n *node, offset int) {
	p := j.placeOf(offset)
	n.offset, n.line, n.column = p.offset, p.line, p.column
}

// stringStart finds the quote that opens the string which ends before end.
func (j *jsonReader) stringStart(end int) int {
	for i := end - 2; i >= 0; i-- {
		if j.text[i] != '"' {
			continue
		}
		escapes := 0
		for i-escapes-1 >= 0 && j.text[i-escapes-1] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return i
		}
	}
	return 0
}

func (j *jsonReader) number(n *node, literal string) {
	v, broken := canonjson.ParseNumber(literal)
	if broken != "" {
		j.at(n, CodeNumber, "is %s", broken)
		return
	}
	n.kind, n.value = numberNode, v
}

func (j *jsonReader) list(n *node, depth int) error {
	if depth > MaxDepth {
		j.at(n, CodeTooDeep, "nests more than %d deep", MaxDepth)
		return errTooDeep
	}
	for i := 0; j.dec.PeekKind() != ']'; i++ {
		item, err := j.node(n, strconv.Itoa(i), depth+1)
		if err != nil {
			return err
		}
		n.items = append(n.items, item)
	}
	_, err := j.dec.ReadToken()
	return err
}

func (j *jsonReader) object(n *node, depth int) error {
	if depth > MaxDepth {
		j.at(n, CodeTooDeep, "nests more than %d deep", MaxDepth)
		return errTooDeep
	}
	seen := map[string]bool{}
	for j.dec.PeekKind() != '}' {
		key, err := j.node(n, "", depth)
		if err != nil {
			return err
		}
		key.step = key.text
		value, err := j.node(n, key.text, depth+1)
		if err != nil {
			return err
		}
		if seen[key.text] {
			j.at(key, CodeDuplicateKey, "stands here a second time")
			key.kind = invalid
		}
		seen[key.text] = true
		n.keys, n.items = append(n.keys, key), append(n.items, value)
	}
	_, err := j.dec.ReadToken()
	return err
}

// refuse reports what the JSON library stopped at, in the document that starts
// at start. canonjson knows the reasons.
func (j *jsonReader) refuse(err error, start int) {
	if errors.Is(err, errTooDeep) {
		return
	}
	_, err = canonjson.Parse(j.text[start:], canonjson.Limits{MaxBytes: MaxFileBytes, MaxDepth: MaxDepth})
	e, ok := errors.AsType[*canonjson.Error](err)
	if !ok {
		j.add(0, 0, "", CodeSyntax, "is not JSON")
		return
	}
	p := j.placeOf(start + e.Offset)
	switch e.Code {
	case canonjson.Encoding:
		j.add(p.line, p.column, e.Pointer, CodeEncoding, "holds %s", e.Reason)
	case canonjson.DuplicateName, canonjson.Number:
		// Reported already; the place of the syntax error stays unknown.
		j.add(0, 0, "", CodeSyntax, "is not JSON; mend the other errors first")
	default:
		j.add(p.line, p.column, e.Pointer, CodeSyntax, "is not JSON: %s", e.Reason)
	}
}
