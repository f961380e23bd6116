package main

import (
	"net/netip"
	"net/url"
	"os"
	"strings"

	"github.com/mayfly-run/mayfly/manifests"
	"github.com/mayfly-run/mayfly/runtime"
)

// spanProblems says what is wrong with where a harness sends its spans. Nothing is
// sent.
func spanProblems(file string, h *manifests.Harness) []problem {
	if h.Trace.OTLP == nil {
		return nil
	}
	found := func(level, code, message string) problem {
		return problem{
			Level: level, Fails: level == "error", File: file, Pointer: "/spec/trace/otlp", Code: code, Message: message,
			full: file + ": " + message + " (" + code + ")",
		}
	}
	var all []problem
	if err := runtime.CheckSpans(h, os.LookupEnv); err != nil {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			all = append(all, found("error", "spans", line))
		}
	}
	if u, err := url.Parse(h.Trace.OTLP.Endpoint); err == nil && u.Scheme == "http" && !onThisMachine(u.Hostname()) {
		all = append(all, found("warning", "spans_in_clear", "trace.otlp: spans and headers go over the network in the clear; https changes that"))
	}
	return all
}

// onThisMachine reports whether a host is a loopback address or localhost.
func onThisMachine(host string) bool {
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}
