package main

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/mayfly-run/mayfly/runtime/httpapi"
)

// certificate is a certificate and its key, from files that can be read again.
type certificate struct {
	cert, key string
	pair      atomic.Pointer[tls.Certificate]
}

// load reads the files. After an error what was read before stays.
func (c *certificate) load(now time.Time) error {
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return fmt.Errorf("--tls-cert %s and --tls-key %s: %w", c.cert, c.key, err)
	}
	// Clients would refuse it, each in words of its own.
	switch leaf := pair.Leaf; {
	case now.After(leaf.NotAfter):
		return fmt.Errorf("--tls-cert %s: the certificate has expired on %s; renew it", c.cert, leaf.NotAfter.UTC().Format(time.RFC3339))
	case now.Before(leaf.NotBefore):
		return fmt.Errorf("--tls-cert %s: the certificate is valid from %s on, and not now; is the clock right?", c.cert, leaf.NotBefore.UTC().Format(time.RFC3339))
	}
	c.pair.Store(&pair)
	return nil
}

// config is for a server. Each new connection gets what was read last.
func (c *certificate) config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.pair.Load(), nil },
	}
}

// reload reads again what there is. A certificate that cannot be used leaves the
// old one in place; a token file that cannot be read lets nobody in, for it may
// have been changed to shut somebody out.
func reload(tokens *httpapi.Tokens, pair *certificate, log *slog.Logger) {
	if tokens != nil {
		if err := tokens.Reload(); err != nil {
			log.Error("nobody is let in until this is mended", "error", err)
		}
	}
	if pair != nil {
		if err := pair.load(time.Now()); err != nil {
			log.Error("the certificate stays as it was", "error", err)
		}
	}
}
