// Package egresstest has a name server for tests: a real one, on the loopback
// interface, that answers as a test tells it to.
package egresstest

import (
	"context"
	"encoding/binary"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Names is a name server.
type Names struct {
	conn   net.PacketConn
	answer func(name string, nth int) []netip.Addr

	mu    sync.Mutex
	asked map[string]int
}

// NewNames starts a name server that ends with the test. answer gives the
// addresses of a name, without a dot at its end; nth counts from 1 how often its
// IPv4 addresses were asked for. A name without addresses does not exist.
func NewNames(t testing.TB, answer func(name string, nth int) []netip.Addr) *Names {
	t.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &Names{conn: conn, answer: answer, asked: make(map[string]int)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		n.serve()
	}()
	t.Cleanup(func() {
		_ = conn.Close()
		<-done
	})
	return n
}

// Resolver asks this name server and no other.
func (n *Names) Resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp4", n.conn.LocalAddr().String())
	}}
}

// Asked is how often the IPv4 addresses of a name were asked for.
func (n *Names) Asked(name string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.asked[name]
}

// All gives the names whose IPv4 addresses were asked for.
func (n *Names) All() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Sorted(maps.Keys(n.asked))
}

func (n *Names) serve() {
	buffer := make([]byte, 1500)
	for {
		size, from, err := n.conn.ReadFrom(buffer)
		if err != nil {
			return
		}
		if reply := n.reply(buffer[:size]); reply != nil {
			_, _ = n.conn.WriteTo(reply, from)
		}
	}
}

// The parts of DNS messages that are needed here (RFC 1035).
const (
	headerSize    = 12
	typeA         = 1
	typeAAAA      = 28
	classInternet = 1
)

// reply answers a query with one question; nil for what is none.
func (n *Names) reply(query []byte) []byte {
	if len(query) < headerSize {
		return nil
	}
	var labels []string
	at := headerSize
	for at < len(query) && query[at] != 0 {
		end := at + 1 + int(query[at])
		if end > len(query) {
			return nil
		}
		labels = append(labels, string(query[at+1:end]))
		at = end
	}
	at++
	if at+4 > len(query) {
		return nil
	}
	kind := binary.BigEndian.Uint16(query[at:])
	question := query[headerSize : at+4]
	name := strings.ToLower(strings.Join(labels, "."))
	n.mu.Lock()
	if kind == typeA {
		n.asked[name]++
	}
	addrs := n.answer(name, max(1, n.asked[name]))
	n.mu.Unlock()

	out := append([]byte{}, query[:2]...)
	code := uint16(0x8180) // a response, recursion as asked and available
	if len(addrs) == 0 {
		code |= 3 // no such name
	}
	out = binary.BigEndian.AppendUint16(out, code)
	out = binary.BigEndian.AppendUint16(out, 1)
	count := len(out)
	out = append(out, 0, 0, 0, 0, 0, 0)
	out = append(out, question...)
	answers := 0
	for _, addr := range addrs {
		if kind == typeA && !addr.Is4() || kind == typeAAAA && !addr.Is6() || kind != typeA && kind != typeAAAA {
			continue
		}
		answers++
		out = append(out, 0xc0, headerSize) // the name in the question
		out = binary.BigEndian.AppendUint16(out, kind)
		out = binary.BigEndian.AppendUint16(out, classInternet)
		out = append(out, 0, 0, 0, 0) // may not be kept
		out = binary.BigEndian.AppendUint16(out, uint16(addr.BitLen()/8))
		out = append(out, addr.AsSlice()...)
	}
	binary.BigEndian.PutUint16(out[count:], uint16(answers))
	return out
}
