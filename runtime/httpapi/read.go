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
)

// read reads the body of a request into v, strictly: JSON of which every name is
// known and given once.
func (q *request) read(v any) *refused {
	text, refused := q.body()
	if refused != nil {
		return refused
	}
	limits := canonjson.Limits{MaxBytes: len(text) + 1, MaxDepth: governor.MaxArgumentDepth + 8}
	if _, err := canonjson.Parse(text, limits); err != nil {
		where := ""
		if e, ok := errors.AsType[*canonjson.Error](err); ok {
			return refuse(http.StatusBadRequest, "bad_json", e.Pointer, "at byte %d: %s", e.Offset, e.Reason)
		}
		return refuse(http.StatusBadRequest, "bad_json", where, "the body is not JSON")
	}
	if text[firstByte(text)] != '{' {
		return refuse(http.StatusBadRequest, "bad_json", "", "the body must be a JSON object")
	}
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
		return nil, refuse(http.StatusUnsupportedMediaType, "media_type", "Content-Type", "the body must be application/json in UTF-8")
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

// held counts what has been read of a body: what somebody says that he will send
// takes no room from others.
type held struct {
	io.Reader
	q *request
}

func (h held) Read(p []byte) (int, error) {
	n, err := h.Reader.Read(p)
	h.q.held += int64(n)
	if h.q.s.bodies.Add(int64(n)) > h.q.s.config.MaxBodies {
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
