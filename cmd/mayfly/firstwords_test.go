package main

import (
	"errors"
	"net"
	"strings"
	"testing"
)

// TestListenError: each reason why there is nothing to listen on says what to do.
func TestListenError(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for address, want := range map[string]string{
		taken.Addr().String(): "something listens there already, perhaps another mayfly serve; end that, or choose another port; port 0 takes a free one",
		"8787":                `"8787" is not an address with a port, such as 127.0.0.1:8787: missing port in address`,
		"192.0.2.1:0":         "--listen 192.0.2.1:0: bind: ",
	} {
		l, err := net.Listen("tcp", address)
		if err == nil {
			_ = l.Close()
			t.Errorf("%s can be listened on", address)
			continue
		}
		got := listenError(address, err)
		if _, usage := errors.AsType[*usageError](got); !usage || !strings.Contains(got.Error(), want) || strings.Count(got.Error(), "listen") > 2 {
			t.Errorf("%s: %v", address, got)
		}
	}
}
