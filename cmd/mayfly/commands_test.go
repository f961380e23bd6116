package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

// commands are what the scripts use beside the built-in ones.
var commands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"exitcode": exitCodeIs,
	"bytes":    hasBytes,
	"signal":   signalWhen,
	"edit":     edit,
	"fill":     fill,
	"mkfifo":   makePipe,
	"flip":     flip,
	"makerows": makeRows,
	"capture":  capture,
	"serve":    serve,
}

// exitCodeIs runs a program and checks its exit code:
//
//	exitcode 3 mayfly exec …
func exitCodeIs(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exitcode N program [args]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		e, ok := err.(interface{ ExitCode() int })
		if !ok {
			ts.Fatalf("run: %v", err)
		}
		got = e.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d; stderr:\n%s", got, want, ts.ReadFile("stderr"))
	}
}

// capture sets a variable to what the first group of a pattern matches in a
// file, or stdout or stderr:
//
//	capture RUN stdout '"run":"([^"]+)"'
func capture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: capture variable file pattern")
	}
	pattern, err := regexp.Compile(args[2])
	ts.Check(err)
	match := pattern.FindStringSubmatch(ts.ReadFile(args[1]))
	if len(match) < 2 {
		ts.Fatalf("%s has no match for %q", args[1], args[2])
	}
	ts.Setenv(args[0], match[1])
}

// hasBytes checks that a file, or stdout or stderr, holds a Go string literal's
// bytes, which need not be text:
//
//	bytes stdout '"\x1b[2J"'
func hasBytes(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: bytes file literal")
	}
	want, err := strconv.Unquote(args[1])
	ts.Check(err)
	if got := ts.ReadFile(args[0]); strings.Contains(got, want) == neg {
		ts.Fatalf("%s is %q; has %q: %v", args[0], got, want, neg)
	}
}

// signalWhen sends a signal to the background program of that name as soon as a
// file exists:
//
//	signal INT ready
func signalWhen(ts *testscript.TestScript, neg bool, args []string) {
	signals := map[string]os.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM}
	if neg || len(args) != 2 || signals[args[0]] == nil {
		ts.Fatalf("usage: signal INT|TERM pipe")
	}
	// Opening a named pipe waits for the writer, which is the program.
	pipe, err := os.Open(ts.MkAbs(args[1]))
	ts.Check(err)
	pid := new(bytes.Buffer)
	_, err = pid.ReadFrom(pipe)
	ts.Check(err)
	ts.Check(pipe.Close())
	n, err := strconv.Atoi(strings.TrimSpace(pid.String()))
	ts.Check(err)
	p, err := os.FindProcess(n)
	ts.Check(err)
	ts.Check(p.Signal(signals[args[0]]))
}

// edit writes a file whose content is a Go string literal:
//
//	edit in.csv '"a\r\n"'
func edit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: edit file literal")
	}
	text, err := strconv.Unquote(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}

// fill writes a file of so many letters:
//
//	fill large.py 1048577
func fill(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: fill file bytes")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), bytes.Repeat([]byte("x"), n), 0o600))
}

// makePipe makes a named pipe.
func makePipe(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: mkfifo name")
	}
	ts.Check(syscall.Mkfifo(ts.MkAbs(args[0]), 0o600))
}

// flip changes one byte in the middle of the file that a pattern finds:
//
//	flip cache/*/image
func flip(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: flip pattern")
	}
	found, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(found) != 1 {
		ts.Fatalf("%s finds %d files", args[0], len(found))
	}
	data, err := os.ReadFile(found[0])
	ts.Check(err)
	data[len(data)/2] ^= 1
	ts.Check(os.WriteFile(found[0], data, 0o600))
}

// makeRows writes a CSV file of six columns:
//
//	makerows large.csv 100000
func makeRows(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: makerows file rows")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	sections := []string{"admin", "libs", "python", "utils", "web"}
	var b bytes.Buffer
	b.WriteString("id,name,section,size,score,ok\n")
	for i := range n {
		fmt.Fprintf(&b, "%d,package-%d,%s,%d,%d.%02d,%t\n", i, i, sections[i%5], i, i%100, i%97, i%2 == 0)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b.Bytes(), 0o600))
}

// serve starts a web service that ends with the script, and sets a variable to
// its host and port. It answers a POST to /echo with what it was sent and whether
// it was sent the right credential, to /lost with nothing, to /later with a time,
// to /v1/traces by putting it into spans.bin,
// and to /no with a failure that repeats the credential:
//
//	serve SERVICE
func serve(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: serve variable")
	}
	spans := ts.MkAbs("spans.bin")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Method != http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		switch r.URL.Path {
		case "/echo":
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"sent":%s,"authorized":%v}`, body, r.Header.Get("Authorization") == "Bearer "+serviceToken)
		case "/later":
			w.Header().Set("Retry-After", "Fri, 01 Jan 2100 00:00:00 GMT")
			w.WriteHeader(http.StatusTooManyRequests)
		case "/v1/traces":
			f, err := os.OpenFile(spans, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err == nil {
				_, err = f.Write(body)
				err = errors.Join(err, f.Close())
			}
			if err != nil {
				w.WriteHeader(http.StatusInternalServerError)
			}
		case "/lost":
			panic(http.ErrAbortHandler)
		default:
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, "not with "+r.Header.Get("Authorization"))
		}
	}))
	ts.Defer(server.Close)
	ts.Setenv(args[0], server.Listener.Addr().String())
}

// serviceToken is what serve wants to be sent.
const serviceToken = "sentinel-0815-token"
