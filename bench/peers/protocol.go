package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// request is one line to a driver. The drivers are programs in the language
// that a peer's documentation is written in; each hosts its peer as that
// documentation shows, and does what it is asked, one thing at a time.
type request struct {
	// Op is what to do:
	//
	//	start  make a fresh sandbox and take 1+1 from it
	//	again  take 1+1 from one sandbox that has been there before
	//	rate   start, over and over, for Seconds
	//	run    run code in a fresh sandbox
	//	hold   have Count sandboxes alive that have given 1+1
	//	drop   let those go
	Op string `json:"op"`

	// Body are statements, Expr is the expression whose value is wanted, of run.
	Body string `json:"body,omitempty"`
	Expr string `json:"expr,omitempty"`
	// Input is a file of JSON; the code finds it parsed, as rows.
	Input string `json:"input,omitempty"`
	// TimeoutMS and Memory are limits, as far as the peer has them: for the
	// running code, and in bytes.
	TimeoutMS int    `json:"timeout_ms,omitempty"`
	Memory    uint64 `json:"memory,omitempty"`
	// Warm allows a sandbox that has been used before: only run_ms counts.
	Warm bool `json:"warm,omitempty"`
	// Unstoppable allows a configuration that cannot stop the code, if that is
	// faster.
	Unstoppable bool `json:"unstoppable,omitempty"`

	Seconds float64 `json:"seconds,omitempty"`
	Count   int     `json:"count,omitempty"`
}

// answer is one line from a driver.
type answer struct {
	// Versions come first, once, when the driver is ready.
	Versions map[string]string `json:"versions,omitempty"`

	// StartMS and RunMS are what it took to have a sandbox, and then to run the
	// code, by the driver's own clock.
	StartMS float64 `json:"start_ms,omitempty"`
	RunMS   float64 `json:"run_ms,omitempty"`
	Calls   int     `json:"calls,omitempty"`

	// Status says how a run ended: "ok", "error" (the guest's), "timeout",
	// "died" (the guest's process), or a word of the peer's own.
	Status string `json:"status,omitempty"`
	// How says by what means it ended, if not by itself.
	How string `json:"how,omitempty"`
	// Value is JSON text.
	Value string      `json:"value,omitempty"`
	Error *guestError `json:"error,omitempty"`
	// Stdout is how many bytes of output came out; more may have been written.
	Stdout int64 `json:"stdout,omitempty"`

	// NA says why the peer cannot do what was asked.
	NA string `json:"na,omitempty"`
	// Fault is a failure of the driver itself.
	Fault string `json:"fault,omitempty"`
}

// guestError is what the code raised, or what the peer raised for it.
type guestError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

// host is a peer that is driven from Go.
type host interface {
	// versions of all that takes part.
	versions() (map[string]string, error)
	// start makes a fresh sandbox, takes 1+1 from it, and ends it. It is called
	// from several goroutines at once.
	start() error
	// again takes 1+1 from the same sandbox every time; errNA if there is no
	// such thing.
	again() error
	run(q request) (answer, error)
	// hold gives a function that lets go of what it holds.
	hold(count int) (func(), error)
}

// notApplicable is the error of a host that cannot do something, with the reason.
type notApplicable string

func (n notApplicable) Error() string { return string(n) }

// serve answers requests until the input ends.
func serve(h host, parallel int, in io.Reader, out io.Writer) error {
	versions, err := h.versions()
	if err != nil {
		return err
	}
	w := json.NewEncoder(out)
	if err := w.Encode(answer{Versions: versions}); err != nil {
		return err
	}
	drop := func() {}
	defer func() { drop() }()
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var q request
		if err := json.Unmarshal(line, &q); err != nil {
			return fmt.Errorf("a request: %w", err)
		}
		a, err := respond(h, parallel, q, &drop)
		var na notApplicable
		switch {
		case errors.As(err, &na):
			a = answer{NA: string(na)}
		case err != nil:
			a = answer{Fault: err.Error()}
		}
		if err := w.Encode(a); err != nil {
			return err
		}
	}
}
