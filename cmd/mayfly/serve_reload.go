package main

import (
	"crypto/sha256"
	"log/slog"
	"os"
	"os/signal"

	"github.com/mayfly-run/mayfly/manifests"
	"github.com/mayfly-run/mayfly/runtime/httpapi"
)

// atHangup has reload called when the process is told to read its files again. stop
// ends that.
func atHangup(reload func()) (stop func()) {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, hangup)
	done := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-hangups:
				reload()
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(hangups)
		close(done)
		<-ended
	}
}

// reload reads again what can be changed while calls run: tokens and certificate. The
// harness is read at the start only. It is looked at, so that the operator is told if
// it is not the one in force.
func (c *serveCommand) reload(p *process, inForce *manifests.Set, tokens *httpapi.Tokens, pair *certificate, log *slog.Logger) {
	reload(tokens, pair, log)
	if inForce.Harness.Origin.File == "" {
		return // there is none
	}
	set, err := loadHarness(inForce.Harness.Origin.File)
	switch {
	case err != nil:
		log.Warn("the harness that was read at the start stays in force; the one on the disk has errors, and would not start", "error", manifestErrors(err))
	case fingerprint(set) != fingerprint(inForce):
		log.Warn("the harness that was read at the start stays in force; the one on the disk is another one; a restart reads it")
	}
}

// fingerprint is the same for the same manifests.
func fingerprint(set *manifests.Set) [sha256.Size]byte {
	h := sha256.New()
	add := func(text []byte, err error) {
		if err != nil {
			text = []byte(err.Error())
		}
		_, _ = h.Write(append(text, 0)) // a hash takes everything
	}
	add(set.Harness.JSON())
	for _, t := range set.Tools() {
		add(t.JSON())
	}
	return [sha256.Size]byte(h.Sum(nil))
}
