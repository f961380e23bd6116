//go:build linux && (amd64 || arm64)

package process

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"golang.org/x/sys/unix"
)

// data is what the kernel hands to a filter.
type data struct {
	nr   uint32
	arch uint32
	args [6]uint64
}

// decide is the policy read directly from the table, without a filter.
func decide(rules []rule, d data) action {
	switch {
	case d.arch != nativeArch:
		return kill
	case foreignBit != 0 && d.nr >= foreignBit:
		return kill
	case d.nr > lastKnown:
		return fail(uint32(unix.ENOSYS))
	}
next:
	for _, r := range rules {
		if r.nr != d.nr {
			continue
		}
		for _, t := range r.tests {
			if (uint32(d.args[t.arg])&t.mask == t.value) == t.unequal {
				continue next
			}
		}
		return r.action
	}
	return allow
}

// execute runs a filter as the kernel does.
func execute(t testing.TB, code []unix.SockFilter, d data) action {
	var mem [64]byte
	binary.LittleEndian.PutUint32(mem[0:], d.nr)
	binary.LittleEndian.PutUint32(mem[4:], d.arch)
	for i, arg := range d.args {
		binary.LittleEndian.PutUint64(mem[16+8*i:], arg)
	}
	a := uint32(0)
	for pc := 0; pc < len(code); pc++ {
		jump := func(yes bool) {
			if yes {
				pc += int(code[pc].Jt)
			} else {
				pc += int(code[pc].Jf)
			}
		}
		switch in := code[pc]; in.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			a = binary.LittleEndian.Uint32(mem[in.K:])
		case unix.BPF_ALU | unix.BPF_AND | unix.BPF_K:
			a &= in.K
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			jump(a == in.K)
		case unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K:
			jump(a >= in.K)
		case unix.BPF_JMP | unix.BPF_JGT | unix.BPF_K:
			jump(a > in.K)
		case unix.BPF_RET | unix.BPF_K:
			return action(in.K)
		default:
			t.Fatalf("instruction %d: unexpected code %#x", pc, in.Code)
		}
	}
	t.Fatal("the filter ends without an answer")
	return 0
}

// policies are all tables that there are.
func policies() map[string][]rule {
	all := make(map[string][]rule)
	for _, network := range []Network{NetworkNone, NetworkAll, NetworkProxy} {
		for _, conns := range []bool{false, true} {
			for _, process := range []bool{false, true} {
				for _, spaces := range []bool{false, true} {
					p := filterKey{Network: network, UnixConns: conns, Process: process, Spaces: spaces}
					name := fmt.Sprintf("network %d, sockets %v, process %v, namespaces %v", network, conns, process, spaces)
					all[name] = syscallRules(p)
				}
			}
		}
	}
	return all
}

// near gives calls that come close to a rule: each value of a test, alone and
// with what must not matter, and none of it.
func near(r *rand.Rand, rules []rule) data {
	d := data{arch: nativeArch}
	pick := rules[r.IntN(len(rules))]
	switch r.IntN(16) {
	case 0:
		d.nr = r.Uint32()
	case 1:
		d.nr = r.Uint32N(lastKnown + 10)
	default:
		d.nr = pick.nr
	}
	if r.IntN(16) == 0 {
		d.arch = r.Uint32()
	}
	for i := range d.args {
		switch r.IntN(4) {
		case 0:
			d.args[i] = r.Uint64()
		case 1:
			d.args[i] = uint64(r.Uint32N(1 << 16))
		}
	}
	for _, t := range pick.tests {
		switch r.IntN(4) {
		case 0:
			d.args[t.arg] = uint64(t.value)
		case 1:
			d.args[t.arg] = uint64(t.value) | uint64(r.Uint32())<<32
		case 2:
			d.args[t.arg] = uint64(t.mask & r.Uint32())
		}
	}
	return d
}

// The filter says what the table says.
func TestFilterIsTable(t *testing.T) {
	for name, rules := range policies() {
		code := assemble(rules)
		if len(code) > unix.BPF_MAXINSNS {
			t.Errorf("%s: %d instructions, the kernel takes %d", name, len(code), unix.BPF_MAXINSNS)
		}
		r := rand.New(rand.NewPCG(1, 2))
		seen := make(map[action]int)
		for range 100_000 {
			d := near(r, rules)
			want, got := decide(rules, d), execute(t, code, d)
			if got != want {
				t.Fatalf("%s: %+v: filter %#x, table %#x", name, d, got, want)
			}
			seen[got]++
		}
		for _, a := range []action{allow, kill, fail(uint32(unix.EPERM)), fail(uint32(unix.ENOSYS)), fail(uint32(unix.EAFNOSUPPORT))} {
			if seen[a] == 0 {
				t.Errorf("%s: action %#x was never seen", name, a)
			}
		}
	}
}

// FuzzFilter holds the same for tables that nobody would write.
func FuzzFilter(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Fuzz(func(t *testing.T, a, b uint64) {
		r := rand.New(rand.NewPCG(a, b))
		var rules []rule
		for range 1 + r.IntN(20) {
			x := rule{nr: r.Uint32N(8), action: []action{allow, kill, fail(r.Uint32N(200))}[r.IntN(3)]}
			for range r.IntN(5) {
				x.tests = append(x.tests, test{r.IntN(6), r.Uint32() | r.Uint32(), r.Uint32N(4), r.IntN(2) == 0})
			}
			rules = append(rules, x)
		}
		code := assemble(rules)
		for range 200 {
			d := near(r, rules)
			if want, got := decide(rules, d), execute(t, code, d); got != want {
				t.Fatalf("%+v\n%+v: filter %#x, table %#x", rules, d, got, want)
			}
		}
	})
}

// TestTable pins what matters most: what each grant changes.
func TestTable(t *testing.T) {
	const errno = unix.EAFNOSUPPORT
	inet := data{nr: unix.SYS_SOCKET, arch: nativeArch, args: [6]uint64{unix.AF_INET, unix.SOCK_STREAM | unix.SOCK_CLOEXEC, 0}}
	datagrams := data{nr: unix.SYS_SOCKET, arch: nativeArch, args: [6]uint64{unix.AF_INET, unix.SOCK_DGRAM, 0}}
	netlink := data{nr: unix.SYS_SOCKET, arch: nativeArch, args: [6]uint64{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE}}
	local := data{nr: unix.SYS_SOCKET, arch: nativeArch, args: [6]uint64{unix.AF_UNIX, unix.SOCK_STREAM | unix.SOCK_NONBLOCK, 0}}
	thread := data{nr: unix.SYS_CLONE, arch: nativeArch, args: [6]uint64{unix.CLONE_THREAD | unix.CLONE_VM | unix.CLONE_SIGHAND}}
	child := data{nr: unix.SYS_CLONE, arch: nativeArch, args: [6]uint64{uint64(unix.SIGCHLD)}}
	read := data{nr: unix.SYS_READ, arch: nativeArch}
	tests := []struct {
		name        string
		network     Network
		conns, proc bool
		d           data
		want        action
	}{
		{"inet", NetworkNone, false, false, inet, fail(uint32(errno))},
		{"inet, sockets", NetworkNone, true, true, inet, fail(uint32(errno))},
		{"inet, network", NetworkAll, false, false, inet, allow},
		{"inet, proxy", NetworkProxy, false, false, inet, allow},
		{"datagrams, network", NetworkAll, false, false, datagrams, allow},
		{"datagrams, proxy", NetworkProxy, true, true, datagrams, fail(uint32(errno))},
		{"netlink, network", NetworkAll, false, false, netlink, allow},
		{"netlink, proxy", NetworkProxy, true, true, netlink, fail(uint32(errno))},
		{"unix, proxy", NetworkProxy, false, true, local, fail(uint32(errno))},
		{"unix", NetworkNone, false, false, local, fail(uint32(errno))},
		{"unix, network", NetworkAll, false, true, local, fail(uint32(errno))},
		{"unix, sockets", NetworkNone, true, false, local, allow},
		{"thread", NetworkNone, false, false, thread, allow},
		{"child", NetworkAll, true, false, child, fail(uint32(unix.EPERM))},
		{"child, process", NetworkNone, false, true, child, allow},
		{"read", NetworkNone, false, false, read, allow},
	}
	for _, tt := range tests {
		rules := syscallRules(filterKey{Network: tt.network, UnixConns: tt.conns, Process: tt.proc})
		if got := execute(t, assemble(rules), tt.d); got != tt.want {
			t.Errorf("%s: %#x, want %#x", tt.name, got, tt.want)
		}
	}
}
