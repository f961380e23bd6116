package httpapi

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/mayfly-run/mayfly/governor"
	"github.com/mayfly-run/mayfly/internal/canonjson"
	"github.com/mayfly-run/mayfly/internal/room"
)

// read reads the body of a request that is no call into v, strictly: JSON of which
// every name is known and given once. The request gets a place.
func (q *request) read(v any) *refused { return q.readIn(q.s.acts, (*request).act, v) }

// readWork does so for a call, which gets a place among those.
func (q *request) readWork(v any) *refused { return q.readIn(q.s.work, (*request).place, v) }

// readIn makes values of a body only when the request has its place: what waits is
// text. If there will be no place, there is no use in reading it.
func (q *request) readIn(in *room.Room, place func(*request) *refused, v any) *refused {
	if in.Of(q.caller.id()).Full() {
		return q.noRoom()
	}
	text, refused := q.checked()
	if refused == nil {
		refused = place(q)
	}
	if refused == nil {
		refused = q.hold(q.size)
	}
	if refused != nil {
		return refused
	}
	return unmarshal(text, v)
}

// checked reads a body and sees to it that it is JSON. Nothing is made of it before
// it is known how much that would be.
func (q *request) checked() ([]byte, *refused) {
	text, bad := q.body()
	if bad != nil {
		return nil, bad
	}
	limits := canonjson.Limits{MaxBytes: len(text) + 1, MaxDepth: governor.MaxArgumentDepth + 8}
	size, err := canonjson.Check(text, limits)
	if err != nil {
		if e, ok := errors.AsType[*canonjson.Error](err); ok {
			return nil, refuse(http.StatusBadRequest, "bad_json", e.Pointer, "at byte %d: %s", e.Offset, e.Reason)
		}
		return nil, refuse(http.StatusBadRequest, "bad_json", "", "the body is not JSON")
	}
	if text[firstByte(text)] != '{' {
		return nil, refuse(http.StatusBadRequest, "bad_json", "", "the body must be a JSON object")
	}
	q.size = size
	return text, nil
}

func unmarshal(text []byte, v any) *refused {
	if err := json.Unmarshal(text, v, json.RejectUnknownMembers(true)); err != nil {
		where := ""
		detail := "a member has the wrong type"
		if e, ok := errors.AsType[*json.SemanticError](err); ok {
			where = string(e.JSONPointer)
			if errors.Is(err, json.ErrUnknownName) {
				detail = "there is no such member; /openapi.json has those that there are"
			}
		}
		return refuse(http.StatusBadRequest, "bad_request", where, "%s", detail)
	}
	return nil
}

// firstByte is where the value starts: the text has been parsed.
func firstByte(text []byte) int {
	for i, c := range text {
		if !strings.ContainsRune(" \t\r\n", rune(c)) {
			return i
		}
	}
	return 0
}

func (q *request) body() ([]byte, *refused) {
	r := q.r
	if kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" ||
		params["charset"] != "" && !strings.EqualFold(params["charset"], "utf-8") {
		return nil, refuse(http.StatusUnsupportedMediaType, "media_type", "Content-Type", "the body must be JSON in UTF-8, with the header Content-Type: application/json")
	}
	if r.Header.Get("Content-Encoding") != "" {
		return nil, refuse(http.StatusUnsupportedMediaType, "media_type", "Content-Encoding", "the body must not be encoded")
	}
	max := q.s.config.MaxBody
	if r.ContentLength > max {
		return nil, tooLong(max)
	}
	text, err := io.ReadAll(held{http.MaxBytesReader(q.w, r.Body, max), q})
	if errors.Is(err, errHeld) {
		// The rest is not kept. A client that is still sending would see its
		// connection break, and not the answer.
		q.skip()
		return nil, q.s.busy("other requests are being read or answered, and all together would be too long")
	}
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		return nil, tooLong(max)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		q.w.Header().Set("Connection", "close")
		return nil, refuse(http.StatusRequestTimeout, "slow", "", "the body did not arrive within %v", q.s.config.BodyTimeout)
	}
	if err != nil {
		q.w.Header().Set("Connection", "close")
		return nil, refuse(http.StatusBadRequest, "bad_request", "", "the body did not arrive")
	}
	if len(text) == 0 {
		return nil, refuse(http.StatusBadRequest, "bad_json", "", "the body is empty; it must be a JSON object")
	}
	return text, nil
}

// errHeld is of a body for which there is no room beside the others.
var errHeld = errors.New("too much is held")

// skip takes a body whose request is refused, and keeps nothing of it.
func (q *request) skip() {
	if q.r.ContentLength <= q.s.config.MaxBody {
		_, _ = io.Copy(io.Discard, http.MaxBytesReader(q.w, q.r.Body, q.s.config.MaxBody))
	}
}

// copies is how many there are of a body: as it came, and what is kept of it.
const copies = 2

// held counts what has been read of a body: what somebody says that he will send
// takes no room from others.
type held struct {
	io.Reader
	q *request
}

func (h held) Read(p []byte) (int, error) {
	n, err := h.Reader.Read(p)
	if !h.q.held.Add(copies * int64(n)) {
		return n, errHeld
	}
	return n, err
}

// timely is a body that must arrive in time. What is read after its end is whether
// the client is still there, for which there is no hurry.
type timely struct {
	io.ReadCloser
	control *http.ResponseController
}

func (t timely) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	if err == io.EOF {
		_ = t.control.SetReadDeadline(time.Time{}) // there was one, so that it can be taken back
	}
	return n, err
}

func tooLong(max int64) *refused {
	return refuse(http.StatusRequestEntityTooLarge, "too_large", "", "the body may have %d bytes", max)
}
