package egress

import (
	"net/netip"
	"testing"
)

// A name may resolve to what it is for, and an address that is listed is
// granted to listed names as well.
func TestCheckAddr(t *testing.T) {
	own := []netip.Addr{netip.MustParseAddr("198.18.0.9"), netip.MustParseAddr("93.184.216.99"), netip.MustParseAddr("10.0.0.9")}
	tests := []struct {
		egress []string
		target string
		addr   string
		want   bool
	}{
		{[]string{"a.example"}, "a.example:443", "93.184.216.34", true},
		{[]string{"a.example"}, "a.example:443", "::ffff:93.184.216.34", true},
		{[]string{"a.example"}, "a.example:443", "10.0.0.1", false},
		{[]string{"a.example:443"}, "a.example:443", "10.0.0.1", false},
		{[]string{"a.example", "10.0.0.1"}, "a.example:443", "10.0.0.1", true},
		{[]string{"a.example", "10.0.0.1"}, "a.example:443", "::ffff:10.0.0.1", true},
		{[]string{"a.example", "10.0.0.1:80"}, "a.example:443", "10.0.0.1", false},
		{[]string{"a.example", "10.0.0.1"}, "a.example:443", "10.0.0.2", false},
		{[]string{"a.example", "*"}, "a.example:443", "169.254.169.254", false},
		{[]string{"a.example"}, "a.example:443", "93.184.216.99", false},
		{[]string{"a.example", "93.184.216.99"}, "a.example:443", "93.184.216.99", true},
		{[]string{"a.example", "localhost"}, "a.example:443", "127.0.0.1", false},

		{[]string{"pay.internal"}, "pay.internal:443", "10.0.0.1", true},
		{[]string{"pay.internal:443"}, "pay.internal:443", "fd12::1", true},
		{[]string{"pay.home.arpa"}, "pay.home.arpa:443", "192.168.0.7", true},
		{[]string{"*.internal"}, "pay.internal:443", "10.0.0.1", false},
		{[]string{"*"}, "pay.internal:443", "10.0.0.1", false},
		{[]string{"internal"}, "internal:443", "10.0.0.1", false},
		{[]string{"pay.internal"}, "pay.internal:443", "127.0.0.1", false},
		{[]string{"pay.internal"}, "pay.internal:443", "10.0.0.9", false}, // this machine
		{[]string{"pay.internal"}, "pay.internal:443", "169.254.169.254", false},
		{[]string{"metadata.google.internal"}, "metadata.google.internal:80", "fd20:ce::254", false},
		{[]string{"pay.internal"}, "pay.internal:443", "100.100.100.200", false},
		{[]string{"pay.internal.example"}, "pay.internal.example:443", "10.0.0.1", false},

		{[]string{"a.example", "[fe80::1]"}, "a.example:443", "fe80::1%eth0", false},
		{[]string{"a.example", "0.0.0.0"}, "a.example:443", "0.0.0.0", false},
	}
	for _, tt := range tests {
		p, err := NewPolicy(tt.egress)
		if err != nil {
			t.Fatal(err)
		}
		target, err := ParseTarget(tt.target)
		if err != nil {
			t.Fatal(err)
		}
		err = p.checkAddr(target, netip.MustParseAddr(tt.addr), own)
		if (err == nil) != tt.want {
			t.Errorf("egress %v, %s at %s: %v", tt.egress, tt.target, tt.addr, err)
		}
	}
}

// FuzzReach: every IPv6 spelling of an IPv4 address is at most as open as the
// address itself.
func FuzzReach(f *testing.F) {
	for _, s := range []string{"127.0.0.1", "10.0.0.1", "169.254.169.254", "8.8.8.8", "224.0.0.1", "0.0.0.0"} {
		b := netip.MustParseAddr(s).As4()
		f.Add(b[0], b[1], b[2], b[3])
	}
	f.Fuzz(func(t *testing.T, a, b, c, d byte) {
		v4 := netip.AddrFrom4([4]byte{a, b, c, d})
		plain := reachOf(v4, nil)
		if std := v4.IsPrivate() || v4.IsLoopback() || v4.IsLinkLocalUnicast() || !v4.IsGlobalUnicast(); std && plain == reachGlobal {
			t.Fatalf("%s is on the Internet", v4)
		}
		for name, prefix := range map[string]string{"mapped": "::ffff:0:0", "compatible": "::", "NAT64": "64:ff9b::", "local NAT64": "64:ff9b:1::", "translated": "::ffff:0:0:0"} {
			b16 := netip.MustParseAddr(prefix).As16()
			copy(b16[12:], v4.AsSlice())
			v6 := netip.AddrFrom16(b16)
			if got := reachOf(v6, nil); got == reachGlobal && plain != reachGlobal {
				t.Fatalf("%s (%s of %s) is on the Internet", v6, name, v4)
			}
		}
		b16 := netip.MustParseAddr("2002::1").As16()
		copy(b16[2:], v4.AsSlice())
		if v6 := netip.AddrFrom16(b16); reachOf(v6, nil) == reachGlobal {
			t.Fatalf("%s (6to4 of %s) is on the Internet", v6, v4)
		}
	})
}
