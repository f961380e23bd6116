package httpapi

import (
	"context"
	"net/http"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mayfly-run/mayfly/internal/room"
	"github.com/mayfly-run/mayfly/runtime"
)

// Server serves a runtime. It is an [http.Handler]; [Server.Serve] adds the limits
// on connections, and stops in an orderly way.
type Server struct {
	rt     *runtime.Runtime
	config Config
	mux    *http.ServeMux

	description jsontext.Value // /openapi.json
	work        *room.Room     // of calls; and the memory of all requests
	acts        *room.Room     // of what is no call, and short
	unpacking   room.Share     // of tables whose length is not known before
	refusals    refusals
	streams     atomic.Int64

	calls    context.Context // ends when calls must
	endCalls context.CancelFunc
	stopping chan struct{} // closed when no more is taken
	stopOnce sync.Once
	running  sync.WaitGroup // calls
}

// New makes a server. [Server.Close] ends what it has under way; the runtime is
// the caller's, and must be closed after that.
func New(rt *runtime.Runtime, config Config) (*Server, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Server{
		rt: rt, config: config, mux: http.NewServeMux(), stopping: make(chan struct{}),
	}
	s.makeRoom()
	s.calls, s.endCalls = context.WithCancel(context.Background())
	if s.description, err = descriptionText(config.Version); err != nil {
		return nil, err
	}
	all := append(slices.Concat(routes, consoleRoutes), route{method: "GET", pattern: "/openapi.json", handle: (*request).openAPI})
	for _, rt := range all {
		s.mux.HandleFunc(rt.method+" "+rt.pattern, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, rt) })
	}
	if config.Metrics != nil {
		if err := config.Metrics.watch(s); err != nil {
			return nil, err
		}
	}
	if config.MCP != nil {
		s.mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
			s.serve(w, r, route{pattern: "/mcp", raw: (*request).mcp})
		})
	}
	return s, nil
}

// stop takes no more calls, and ends the streams.
func (s *Server) stop() { s.stopOnce.Do(func() { close(s.stopping) }) }

// Close cancels the calls that are under way, and waits until each of them is
// recorded.
func (s *Server) Close() {
	s.stop()
	s.endCalls()
	s.running.Wait()
}

// route is something that can be asked for. /openapi.json describes each.
type route struct {
	method, pattern string
	// public needs no token.
	public bool
	// handle answers with JSON; raw writes the answer itself.
	handle func(*request) answer
	raw    func(*request)

	// For the description: the types of what is read and answered, or the media
	// type; the parameters; the codes beside problems, default 200.
	summary string
	in, out any
	media   string
	query   []string
	codes   []int
}

// request is one request on its way.
type request struct {
	s      *Server
	w      http.ResponseWriter
	r      *http.Request
	caller Caller
	held   *room.Held // memory; nil before it is known who the caller is
	size   int64      // what the body takes as values
	leave  []func()   // give back the places that it has
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	counted := &counting{ResponseWriter: w}
	start := s.config.Now()
	var pattern string
	defer func() {
		if v := recover(); v != nil {
			if v == http.ErrAbortHandler {
				panic(v)
			}
			s.config.Logger.Error("a request failed", "route", pattern, "panic", v, "stack", string(debug.Stack()))
			if counted.status == 0 {
				s.write(counted, no(refuse(http.StatusInternalServerError, "internal", "", "something of Mayfly's own failed")))
			} else {
				panic(http.ErrAbortHandler) // what was sent is not the whole
			}
		}
		if s.config.Metrics != nil {
			s.config.Metrics.request(pattern, counted.status, s.config.Now().Sub(start))
		}
	}()
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Time{}) // that of the connection's last request; a test's writer has none
	if r.ContentLength != 0 {
		// Also for a body that nobody reads: the server reads it to its end.
		_ = control.SetReadDeadline(time.Now().Add(s.config.BodyTimeout))
		r.Body = timely{r.Body, control}
	}
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	if refused := s.fromHere(r); refused != nil {
		s.write(counted, no(refused))
		return
	}
	handler, found := s.mux.Handler(r)
	if !cleanPath(r.URL.Path) {
		found = "" // the mux would redirect
	}
	pattern = found
	if found != "" {
		_ = handler
		s.mux.ServeHTTP(counted, r)
		return
	}
	// What there is, is nobody's business without a token.
	if _, refused := s.authenticate(r); refused != nil {
		s.write(counted, no(refused))
		return
	}
	s.write(counted, no(s.notFound(r)))
}

func cleanPath(p string) bool {
	return strings.HasPrefix(p, "/") && (p == "/" || path.Clean(p) == strings.TrimSuffix(p, "/"))
}

// notFound says which methods there are for a path, if there are any.
func (s *Server) notFound(r *http.Request) *refused {
	var allow []string
	if cleanPath(r.URL.Path) {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			other := r.Clone(r.Context())
			other.Method = method
			if _, found := s.mux.Handler(other); found != "" {
				allow = append(allow, method)
			}
		}
	}
	if len(allow) == 0 {
		return refuse(http.StatusNotFound, "not_found", "", "there is nothing here; /openapi.json says what there is")
	}
	e := refuse(http.StatusMethodNotAllowed, "method", "", "this method does not exist here")
	e.allow = strings.Join(allow, ", ")
	return e
}

// serve serves a request for a route.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, to route) {
	q := &request{s: s, w: w, r: r}
	defer q.end()
	if !to.public {
		caller, refused := s.authenticate(r)
		if refused != nil {
			s.write(w, no(refused))
			return
		}
		q.caller = caller
		q.held = s.work.Of(caller.id()).Hold()
		q.r = r.WithContext(context.WithValue(r.Context(), callerKey{}, q))
	}
	if to.raw != nil {
		to.raw(q)
		return
	}
	if !to.public && to.method == http.MethodGet {
		if refused := q.act(); refused != nil {
			s.write(w, no(refused))
			return
		}
	}
	s.writeFor(q, to.handle(q))
}

// authenticate says who a request is from.
func (s *Server) authenticate(r *http.Request) (Caller, *refused) {
	if s.config.Tokens == nil {
		if s.config.Anonymous == nil {
			return Caller{}, refuse(http.StatusUnauthorized, "token", "Authorization", "nobody is let in here")
		}
		return *s.config.Anonymous, nil
	}
	headers := r.Header.Values("Authorization")
	if len(headers) != 1 {
		return Caller{}, refuse(http.StatusUnauthorized, "token", "Authorization", "a bearer token must be given, once")
	}
	scheme, token, _ := strings.Cut(headers[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return Caller{}, refuse(http.StatusUnauthorized, "token", "Authorization", "a bearer token must be given")
	}
	caller, known, err := s.config.Tokens.find(token)
	if err != nil {
		s.config.Logger.Error("nobody can be let in", "error", err)
		return Caller{}, refuse(http.StatusServiceUnavailable, "tokens", "", "tokens cannot be checked now; the operator can see why").retry(5)
	}
	if !known {
		return Caller{}, refuse(http.StatusUnauthorized, "token", "Authorization", "the token is not valid, or no longer")
	}
	return caller, nil
}

// writeDeadline bounds how long the client may take to take what is written next.
func (s *Server) writeDeadline(w http.ResponseWriter) {
	// A writer that has no deadline is one of a test.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.config.WriteTimeout))
}

// counting remembers the status.
type counting struct {
	http.ResponseWriter
	status int
}

func (c *counting) WriteHeader(status int) {
	if c.status == 0 {
		c.status = status
	}
	c.ResponseWriter.WriteHeader(status)
}

func (c *counting) Write(p []byte) (int, error) {
	if c.status == 0 {
		c.status = http.StatusOK
	}
	return c.ResponseWriter.Write(p)
}

// Unwrap is for [http.ResponseController].
func (c *counting) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// Flush is for handlers that look for an [http.Flusher].
func (c *counting) Flush() { _ = http.NewResponseController(c.ResponseWriter).Flush() }
