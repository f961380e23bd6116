package wasm

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mayfly-run/mayfly/sandbox"
)

// Bounds on what a guest says about an error.
const (
	maxMessage   = 16 << 10
	maxTraceback = 64 << 10
	maxErrorJSON = 1 << 20
)

// response reads the guest's response, which lies in its memory: everything
// that is kept is copied. cut is the full size of a value that was over its
// limit, else 0.
func (c *call) response(msg []byte) (r sandbox.Result, cut int64, err error) {
	s, err := parseSections(msg)
	if err != nil {
		return r, 0, err
	}
	kind, err := s.u32(responseKind)
	if err != nil {
		return r, 0, err
	}
	switch kind {
	case kindValue:
		return c.value(s[responseValue], s[responseDropped])
	case kindRaised, kindNoJSON:
		r.Status = sandbox.StatusError
	case kindNoMemory:
		r.Status = sandbox.StatusMemoryLimit
	default:
		return r, 0, fmt.Errorf("unknown kind %d", kind)
	}
	r.Error, err = decodeError(s[responseError])
	return r, 0, err
}

// maxDropped is more than any guest can count in the time it has.
const maxDropped = 1 << 50

// value reads the JSON text v, of which the guest may have kept back some.
func (c *call) value(v, dropped []byte) (r sandbox.Result, cut int64, err error) {
	size := int64(len(v))
	if dropped != nil {
		if len(dropped) != 8 {
			return r, 0, errors.New("the dropped section is not one u64")
		}
		more := binary.LittleEndian.Uint64(dropped)
		if more == 0 || more > maxDropped || size != c.spec.Limits.MaxValue {
			return r, 0, errors.New("the dropped section does not fit the value")
		}
		size += int64(more)
	}
	r.Usage.Value = size
	if limit := c.spec.Limits.MaxValue; size > limit {
		r.Status = sandbox.StatusOutputLimit
		r.ValuePrefix = string(cutBytes(v, int(limit)))
		r.Error = &sandbox.Error{
			Type:    string(sandbox.StatusOutputLimit),
			Message: fmt.Sprintf("the value has %d bytes of JSON, the limit is %d", size, limit),
		}
		return r, size, nil
	}
	// The interpreter's own state or memory may be what the code made of it, so
	// the text is not trusted to be JSON.
	v = bytes.Clone(v)
	if err := checkJSON(v, c.spec.Limits.MaxDepth); err != nil {
		return r, 0, fmt.Errorf("value: %w", err)
	}
	r.Status, r.Value = sandbox.StatusOK, v
	return r, 0, nil
}

// checkJSON accepts exactly one JSON value of bounded depth, without duplicate
// names or invalid UTF-8.
func checkJSON(b []byte, depth int) error {
	if len(b) == 0 {
		return errors.New("empty")
	}
	// Most values are short and flat; then no decoder is needed to know the
	// depth.
	if !jsontext.Value(b).IsValid() {
		return errors.New("not valid JSON")
	}
	if bytes.Count(b, []byte{'['})+bytes.Count(b, []byte{'{'}) <= depth {
		return nil
	}
	d := jsontext.NewDecoder(bytes.NewReader(b))
	for {
		if _, err := d.ReadToken(); err == io.EOF {
			return nil
		} else if err != nil {
			return errors.New("not valid JSON")
		}
		if d.StackDepth() > depth {
			return fmt.Errorf("nested deeper than %d", depth)
		}
	}
}

// guestError is the error object of the guest ABI.
type guestError struct {
	Type      string `json:"type"`
	Message   string `json:"message"`
	Line      int    `json:"line"`
	Source    string `json:"source"`
	Path      string `json:"path"`
	Traceback string `json:"traceback"`
}

func decodeError(b []byte) (*sandbox.Error, error) {
	if len(b) > maxErrorJSON {
		return nil, fmt.Errorf("error object of %d bytes, at most %d are read", len(b), maxErrorJSON)
	}
	var e guestError
	if err := json.Unmarshal(b, &e, json.RejectUnknownMembers(true)); err != nil {
		return nil, errors.New("error object is not of its form")
	}
	return &sandbox.Error{
		Type:      cutText(e.Type, maxName),
		Message:   cutText(e.Message, maxMessage),
		Line:      max(e.Line, 0),
		Source:    cutText(e.Source, maxMessage),
		Path:      cutText(e.Path, maxMessage),
		Traceback: cutText(e.Traceback, maxTraceback),
	}, nil
}

// decodeHostCall reads a guest's request to a host tool.
func decodeHostCall(view []byte, depth int) (tool string, args sandbox.RawJSON, err error) {
	var req struct {
		Tool string         `json:"tool"`
		Args jsontext.Value `json:"args"`
	}
	b := bytes.Clone(view)
	if err := checkJSON(b, depth+1); err != nil {
		return "", nil, err
	}
	if err := json.Unmarshal(b, &req, json.RejectUnknownMembers(true)); err != nil {
		return "", nil, errors.New("not an object of tool and args")
	}
	if req.Tool == "" || req.Args.Kind() != jsontext.KindBeginObject {
		return "", nil, errors.New("not an object of tool and args")
	}
	return req.Tool, sandbox.RawJSON(req.Args), nil
}

// cutBytes is cutText for bytes.
func cutBytes(b []byte, n int) []byte {
	if len(b) <= n {
		return b
	}
	for n > 0 && !utf8.RuneStart(b[n]) {
		n--
	}
	return b[:n]
}

// cutText keeps at most n bytes of s, whole characters only.
func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
