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
	// MaxSessions is how many there may be at once. Default 256.
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

	mu       sync.Mutex
	sessions map[string]*httpSession // by session ID
	starting int                     // that have no ID yet
	closed   bool
	ending   sync.WaitGroup // what watches the sessions
}

type httpSession struct {
	*Session
	owner string
	open  *open
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
	h := &Handler{rt: rt, config: config, cross: http.NewCrossOriginProtection(), sessions: make(map[string]*httpSession)}
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

func setDefault[T int | time.Duration](v *T, d T) {
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
		refuse(w, http.StatusForbidden, refusal{null, jsonrpc.CodeInvalidRequest, "requests from other sites are refused"})
		return
	}
	owner, config, err := h.config.Session(r)
	if err != nil {
		refuse(w, http.StatusForbidden, refusal{null, jsonrpc.CodeInvalidRequest, "this request may not use the tools"})
		return
	}
	var message jsonrpc.Message
	var text []byte
	if r.Method == http.MethodPost {
		var refused *refusal
		status := 0
		if message, text, status, refused = h.read(w, r); refused != nil {
			refuse(w, status, *refused)
			return
		}
	}
	id := r.Header.Get(sessionHeader)
	if id == "" {
		h.serveNew(w, r, owner, config, message)
		return
	}
	h.mu.Lock()
	s := h.sessions[id]
	h.mu.Unlock()
	if s == nil || s.owner != owner {
		// Whose it is, is nobody else's business.
		refuse(w, http.StatusNotFound, refusal{null, jsonrpc.CodeInvalidRequest, "there is no such session; start a new one"})
		return
	}
	if r.Method == http.MethodDelete {
		s.end() // the SDK waits for what is under way
	}
	if call, ok := message.(*jsonrpc.Request); ok && call.IsCall() {
		if refused := s.open.start(call, text); refused != nil {
			status := http.StatusBadRequest
			if refused.code == codeBusy {
				w.Header().Set("Retry-After", "1")
				status = http.StatusServiceUnavailable
			}
			refuse(w, status, *refused)
			return
		}
		defer s.open.end(call.ID)
	}
	h.inner.ServeHTTP(w, r)
}

// read reads a message strictly, and puts it back for the SDK.
func (h *Handler) read(w http.ResponseWriter, r *http.Request) (jsonrpc.Message, []byte, int, *refusal) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, int64(h.config.MaxMessage)))
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		return nil, nil, http.StatusRequestEntityTooLarge, &refusal{null, jsonrpc.CodeInvalidRequest, tooLong(h.config.MaxMessage)}
	}
	if err != nil {
		return nil, nil, http.StatusBadRequest, &refusal{null, jsonrpc.CodeParseError, "the message did not arrive"}
	}
	r.Body = io.NopCloser(bytes.NewReader(text))
	m, refused := decode(text)
	return m, text, http.StatusBadRequest, refused
}

// serveNew serves a request that belongs to no session. Only one that starts a
// session has a run.
func (h *Handler) serveNew(w http.ResponseWriter, r *http.Request, owner string, config Config, m jsonrpc.Message) {
	if call, ok := m.(*jsonrpc.Request); !ok || !call.IsCall() || call.Method != "initialize" {
		h.inner.ServeHTTP(w, r)
		return
	}
	if !h.reserve() {
		w.Header().Set("Retry-After", "10")
		refuse(w, http.StatusServiceUnavailable, refusal{null, codeBusy, "there are as many sessions as there may be; nothing was done; try again later"})
		return
	}
	s := &httpSession{owner: owner, open: newOpen(h.config.MaxMessage)}
	id := rand.Text()
	var err error
	if s.Session, err = newSession(r.Context(), h.rt, config, func() string { return id }); err != nil {
		h.release()
		config.log().Error("a session cannot be started", "error", err)
		refuse(w, http.StatusInternalServerError, refusal{null, jsonrpc.CodeInternalError, "a session cannot be started now"})
		return
	}
	h.mu.Lock()
	h.sessions[id] = s
	h.starting--
	h.mu.Unlock()
	h.inner.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), newSessionKey{}, s)))
	for connected := range s.server.Sessions() {
		h.watch(id, connected)
		return
	}
	h.forget(id) // it was not started after all
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
func (h *Handler) reserve() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || len(h.sessions)+h.starting >= h.config.MaxSessions {
		return false
	}
	h.starting++
	return true
}

func (h *Handler) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.starting--
}

// forget drops a session that has ended.
func (h *Handler) forget(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s := h.sessions[id]; s != nil {
		s.end()
		delete(h.sessions, id)
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
		s.end()
		for connected := range s.server.Sessions() {
			_ = connected.Close() // it waits for the calls, which have just been ended
		}
	}
	h.ending.Wait()
}

// refuse answers with an error of JSON-RPC.
func refuse(w http.ResponseWriter, status int, r refusal) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "%s\n", r.text()) // nobody else can be told
}
