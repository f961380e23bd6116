package mcp

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mayfly-run/mayfly/runtime"
)

// HandlerConfig says whom a [Handler] serves.
type HandlerConfig struct {
	// Session says who sends a request, and what a session of theirs is like. It
	// is asked about every request; a session answers to whom it was started for,
	// and to nobody else. An error refuses the request. Required.
	Session func(*http.Request) (owner string, config Config, err error)
	// MaxSessions is how many there may be at once. Default 256. One owner has three
	// quarters of them at most. Where there is none left, the session of whoever has
	// most that has been idle for longest ends for the new one.
	MaxSessions int
	// IdleTimeout ends a session that has sent nothing for so long. Default 30m.
	IdleTimeout time.Duration
	// MaxMessage is how long a message may be, in bytes. Default
	// [DefaultMaxMessage].
	MaxMessage int
}

// Defaults of [HandlerConfig].
const (
	DefaultMaxSessions = 256
	DefaultIdleTimeout = 30 * time.Minute
)

// Handler serves clients over streamable HTTP, at any path. It knows nothing of
// credentials: whoever mounts it has authenticated the request before.
//
// As the protocol has it, a client whose connection breaks has not given its call
// up; one that says so, or ends its session, has.
type Handler struct {
	rt     *runtime.Runtime
	config HandlerConfig
	inner  *sdk.StreamableHTTPHandler
	cross  *http.CrossOriginProtection
	lobby  *sdk.Server
	room   Room // of requests whose owner has none

	answers *answers

	mu       sync.Mutex
	sessions map[string]*httpSession // by session ID
	owners   map[string]int          // how many each has, those that are about to start too
	closed   bool
	ending   sync.WaitGroup // what watches the sessions
}

type httpSession struct {
	*Session
	id    string
	owner string
	open  *open

	// Guarded by the handler's mu.
	active int       // requests, and streams
	used   time.Time // when the last one ended
}

// NewHandler makes a handler. [Handler.Close] ends its sessions.
func NewHandler(rt *runtime.Runtime, config HandlerConfig) (*Handler, error) {
	if config.Session == nil {
		return nil, errors.New("mcp: nothing says whose a request is")
	}
	if config.MaxSessions < 0 || config.IdleTimeout < 0 || config.MaxMessage < 0 {
		return nil, errors.New("mcp: a negative limit")
	}
	setDefault(&config.MaxSessions, DefaultMaxSessions)
	setDefault(&config.IdleTimeout, DefaultIdleTimeout)
	setDefault(&config.MaxMessage, DefaultMaxMessage)
	h := &Handler{
		rt: rt, config: config, cross: http.NewCrossOriginProtection(), sessions: make(map[string]*httpSession),
		owners: make(map[string]int), answers: &answers{open: make(map[string]*account)}, room: newOwnRoom(DefaultMaxCalls, DefaultMaxMemory),
	}
	// Requests that start no session are answered by a server that has nothing.
	h.lobby = sdk.NewServer(&sdk.Implementation{Name: "mayfly", Version: "0"}, &sdk.ServerOptions{
		Capabilities: &sdk.ServerCapabilities{}, GetSessionID: func() string { return "" },
	})
	h.inner = sdk.NewStreamableHTTPHandler(func(r *http.Request) *sdk.Server {
		if s, ok := r.Context().Value(newSessionKey{}).(*httpSession); ok {
			return s.server
		}
		return h.lobby
	}, &sdk.StreamableHTTPOptions{SessionTimeout: config.IdleTimeout, MaxRequestBodyBytes: int64(config.MaxMessage)})
	return h, nil
}

func setDefault[T int | int64 | time.Duration](v *T, d T) {
	if *v == 0 {
		*v = d
	}
}

// newSessionKey is where a request carries the session that it starts.
type newSessionKey struct{}

const sessionHeader = "Mcp-Session-Id"

// ServeHTTP serves one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := h.cross.Check(r); err != nil {
		h.refuse(w, http.StatusForbidden, refusal{null, jsonrpc.CodeInvalidRequest, "requests from other sites are refused"})
		return
	}
	owner, config, err := h.config.Session(r)
	if err != nil {
		h.refuse(w, http.StatusForbidden, refusal{null, jsonrpc.CodeInvalidRequest, "this request may not use the tools"})
		return
	}
	if config.Room == nil {
		config.Room = h.room
	}
	mine := &account{room: config.Room}
	defer mine.end()
	m := received{}
	if r.Method == http.MethodPost {
		var refused *refusal
		if m, refused = h.read(w, r, mine); refused != nil {
			h.refuse(w, m.status, *refused)
			return
		}
	}
	id := r.Header.Get(sessionHeader)
	if id == "" {
		h.serveNew(w, r, owner, config, m)
		return
	}
	s := h.enter(id, owner)
	if s == nil {
		// Whose it is, is nobody else's business.
		h.refuse(w, http.StatusNotFound, refusal{null, jsonrpc.CodeInvalidRequest, "there is no such session; start a new one"})
		return
	}
	defer h.leave(s)
	if r.Method == http.MethodDelete {
		s.end() // the SDK waits for what is under way
	}
	if call, ok := m.message.(*jsonrpc.Request); ok && call.IsCall() {
		if refused := s.open.start(call, m.text); refused != nil {
			status := http.StatusBadRequest
			if refused.code == codeBusy {
				status = http.StatusServiceUnavailable
			}
			h.refuse(w, status, *refused)
			return
		}
		defer s.open.end(call.ID)
		defer h.answers.add(r.Header, rand.Text(), mine)()
	}
	h.inner.ServeHTTP(w, r)
}

// received is a message of a request.
type received struct {
	message jsonrpc.Message
	text    []byte
	status  int // of the refusal
}

// read reads a message strictly, and puts it back for the SDK.
func (h *Handler) read(w http.ResponseWriter, r *http.Request, mine *account) (received, *refusal) {
	body := http.MaxBytesReader(w, r.Body, int64(h.config.MaxMessage))
	text, err := io.ReadAll(counted{body, mine})
	if errors.Is(err, errNoRoom) {
		// A client that is still sending would see its connection break, and not the
		// answer.
		_, _ = io.Copy(io.Discard, body)
		return received{status: http.StatusServiceUnavailable}, &refusal{null, codeBusy, busyNow}
	}
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		return received{status: http.StatusRequestEntityTooLarge}, &refusal{null, jsonrpc.CodeInvalidRequest, tooLong(h.config.MaxMessage)}
	}
	if err != nil {
		return received{status: http.StatusBadRequest}, &refusal{null, jsonrpc.CodeParseError, "the message did not arrive"}
	}
	r.Body = io.NopCloser(bytes.NewReader(text))
	m, refused := decode(text)
	if refused != nil {
		return received{status: http.StatusBadRequest}, refused
	}
	if call, ok := m.(*jsonrpc.Request); ok && !mine.take(valuesAround(call.Method, text, call.Params)) {
		id, _ := idOf(text)
		return received{status: http.StatusServiceUnavailable}, &refusal{id, codeBusy, busyNow}
	}
	return received{message: m, text: text}, nil
}

// errNoRoom is of a message for which there is no room beside others.
var errNoRoom = errors.New("too much is held")

// counted counts what has been read.
type counted struct {
	io.Reader
	mine *account
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if n > 0 && !c.mine.take(copies*int64(n)) {
		return n, errNoRoom
	}
	return n, err
}

// serveNew serves a request that belongs to no session. Only one that starts a
// session has a run.
func (h *Handler) serveNew(w http.ResponseWriter, r *http.Request, owner string, config Config, m received) {
	call, ok := m.message.(*jsonrpc.Request)
	if !ok || !call.IsCall() || call.Method != "initialize" {
		h.inner.ServeHTTP(w, r)
		return
	}
	leave, ok := config.Room.Act(r.Context())
	if !ok {
		id, _ := idOf(m.text)
		h.refuse(w, http.StatusServiceUnavailable, refusal{id, codeBusy, busyNow})
		return
	}
	defer leave()
	if !h.reserve(owner) {
		h.refuse(w, http.StatusServiceUnavailable, refusal{null, codeBusy, "there are as many sessions as there may be; nothing was done; try again later"})
		return
	}
	id := rand.Text()
	s := &httpSession{id: id, owner: owner, open: newOpen(h.config.MaxMessage), active: 1}
	var err error
	if s.Session, err = newSession(r.Context(), h.rt, config, func() string { return id }); err != nil {
		h.release(owner)
		config.log().Error("a session cannot be started", "error", err)
		h.refuse(w, http.StatusInternalServerError, refusal{null, jsonrpc.CodeInternalError, "a session cannot be started now"})
		return
	}
	s.answers = h.answers
	h.mu.Lock()
	h.sessions[id] = s
	h.mu.Unlock()
	defer h.leave(s)
	h.inner.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), newSessionKey{}, s)))
	for connected := range s.server.Sessions() {
		h.watch(id, connected)
		return
	}
	h.forget(id) // it was not started after all
}

// enter gives a session of an owner's to a request; nil: there is none. Each needs a
// leave.
func (h *Handler) enter(id, owner string) *httpSession {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.sessions[id]
	if s == nil || s.owner != owner {
		return nil
	}
	s.active++
	return s
}

func (h *Handler) leave(s *httpSession) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s.active--
	s.used = time.Now()
}

// watch forgets a session when it ends.
func (h *Handler) watch(id string, connected *sdk.ServerSession) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ending.Go(func() {
		_ = connected.Wait() // however it ended
		h.forget(id)
	})
}

// reserve takes the place of a session that is about to start.
func (h *Handler) reserve(owner string) bool {
	h.mu.Lock()
	most := h.config.MaxSessions
	each := most - most/4
	var ended *httpSession
	if !h.closed && (h.count() >= most || h.owners[owner] >= each) {
		if ended = h.idlest(owner, each); ended != nil {
			h.drop(ended) // one is enough: there are never more than may be
		}
	}
	ok := !h.closed && h.count() < most && h.owners[owner] < each
	if ok {
		h.owners[owner]++
	}
	h.mu.Unlock()
	if ended != nil {
		ended.close()
	}
	return ok
}

// count is how many sessions there are. Preconditions: h.mu is held.
func (h *Handler) count() (n int) {
	for _, of := range h.owners {
		n += of
	}
	return n
}

// idlest is the session that can end so that owner has another one: of owner, if it
// has as many as it may, else of who has most, if that is more than owner will have;
// of those with nothing under way, the one that has been so for longest; nil: there
// is none. Preconditions: h.mu is held.
func (h *Handler) idlest(owner string, each int) (idlest *httpSession) {
	whose := owner
	if h.owners[owner] < each {
		for other, n := range h.owners {
			if n > h.owners[whose] {
				whose = other
			}
		}
	}
	for _, s := range h.sessions {
		if s.owner == whose && s.active == 0 && (idlest == nil || s.used.Before(idlest.used)) {
			idlest = s
		}
	}
	return idlest
}

func (h *Handler) release(owner string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.owners[owner]--; h.owners[owner] == 0 {
		delete(h.owners, owner)
	}
}

// forget drops a session that has ended.
func (h *Handler) forget(id string) {
	h.mu.Lock()
	s := h.sessions[id]
	if s != nil {
		h.drop(s)
	}
	h.mu.Unlock()
	if s != nil {
		s.end()
	}
}

// drop takes a session out. Preconditions: h.mu is held.
func (h *Handler) drop(s *httpSession) {
	delete(h.sessions, s.id)
	if h.owners[s.owner]--; h.owners[s.owner] == 0 {
		delete(h.owners, s.owner)
	}
}

// close ends a session and what is under way in it, and waits for that.
func (s *httpSession) close() {
	s.end()
	for connected := range s.server.Sessions() {
		_ = connected.Close() // it waits for the calls, which have just been ended
	}
}

// Close ends all sessions and what is under way in them, and waits for that. No
// request may be on its way to the handler any more.
func (h *Handler) Close() {
	h.mu.Lock()
	h.closed = true
	all := slices.Collect(maps.Values(h.sessions))
	h.mu.Unlock()
	for _, s := range all {
		s.close()
	}
	h.ending.Wait()
}

// refuse answers with an error of JSON-RPC.
func (h *Handler) refuse(w http.ResponseWriter, status int, r refusal) {
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "%s\n", r.text()) // nobody else can be told
}
