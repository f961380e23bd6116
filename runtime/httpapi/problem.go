package httpapi

import (
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// problem is an answer that is no outcome of a call, as RFC 9457 has it. It
// says which member is wrong, and holds no value of one.
type problem struct {
	// Type is urn:mayfly:problem: and a word that does not change.
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	// Detail says what is wrong and what to do.
	Detail string `json:"detail"`
	// Where is the JSON Pointer, the header or the parameter that it is about.
	Where string `json:"where,omitzero"`
}

// refused is a problem on its way to the client.
type refused struct {
	problem
	retryAfter int    // seconds; 0: nothing is said
	busy       bool   // there was no room
	allow      string // the methods that there are
}

func refuse(status int, word, where, format string, args ...any) *refused {
	return &refused{problem: problem{
		Type: "urn:mayfly:problem:" + word, Title: http.StatusText(status), Status: status, Detail: fmt.Sprintf(format, args...), Where: where,
	}}
}

func (r *refused) retry(seconds int) *refused {
	r.retryAfter = seconds
	return r
}

// answer is what a handler gives back: a body of JSON, or a problem.
type answer struct {
	status     int
	body       any
	retryAfter int
	refused    *refused
}

func no(r *refused) answer { return answer{refused: r} }

func ok(body any) answer { return answer{status: http.StatusOK, body: body} }

// write writes an answer. Text that is not UTF-8 gets U+FFFD where it is not.
func (s *Server) write(w http.ResponseWriter, a answer) { s.writeFor(&request{s: s, w: w}, a) }

// smallAnswer is how long an answer may be for which a client is not waited for: the
// kernel has room for it.
const smallAnswer = 64 << 10

// writeFor writes the answer to a request. One that is long keeps the request's
// place until the client has taken it, so that those who are slow to take theirs
// are as few as there are places.
func (s *Server) writeFor(q *request, a answer) {
	w := q.w
	body, contentType := a.body, "application/json"
	if r := a.refused; r != nil {
		a.status, a.retryAfter = r.Status, r.retryAfter
		body, contentType = r.problem, "application/problem+json"
		if r.allow != "" {
			w.Header().Set("Allow", r.allow)
		}
		if r.Status == http.StatusUnauthorized {
			w.Header().Set("WWW-Authenticate", "Bearer")
		}
	}
	text, err := json.Marshal(body, jsontext.AllowInvalidUTF8(true), json.Deterministic(true))
	if err != nil {
		s.config.Logger.Error("an answer cannot be written", "error", err)
		a.status, contentType = http.StatusInternalServerError, "application/problem+json"
		text = []byte(`{"type":"urn:mayfly:problem:internal","title":"Internal Server Error","status":500,"detail":"the answer cannot be written"}`)
	}
	if a.retryAfter > 0 {
		w.Header().Set("Retry-After", fmt.Sprint(a.retryAfter))
	}
	if len(text) <= smallAnswer {
		q.end()
	}
	if a.refused != nil && a.refused.busy {
		s.refuse(q.r.Context(), q.caller.id())
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", fmt.Sprint(len(text)+1))
	s.writeDeadline(w)
	w.WriteHeader(a.status)
	_, _ = w.Write(append(text, '\n')) // nobody else can be told
}
