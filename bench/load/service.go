package main

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"net"
	"net/http"
	"sync"
	"time"
)

// service is what the http tools call: it looks things up, and is paid.
type service struct {
	addr   string
	server *http.Server

	mu      sync.Mutex
	lookups int
	paid    map[string]int // by idempotency key
	// rude has one payment in ten hung up on after it was made, so that nobody can
	// know of it.
	rude   bool
	hungUp int
}

// newService starts a service on loopback.
func newService() (*service, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &service{addr: l.Addr().String(), paid: make(map[string]int)}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /lookup", s.lookup)
	mux.HandleFunc("POST /pay", s.pay)
	s.server = &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() { _ = s.server.Serve(l) }() // until it is closed
	return s, nil
}

// found is what the service knows of something.
func found(id string) string {
	return fmt.Sprintf(`{"id":%q,"crc":%d}`, id, crc32.ChecksumIEEE([]byte(id)))
}

func (s *service) lookup(w http.ResponseWriter, r *http.Request) {
	var in struct{ ID string }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.lookups++
	s.mu.Unlock()
	answerJSON(w, found(in.ID))
}

func receipt(to string, usd int) string { return fmt.Sprintf(`{"to":%q,"paid":%d}`, to, usd) }

func (s *service) pay(w http.ResponseWriter, r *http.Request) {
	var in struct {
		To  string
		USD int
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.paid[r.Header.Get("Idempotency-Key")]++
	hangUp := s.rude && len(s.paid)%10 == 0
	if hangUp {
		s.hungUp++
	}
	s.mu.Unlock()
	if hangUp {
		panic(http.ErrAbortHandler)
	}
	answerJSON(w, receipt(in.To, in.USD))
}

func answerJSON(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(text))
}
