//go:build amd64 || arm64

package process

import (
	"sync"

	"golang.org/x/sys/unix"
)

// Where the kernel puts what a filter looks at.
const (
	offsetNumber = 0
	offsetArch   = 4
	offsetArgs   = 16 // eight bytes each, the low half first on what we run on
)

// filterKey is what of a policy decides its filter.
type filterKey struct {
	Network                    Network
	UnixConns, Process, Spaces bool
}

// filters are those that were made: filterKey to filter. There are few.
var filters sync.Map

// callFilter is the filter of a call.
func callFilter(p *policy) []unix.SockFilter {
	key := filterKey{p.Network, p.UnixConns, p.Process, p.Spaces}
	made, ok := filters.Load(key)
	if !ok {
		made, _ = filters.LoadOrStore(key, assemble(syscallRules(key)))
	}
	return made.([]unix.SockFilter)
}

// assemble turns rules into a filter for the kernel: architecture first, then
// the number's range, then each rule on its own. No rule relies on what another
// one left in the accumulator.
func assemble(rules []rule) []unix.SockFilter {
	var f filter
	f.load(offsetArch)
	f.jump(unix.BPF_JEQ, nativeArch, 1, 0)
	f.ret(kill)
	f.load(offsetNumber)
	if foreignBit != 0 {
		f.jump(unix.BPF_JGE, foreignBit, 0, 1)
		f.ret(kill)
	}
	f.jump(unix.BPF_JGT, lastKnown, 0, 1)
	f.ret(fail(uint32(unix.ENOSYS)))
	for _, r := range rules {
		f.rule(r)
	}
	f.ret(allow)
	return f.code
}

type filter struct{ code []unix.SockFilter }

func (f *filter) emit(code uint16, k uint32, yes, no uint8) {
	f.code = append(f.code, unix.SockFilter{Code: code, Jt: yes, Jf: no, K: k})
}

func (f *filter) load(offset uint32) { f.emit(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, offset, 0, 0) }
func (f *filter) ret(a action)       { f.emit(unix.BPF_RET|unix.BPF_K, uint32(a), 0, 0) }

func (f *filter) jump(op uint16, k uint32, yes, no uint8) {
	f.emit(unix.BPF_JMP|op|unix.BPF_K, k, yes, no)
}

// rule emits load number, compare, then three instructions for each test, then
// the answer. Whatever does not fit jumps behind it.
func (f *filter) rule(r rule) {
	left := uint8(3*len(r.tests) + 1) // instructions between the next jump and the end
	f.load(offsetNumber)
	f.jump(unix.BPF_JEQ, r.nr, 0, left)
	for _, t := range r.tests {
		left -= 3
		f.load(offsetArgs + 8*uint32(t.arg))
		f.emit(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, t.mask, 0, 0)
		if t.unequal {
			f.jump(unix.BPF_JEQ, t.value, left, 0)
		} else {
			f.jump(unix.BPF_JEQ, t.value, 0, left)
		}
	}
	f.ret(r.action)
}

// keeperFilter is what a keeper may do once its program runs: look for deaths,
// tell the host, kill everybody, and end. Anything else kills it, and with it
// the call.
var keeperFilter = sync.OnceValue(func() []unix.SockFilter {
	var f filter
	f.load(offsetArch)
	f.jump(unix.BPF_JEQ, nativeArch, 1, 0)
	f.ret(kill)
	for _, r := range []rule{
		{unix.SYS_WAIT4, nil, allow}, {unix.SYS_PPOLL, nil, allow}, {unix.SYS_READ, nil, allow}, {unix.SYS_WRITEV, nil, allow},
		{unix.SYS_KILL, []test{is(0, every), is(1, uint32(unix.SIGKILL))}, allow}, {unix.SYS_EXIT_GROUP, nil, allow},
	} {
		f.rule(r)
	}
	f.ret(kill)
	return f.code
})
