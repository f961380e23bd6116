package manifests

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"
)

// checkPlain holds the meaning of a plain YAML value against the library's.
func checkPlain(t *testing.T, s string) {
	k, value, _, why := plain(s)
	if (k == invalid) != (why != "") {
		t.Fatalf("plain(%q): kind %s, reason %q", s, k, why)
	}
	var lib any
	n := yaml.Node{Kind: yaml.ScalarNode, Value: s}
	if err := n.Decode(&lib); err != nil {
		return // not a value that the library's parser would hand over
	}
	switch k {
	case nullNode:
		if lib != nil {
			t.Errorf("plain(%q) is null, the library has %T", s, lib)
		}
	case boolNode:
		if lib != value {
			t.Errorf("plain(%q) is %v, the library has %v", s, value, lib)
		}
	case textNode:
		if _, ok := lib.(string); !ok {
			t.Errorf("plain(%q) is text, the library has %T", s, lib)
		}
	case numberNode:
		var same bool
		switch v := value.(type) {
		case int64:
			switch lib := lib.(type) {
			case int:
				same = v == int64(lib)
			case int64:
				same = v == lib
			}
		case float64:
			same = v == lib
		case *big.Int: // the library makes a float of it
			same = true
		}
		if !same {
			t.Errorf("plain(%q) is %v (%T), the library has %v (%T)", s, value, value, lib, lib)
		}
	}
}

func TestPlain(t *testing.T) {
	tests := map[kind][]string{
		nullNode:   {"", "~", "null", "Null", "NULL"},
		boolNode:   {"true", "True", "TRUE", "false", "False", "FALSE"},
		numberNode: {"0", "-0", "1", "-12", "9007199254740993", "123456789012345678901234567890", "0.5", "-0.5", "1.0", "10.25", "1.0e+3", "1.5E-7"},
		textNode: {"x", "y", "n", "Y", "N", "t", "nul", "tru", "yes!", "1.2.3", "v1", "30s", "10/m", "1h30m", "-x", "--", "-", ".", "..", "./x", "1-2", "a:b",
			"10:99", "12:", "sha256:00", "2024-1", "2024-01-01x", "1 2", "0x", "0b", "e3", "+", "+x", "nan", "inf", "Infinity", "0o", "_1", "1e", "TRUe", "truE"},
		invalid: {"yes", "Yes", "YES", "no", "on", "On", "off", "OFF", "010", "00", "08", "-07", "0x1F", "0X1f", "0o17", "0b11", "0B1", "1_000", "1__", "+1", "+0", "1.", ".5",
			"-.5", "1e3", "1E3", "1.5e3", "1_0.5", "1.0e+999", ".inf", "-.inf", "+.INF", ".nan", ".NaN", "1:30", "190:20:30", "-1:30", "1:30.5", "2024-01-01", "2001-1-1",
			"2024-01-01T10:00:00Z", "2024-01-01 10:00:00", "="},
	}
	for want, list := range tests {
		for _, s := range list {
			if got, _, _, why := plain(s); got != want {
				t.Errorf("plain(%q) is %s (%s), want %s", s, got, why, want)
			}
			checkPlain(t, s)
		}
	}
}

func TestDuration(t *testing.T) {
	good := map[string]time.Duration{
		"1ms": time.Millisecond, "500ms": 500 * time.Millisecond, "30s": 30 * time.Second, "2m": 2 * time.Minute, "1h": time.Hour, "1d": 24 * time.Hour,
		"1h30m": 90 * time.Minute, "1m30s": 90 * time.Second, "1s500ms": 1500 * time.Millisecond, "1m5ms": time.Minute + 5*time.Millisecond, "90s": 90 * time.Second,
		"24h": 24 * time.Hour, "0h1s": time.Second, "007s": 7 * time.Second,
	}
	for s, want := range good {
		got, why := parseDuration(s, MaxDuration)
		if why != "" || got != want {
			t.Errorf("parseDuration(%q) = %v (%s), want %v", s, got, why, want)
		}
		if again, why := parseDuration(formatDuration(got), MaxDuration); why != "" || again != got {
			t.Errorf("%v is written %q, which reads as %v (%s)", got, formatDuration(got), again, why)
		}
	}
	for _, s := range []string{"", "0", "0s", "30", "s", "-1s", "+1s", "1.5s", "1s1m", "1s1s", "1 s", " 1s", "1s ", "1S", "1us", "1w", "25h", "1d1ms", "99999999999999999999s",
		"9223372036854775807ms", "1h-1m", "１s", "1m1"} {
		if got, why := parseDuration(s, MaxDuration); why == "" {
			t.Errorf("parseDuration(%q) = %v, want a refusal", s, got)
		}
	}
}

func TestRate(t *testing.T) {
	for s, want := range map[string]Rate{"1/s": {1, time.Second}, "10/m": {10, time.Minute}, "200/h": {200, time.Hour}, "1000000/d": {1000000, 24 * time.Hour}} {
		got, err := ParseRate(s)
		if err != nil || got != want || got.String() != s {
			t.Errorf("ParseRate(%q) = %+v, written %q (%v)", s, got, got, err)
		}
	}
	for _, s := range []string{"", "10", "/m", "10/", "0/m", "00/m", "01/m", "-1/m", "+1/m", "1.5/m", "10/0s", "10/2m", "10/M", "10/ms", "10/min", "10 /m", "10/m ", "1/m/s", "1e3/m",
		"1000001/d", "99999999999999999999/m", "１/m", "1_0/m"} {
		if got, err := ParseRate(s); err == nil {
			t.Errorf("ParseRate(%q) = %+v, want a refusal", s, got)
		}
	}
	if s := (Rate{}).String(); s != "" {
		t.Errorf("no limit is written %q", s)
	}
}

func TestHost(t *testing.T) {
	for s, want := range map[string]Host{
		"a.example": "a.example", "A.Example:443": "a.example:443", "localhost": "localhost", "node_1": "node_1", "*": "*", "*:443": "*:443", "*.a.example": "*.a.example",
		"*.internal": "*.internal", "10.0.0.1": "10.0.0.1", "10.0.0.1:80": "10.0.0.1:80", "[::1]": "[::1]", "[2001:DB8:0::1]:80": "[2001:db8::1]:80", "xn--e1afmkfd.example": "xn--e1afmkfd.example",
	} {
		got, err := ParseHost(s)
		if err != nil || got != want {
			t.Errorf("ParseHost(%q) = %q (%v), want %q", s, got, err, want)
		}
		if again, err := ParseHost(string(got)); err != nil || again != got {
			t.Errorf("%q reads as %q (%v)", got, again, err)
		}
	}
	covers := []struct {
		a, b Host
		want bool
	}{
		{"*", "a.example", true}, {"*", "*.a.example", true}, {"*", "10.0.0.1:80", true}, {"*", "*", true}, {"*:443", "a.example:443", true}, {"*:443", "a.example", false},
		{"*:443", "a.example:80", false}, {"a.example", "a.example:80", true}, {"a.example", "a.example", true}, {"a.example:80", "a.example", false},
		{"a.example", "b.example", false}, {"a.example", "x.a.example", false}, {"*.a.example", "x.a.example", true}, {"*.a.example", "x.y.a.example:1", true},
		{"*.a.example", "a.example", false}, {"*.a.example", "xa.example", false}, {"*.a.example", "*.b.a.example", true}, {"*.b.a.example", "*.a.example", false},
		{"*.a.example", "*.a.example", true}, {"*.a.example", "*", false}, {"a.example", "*", false}, {"10.0.0.1", "10.0.0.11", false}, {"[::1]", "[::1]:80", true},
		{"*.example:1", "a.example:1", true},
	}
	for _, c := range covers {
		if got := c.a.Covers(c.b); got != c.want {
			t.Errorf("%q covers %q: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

func TestAddress(t *testing.T) {
	for s, want := range map[string]Host{
		"https://a.example": "a.example:443", "http://a.example/x?y=z": "a.example:80", "https://a.example:8443/": "a.example:8443", "http://[::1]:9/": "[::1]:9",
		"https://[::1]": "[::1]:443", "HTTPS://A.example/": "a.example:443",
	} {
		if got := addressHost(s); got != want {
			t.Errorf("addressHost(%q) = %q, want %q", s, got, want)
		}
	}
	for s, want := range map[string]bool{
		"http://a.example": true, "https://a.example": false, "http://localhost:1": false, "http://127.0.0.1/": false, "http://[::1]/": false, "http://10.0.0.1/": true,
		"http://x.localhost/": false, "http://notlocalhost/": true,
	} {
		if got := plaintext(s); got != want {
			t.Errorf("plaintext(%q) = %v, want %v", s, got, want)
		}
	}
}

func TestHandler(t *testing.T) {
	for s, want := range map[string]Handler{
		"m:f":                 {Kind: HandlerPython, Module: "m", Function: "f"},
		"a.b_c.d1:run_it":     {Kind: HandlerPython, Module: "a.b_c.d1", Function: "run_it"},
		"./x.mjs#f":           {Kind: HandlerNode, Module: "./x.mjs", Function: "f"},
		"./a b/c.d.cjs#$go_1": {Kind: HandlerNode, Module: "./a b/c.d.cjs", Function: "$go_1"},
	} {
		got, err := ParseHandler(s)
		if err != nil || got.Kind != want.Kind || got.Module != want.Module || got.Function != want.Function || got.String() != s {
			t.Errorf("ParseHandler(%q) = %+v (%v)", s, got, err)
		}
	}
	for _, s := range []string{"", ":", "m:", ":f", "m:f:g", "m.f", "m:1f", "1m:f", "m .n:f", "m:f ", "m:f()", "x.mjs#f", "/x.mjs#f", "./x.mjs", "./x.mjs#", "./x.mjs#f#g", "./x.py#f",
		"./x#f", "./../x.mjs#f", "./x\n.mjs#f", "./*.mjs#f", "./x.mjs#f-g", "./x.mjs#1", strings.Repeat("a", 5000) + ":f"} {
		if got, err := ParseHandler(s); err == nil {
			t.Errorf("ParseHandler(%q) = %+v, want a refusal", s, got)
		}
	}
}

func TestWithin(t *testing.T) {
	for _, c := range []struct {
		p, dir string
		want   bool
	}{
		{"/a/b", "/a", true}, {"/a", "/a", true}, {"/ab", "/a", false}, {"/a", "/a/b", false}, {"/a", "/", true}, {"a/b", "a", true}, {"a", ".", true}, {"/a", ".", false},
		{"a", "/", false}, {"/a/b", "a", false},
	} {
		if got := within(c.p, c.dir); got != c.want {
			t.Errorf("within(%q, %q) = %v, want %v", c.p, c.dir, got, c.want)
		}
	}
}
