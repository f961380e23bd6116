package mcp

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/mayfly-run/mayfly/governor"
	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/sandbox"
)

// Surface is the shape in which tools are offered.
type Surface string

// The surfaces.
const (
	// SurfaceFlat offers each tool under its own name.
	SurfaceFlat Surface = "flat"
	// SurfaceVerbs offers tool_search, tool_describe and tool_invoke, and nothing
	// else: for catalogues that are too long to be read to a model.
	SurfaceVerbs Surface = "verbs"
)

// Config says what sessions are like. The zero value has every default.
type Config struct {
	// Run is the run that each session starts. Its ID must be empty: a run is
	// one session's.
	Run runtime.RunConfig
	// RunID continues a run instead of starting one. Only [New] takes it.
	RunID string
	// Approver is who answers when the client shows its person a question. The
	// governor takes no answer from the run's own principal. nil: nobody is asked
	// here, and a call that needs approval waits for an answer from elsewhere.
	Approver *runtime.Approver
	// Surface is how the tools are offered. Default [SurfaceFlat].
	Surface Surface
	// Exec offers [ExecName] too, which runs code under ExecLimits.
	Exec bool
	// ExecLimits bound a call of [ExecName]; zero fields have their defaults.
	ExecLimits sandbox.Limits
	// Progress is how often a client that asks for it is told that its call still
	// runs. Default 2s; at least 10ms.
	Progress time.Duration
	// PageSize is how many tools are listed at once. Default 100.
	PageSize int
	// MaxMessage is how long a message may be, in bytes. Default 33 MiB: the
	// longest arguments and what goes around them.
	MaxMessage int
	// Room is what the client may have under way. nil: a room of the session's own, of
	// MaxCalls calls that run at once, default 16, while 64 more may wait, and of
	// MaxMemory bytes for what the client sends: twice its length, and what it takes
	// as values. Default 512 MiB.
	Room      Room
	MaxCalls  int
	MaxMemory int64
	// Version is what the server says about itself. Default "0".
	Version string
	// Logger is told of what an operator has to know. Default: nobody.
	Logger *slog.Logger
}

// Defaults of [Config].
const (
	DefaultProgress   = 2 * time.Second
	DefaultPageSize   = 100
	DefaultMaxMessage = governor.MaxArgumentBytes + 1<<20

	minProgress = 10 * time.Millisecond
)

// withDefaults checks a configuration and fills in what was left out.
func (c Config) withDefaults() (Config, error) {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	switch c.Surface {
	case "":
		c.Surface = SurfaceFlat
	case SurfaceFlat, SurfaceVerbs:
	default:
		bad("there is no surface %q", c.Surface)
	}
	if c.Run.ID != "" {
		bad("a run of a given ID cannot be every session's")
	}
	if a := c.Approver; a != nil && (a.Name == "" || a.Name == c.Run.Principal) {
		bad("the approver needs a name that is not the principal's: nobody answers for their own calls")
	}
	if c.Progress == 0 {
		c.Progress = DefaultProgress
	}
	if c.Progress < minProgress {
		bad("progress every %v is too often; the least is %v", c.Progress, minProgress)
	}
	if c.PageSize == 0 {
		c.PageSize = DefaultPageSize
	}
	if c.MaxMessage == 0 {
		c.MaxMessage = DefaultMaxMessage
	}
	setDefault(&c.MaxCalls, DefaultMaxCalls)
	setDefault(&c.MaxMemory, DefaultMaxMemory)
	if c.Room == nil {
		c.Room = newOwnRoom(c.MaxCalls, c.MaxMemory)
	}
	if c.PageSize < 0 || c.MaxMessage < 0 || c.MaxCalls < 0 || c.MaxMemory < 0 {
		bad("a negative limit")
	}
	if c.Version == "" {
		c.Version = "0"
	}
	c.Logger = c.log()
	c.ExecLimits = c.ExecLimits.WithDefaults()
	return c, errors.Join(errs...)
}

// log is whom the operator's matters are told.
func (c Config) log() *slog.Logger {
	if c.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return c.Logger
}
