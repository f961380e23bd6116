package egress_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/mayfly-run/mayfly/internal/egress"
)

func policy(t *testing.T, patterns ...string) egress.Policy {
	t.Helper()
	p, err := egress.NewPolicy(patterns)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// What is no plain host name or address is no target, however a resolver or a
// library would read it.
func TestSpellings(t *testing.T) {
	tests := []struct {
		spelling string
		want     string // "" is refused
	}{
		{"a.example:443", "a.example:443"},
		{"A.Example:443", "a.example:443"},
		{"_dns.a-b.example:53", "_dns.a-b.example:53"},
		{"xn--bcher-kva.example:443", "xn--bcher-kva.example:443"},
		{"localhost:80", "localhost:80"},
		{"93.184.216.34:80", "93.184.216.34:80"},
		{"[2606:2800::1]:443", "[2606:2800::1]:443"},
		{"[2606:2800:0:0:0:0:0:1]:443", "[2606:2800::1]:443"},
		{"[::FFFF:127.0.0.1]:80", "127.0.0.1:80"},
		{"[::ffff:7f00:1]:80", "127.0.0.1:80"},

		{"2130706433:80", ""},
		{"0x7f000001:80", ""},
		{"0x7f.0.0.1:80", ""},
		{"0177.0.0.1:80", ""},
		{"127.0.0.01:80", ""},
		{"127.1:80", ""},
		{"127.0.1:80", ""},
		{"1.2.3.4.5:80", ""},
		{"256.1.1.1:80", ""},
		{"127.0.0.1.:80", ""},
		{"a.example.0x1:80", ""},
		{"a.example.:443", ""},
		{".a.example:443", ""},
		{"a..example:443", ""},
		{"bücher.example:443", ""},
		{"\u212A.example:443", ""},       // lower case of the Kelvin sign is k
		{"１２７.0.0.1:80", ""},             // full width
		{"127。0。0。1:80", ""},             // ideographic full stop
		{"a\u00ad.example:443", ""},      // soft hyphen
		{"a.example\u200b:443", ""},      // zero width
		{"user@a.example:443", ""},       //
		{"a.example@127.0.0.1:80", ""},   //
		{"[fe80::1%eth0]:80", ""},        //
		{"[::1%25lo]:80", ""},            //
		{"::1:80", ""},                   //
		{"[::1:80", ""},                  //
		{"[127.0.0.1]:80", ""},           //
		{"[]:80", ""},                    //
		{"a.example", ""},                // no port
		{"a.example:", ""},               //
		{"a.example:0", ""},              //
		{"a.example:080", ""},            //
		{"a.example:+80", ""},            //
		{"a.example:65536", ""},          //
		{"a.example:http", ""},           //
		{"a.example:80:80", ""},          //
		{"a example:80", ""},             //
		{"a.example/:80", ""},            //
		{"a%2eexample:80", ""},           //
		{"a.example\\@b.example:80", ""}, //
		{"a.example\x00:80", ""},         //
		{"a.example\r\n:80", ""},         //
		{"*:80", ""},                     //
		{"*.example:80", ""},             //
		{"-a.example:80", ""},            //
		{strings.Repeat("a", 64) + ".example:80", ""},
		{strings.Repeat("a.", 127) + "a:80", ""},
		{":80", ""},
		{"", ""},
	}
	for _, tt := range tests {
		got, err := egress.ParseTarget(tt.spelling)
		if (err == nil) != (tt.want != "") || err == nil && got.String() != tt.want {
			t.Errorf("%q is %v, %v; want %q", tt.spelling, got, err, tt.want)
		}
		if err != nil && tt.spelling != "" && strings.Contains(err.Error(), tt.spelling) {
			t.Errorf("%q is quoted: %v", tt.spelling, err)
		}
	}
}

func TestTargetOf(t *testing.T) {
	tests := []struct{ url, want string }{
		{"https://a.example/x?y", "a.example:443"},
		{"http://a.example", "a.example:80"},
		{"HTTP://A.Example:8080/", "a.example:8080"},
		{"http://[::1]/", "[::1]:80"},
		{"http://[::1]:81/", "[::1]:81"},
		{"https://user@a.example/", ""},
		{"https://@a.example/", ""},
		{"https://a.example:/", ""},
		{"https://a.example./", ""},
		{"ftp://a.example/", ""},
		{"//a.example/", ""},
		{"https:a.example", ""},
		{"https:///a.example", ""},
		{"https://a.example%00/", ""},
		{"https://127.0.0.1%2f@a.example/", ""},
	}
	for _, tt := range tests {
		u, err := url.Parse(tt.url)
		if err != nil {
			if tt.want != "" {
				t.Errorf("%s: %v", tt.url, err)
			}
			continue
		}
		got, err := egress.TargetOf(u)
		if (err == nil) != (tt.want != "") || err == nil && got.String() != tt.want {
			t.Errorf("%s leads to %v, %v; want %q", tt.url, got, err, tt.want)
		}
	}
}

func TestPatternsCover(t *testing.T) {
	tests := []struct {
		pattern, other string
		want           bool
	}{
		{"*", "a.example:1", true},
		{"*", "10.0.0.1", true},
		{"*:443", "a.example:443", true},
		{"*:443", "a.example:80", false},
		{"*:443", "a.example", false},
		{"A.example", "a.Example:1", true},
		{"a.example", "b.a.example", false},
		{"a.example:443", "a.example", false},
		{"*.a.example", "b.a.example", true},
		{"*.a.example", "c.b.a.example:1", true},
		{"*.a.example", "*.b.a.example", true},
		{"*.a.example", "*.a.example", true},
		{"*.a.example", "a.example", false},
		{"*.a.example", "ba.example", false},
		{"*.a.example", "*", false},
		{"*.2", "1.2.3.2", false},
		{"10.0.0.1", "10.0.0.1:9", true},
		{"10.0.0.1", "[::ffff:10.0.0.1]", true},
		{"[::ffff:10.0.0.1]", "10.0.0.1", true},
		{"10.0.0.1", "10.0.0.2", false},
		{"[::1]", "[0:0::1]:1", true},
		{"", "a.example", false},
		{"*", "", false},
		{"*.2", "", false},
	}
	for _, tt := range tests {
		p, _ := egress.ParsePattern(tt.pattern)
		other, _ := egress.ParsePattern(tt.other)
		if got := p.Covers(other); got != tt.want {
			t.Errorf("%q covers %q: %v", tt.pattern, tt.other, got)
		}
	}
}

// Check is what can be said without a resolver.
func TestCheck(t *testing.T) {
	tests := []struct {
		egress string // separated by spaces
		target string
		want   bool
	}{
		{"", "a.example:443", false},
		{"a.example", "a.example:443", true},
		{"a.example:443", "a.example:80", false},
		{"*", "a.example:80", true},
		{"*", "93.184.216.34:80", true},
		{"*", "[2606:2800::1]:80", true},
		{"*", "[64:ff9b::5db8:d822]:80", true}, // NAT64 of a public address

		{"*", "localhost:80", false},
		{"localhost", "localhost:80", true},
		{"localhost:81", "localhost:80", false},
		{"localhost", "127.0.0.1:80", false},
		{"127.0.0.1", "localhost:80", false},
		{"*.localhost *", "localhost:80", false},

		{"*", "127.0.0.1:80", false},
		{"*", "127.255.255.254:80", false},
		{"127.0.0.1", "127.0.0.1:80", true},
		{"127.0.0.1:80", "127.0.0.1:81", false},
		{"127.0.0.1", "127.0.0.2:80", false},
		{"[::ffff:127.0.0.1]", "127.0.0.1:80", true},
		{"*", "[::1]:80", false},
		{"[::1]", "[::1]:80", true},
		{"* 10.0.0.2", "10.0.0.1:80", false},

		{"*", "0.0.0.0:80", false},
		{"0.0.0.0", "0.0.0.0:80", false},
		{"*", "[::]:80", false},
		{"[::]", "[::]:80", false},
		{"*", "0.1.2.3:80", false},
		{"*", "10.255.0.1:80", false},
		{"*", "172.16.0.1:80", false},
		{"*", "172.31.255.255:80", false},
		{"*", "172.32.0.1:80", true},
		{"*", "192.168.1.1:80", false},
		{"*", "100.64.0.1:80", false},
		{"*", "100.127.255.255:80", false},
		{"*", "100.128.0.1:80", true},
		{"*", "169.254.169.254:80", false},
		{"169.254.169.254", "169.254.169.254:80", true},
		{"*", "100.100.100.200:80", false},
		{"*", "168.63.129.16:80", false},
		{"*", "192.0.0.192:80", false},
		{"*", "192.0.2.1:80", false},
		{"*", "192.88.99.1:80", false},
		{"*", "198.18.0.1:80", false},
		{"*", "198.51.100.1:80", false},
		{"*", "203.0.113.1:80", false},
		{"*", "224.0.0.1:80", false},
		{"224.0.0.1", "224.0.0.1:80", false},
		{"*", "240.0.0.1:80", false},
		{"*", "255.255.255.255:80", false},
		{"255.255.255.255", "255.255.255.255:80", false},

		{"*", "[fe80::1]:80", false},
		{"*", "[fc00::1]:80", false},
		{"*", "[fd00:ec2::254]:80", false},
		{"*", "[fd20:ce::254]:80", false},
		{"*", "[fec0::1]:80", false},
		{"*", "[ff02::1]:80", false},
		{"*", "[::127.0.0.1]:80", false},         // IPv4-compatible
		{"*", "[::ffff:10.0.0.1]:80", false},     // IPv4-mapped
		{"*", "[::ffff:0:10.0.0.1]:80", false},   // IPv4-translated
		{"*", "[64:ff9b::a9fe:a9fe]:80", false},  // NAT64 of the metadata address
		{"*", "[64:ff9b::7f00:1]:80", false},     // NAT64 of loopback
		{"*", "[64:ff9b:1::7f00:1]:80", false},   // NAT64 of the local kind
		{"*", "[2002:7f00:1::1]:80", false},      // 6to4 of loopback
		{"*", "[2002:5db8:d822::1]:80", false},   // 6to4 at all
		{"*", "[2001:0:5db8:d822::1]:80", false}, // Teredo
		{"*", "[2001:db8::1]:80", false},
		{"*", "[100::1]:80", false},
		{"*", "[5f00::1]:80", false},
		{"*", "[4000::1]:80", false},
	}
	for _, tt := range tests {
		target, err := egress.ParseTarget(tt.target)
		if err != nil {
			t.Fatalf("%s: %v", tt.target, err)
		}
		err = policy(t, strings.Fields(tt.egress)...).Check(target)
		if (err == nil) != tt.want {
			t.Errorf("egress %q, %s: %v", tt.egress, tt.target, err)
		}
		if _, refused := errors.AsType[*egress.RefusedError](err); err != nil && !refused {
			t.Errorf("egress %q, %s: an error of another type: %v", tt.egress, tt.target, err)
		}
	}
	if _, err := egress.NewPolicy([]string{"a.example", "b example"}); err == nil || strings.Contains(err.Error(), "b example") {
		t.Errorf("a bad entry: %v", err)
	}
}

// FuzzTarget: what passes has one spelling, which no reader of addresses takes
// for something else, and which no patterns but the right ones cover.
func FuzzTarget(f *testing.F) {
	for _, s := range []string{"a.example:443", "127.0.0.1:80", "[::1]:80", "0x7f.1:80", "2130706433:80", "[::ffff:1.2.3.4]:9", "a.example.:1", "é:1", "u@a:1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		target, err := egress.ParseTarget(s)
		if err != nil {
			return
		}
		text := target.String()
		again, err := egress.ParseTarget(text)
		if err != nil || again != target {
			t.Fatalf("%q became %q, which is %v, %v", s, text, again, err)
		}
		u, err := url.Parse("http://" + s + "/")
		if err != nil {
			t.Fatalf("%q is a target and not the host of a URL: %v", s, err)
		}
		if fromURL, err := egress.TargetOf(u); err != nil || fromURL != target {
			t.Fatalf("%q is %v, in a URL %v, %v", s, target, fromURL, err)
		}
		host := target.Host()
		if strings.Trim(host, "abcdefghijklmnopqrstuvwxyz0123456789-_.:") != "" {
			t.Fatalf("%q gave the host %q", s, host)
		}
		if addr, dotted := looseIPv4(host); dotted && addr != host {
			t.Fatalf("%q gave %q, which a lenient reader takes for %s", s, host, addr)
		}
		if (egress.Policy{}).Check(target) == nil {
			t.Fatalf("%q passes a policy of nobody", s)
		}
		other, err := egress.NewPolicy([]string{"other.example", "*.other.example", "192.0.2.77"})
		if err != nil {
			t.Fatal(err)
		}
		if other.Check(target) == nil && host != "other.example" && !strings.HasSuffix(host, ".other.example") && host != "192.0.2.77" {
			t.Fatalf("%q passes as %q", s, host)
		}
	})
}
