package wasm

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mayfly-run/mayfly/sandbox"
)

// A hostile guest is a module whose exports answer whatever a test wants. It
// stands for an interpreter that its code has taken over.
type hostile struct {
	alloc []byte // body of mayfly_alloc: (i32) → i32
	run   []byte // body of mayfly_run: (i32, i32) → i64
	data  []byte // at dataAt
}

const (
	scratchAt = 1024
	infoAt    = 2048
	dataAt    = 4096
)

// Instructions that the bodies below need.
func i32c(n int32) []byte { return append([]byte{0x41}, sleb(int64(n))...) }
func i64c(n int64) []byte { return append([]byte{0x42}, sleb(n)...) }

func code(parts ...[]byte) []byte {
	var b []byte
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

var (
	unreachable = []byte{0x00}
	forever     = []byte{0x03, 0x40, 0x0c, 0x00, 0x0b, 0x00} // loop br 0 end unreachable
	drop        = []byte{0x1a}
	callHost    = []byte{0x10, 1}
	readHost    = []byte{0x10, 2}
	grow        = []byte{0x40, 0x00}
)

// answer returns size bytes at ptr as the message.
func answer(ptr, size uint32) []byte { return i64c(int64(uint64(ptr)<<32 | uint64(size))) }

func uleb(n uint64) []byte { return binary.AppendUvarint(nil, n) }

func sleb(n int64) []byte {
	var b []byte
	for {
		c := byte(n & 0x7f)
		n >>= 7
		if n == 0 && c&0x40 == 0 || n == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

// module assembles the guest.
func (h hostile) module() []byte {
	vec := func(items ...[]byte) []byte { return append(uleb(uint64(len(items))), code(items...)...) }
	str := func(s string) []byte { return append(uleb(uint64(len(s))), s...) }
	section := func(id byte, b []byte) []byte { return code([]byte{id}, uleb(uint64(len(b))), b) }
	body := func(b []byte) []byte { b = code([]byte{0}, b, []byte{0x0b}); return append(uleb(uint64(len(b))), b...) }
	imp := func(name string, typ byte) []byte { return code(str("mayfly"), str(name), []byte{0, typ}) }
	export := func(name string, kind, index byte) []byte { return code(str(name), []byte{kind, index}) }

	info := appendSection(nil, infoABI, abiVersion, 0, 0, 0)
	info = appendSection(info, infoLanguage, []byte("hostile")...)
	info = appendSection(info, infoVersion, []byte("1")...)
	var scratch [8]byte
	binary.LittleEndian.PutUint32(scratch[:], scratchAt)
	binary.LittleEndian.PutUint32(scratch[4:], 512)
	info = appendSection(info, infoScratch, scratch[:]...)

	segment := func(at int32, b []byte) []byte { return code([]byte{0}, i32c(at), []byte{0x0b}, str(string(b))) }
	return code([]byte("\x00asm\x01\x00\x00\x00"),
		section(1, vec( // types
			[]byte{0x60, 2, 0x7f, 0x7f, 1, 0x7e}, // 0: (i32, i32) → i64
			[]byte{0x60, 1, 0x7f, 0},             // 1: (i32) → ()
			[]byte{0x60, 1, 0x7f, 1, 0x7f},       // 2: (i32) → i32
			[]byte{0x60, 0, 0},                   // 3: () → ()
		)),
		section(2, vec(imp("host_read", 1), imp("host_call", 0), imp("host_read", 1))),
		section(3, vec([]byte{0}, []byte{2}, []byte{0})), // mayfly_init, mayfly_alloc, mayfly_run
		section(5, vec([]byte{0, 1})),                    // memory of 1 page
		section(6, vec(code([]byte{0x7f, 1}, i32c(65536), []byte{0x0b}))),
		section(7, vec(
			export("memory", 2, 0), export("__stack_pointer", 3, 0),
			export(exportInit, 0, 3), export(exportAlloc, 0, 4), export(exportRun, 0, 5))),
		section(10, vec(body(answer(infoAt, uint32(len(info)))), body(h.alloc), body(h.run))),
		section(11, vec(segment(infoAt, info), segment(dataAt, h.data))),
	)
}

func (h hostile) engine(t *testing.T) *Engine {
	t.Helper()
	if h.alloc == nil {
		h.alloc = i32c(8192)
	}
	// While it boots the guest must behave: room for a small message is always
	// the same.
	h.alloc = code([]byte{0x20, 0}, i32c(64), []byte{0x49, 0x04, 0x7f}, i32c(8192), []byte{0x05}, h.alloc, []byte{0x0b})
	e := &Engine{config: Config{
		Guest: sandbox.Guest{
			Name: "hostile", Version: "1", Module: h.module(), DefaultName: "main",
			EncodeGlobals: func(map[string]any, int) ([]byte, error) { return nil, nil },
		},
		Ready: -1,
	}.withDefaults()}
	// The engine's own first call would not survive most of these guests.
	e.untried = true
	if err := e.prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	e.start()
	t.Cleanup(func() { _ = e.Close() })
	return e
}

func TestHostileGuest(t *testing.T) {
	kind := func(k byte, rest ...[]byte) []byte {
		return append(appendSection(nil, responseKind, k, 0, 0, 0), code(rest...)...)
	}
	value := func(json string) []byte { return kind(kindValue, appendSection(nil, responseValue, []byte(json)...)) }
	failure := func(json string) []byte { return kind(kindRaised, appendSection(nil, responseError, []byte(json)...)) }
	reply := func(data []byte) hostile { return hostile{run: answer(dataAt, uint32(len(data))), data: data} }
	short := sandbox.Limits{Timeout: 100 * time.Millisecond}
	for _, c := range []struct {
		name   string
		guest  hostile
		limits sandbox.Limits
		big    bool // a request that needs mayfly_alloc
		want   sandbox.Status
	}{
		{name: "a good answer", guest: reply(value("[1]")), want: sandbox.StatusOK},
		{name: "no answer", guest: hostile{run: i64c(0)}, want: sandbox.StatusCrashed},
		{name: "outside of memory", guest: hostile{run: answer(1<<31, 16)}, want: sandbox.StatusCrashed},
		{name: "length that wraps", guest: hostile{run: answer(dataAt, 0xffffffff)}, want: sandbox.StatusCrashed},
		{name: "over the end of memory", guest: hostile{run: answer(65528, 16)}, want: sandbox.StatusCrashed},
		{name: "not aligned", guest: hostile{run: answer(dataAt+1, 16)}, want: sandbox.StatusCrashed},
		{name: "no sections", guest: reply(make([]byte, 16)), want: sandbox.StatusCrashed},
		{name: "unknown kind", guest: reply(kind(9)), want: sandbox.StatusCrashed},
		{name: "value is missing", guest: reply(kind(kindValue)), want: sandbox.StatusCrashed},
		{name: "value is not JSON", guest: reply(value("{]")), want: sandbox.StatusCrashed},
		{name: "value is two values", guest: reply(value("1 2")), want: sandbox.StatusCrashed},
		{name: "value has duplicate names", guest: reply(value(`{"a":1,"a":2}`)), want: sandbox.StatusCrashed},
		{name: "value is not UTF-8", guest: reply(value("\"\xff\"")), want: sandbox.StatusCrashed},
		{name: "value is too deep", guest: reply(value(strings.Repeat("[", 100) + strings.Repeat("]", 100))), want: sandbox.StatusCrashed},
		{name: "value of NaN", guest: reply(value("NaN")), want: sandbox.StatusCrashed},
		{name: "value is cut", guest: reply(append(value(strings.Repeat("x", 1000)), appendSection(nil, responseDropped, 5, 0, 0, 0, 0, 0, 0, 0)...)), limits: sandbox.Limits{MaxValue: 1000}, want: sandbox.StatusOutputLimit},
		{name: "value is cut for no reason", guest: reply(append(value("[1]"), appendSection(nil, responseDropped, 5, 0, 0, 0, 0, 0, 0, 0)...)), want: sandbox.StatusCrashed},
		{name: "value is cut by more than can be", guest: reply(append(value(strings.Repeat("x", 1000)), appendSection(nil, responseDropped, 255, 255, 255, 255, 255, 255, 255, 255)...)), limits: sandbox.Limits{MaxValue: 1000}, want: sandbox.StatusCrashed},
		{name: "value is too large", guest: reply(value(`"` + strings.Repeat("x", 2000) + `"`)), limits: sandbox.Limits{MaxValue: 1000}, want: sandbox.StatusOutputLimit},
		{name: "error is missing", guest: reply(kind(kindRaised)), want: sandbox.StatusCrashed},
		{name: "error claims usage", guest: reply(failure(`{"type":"E","message":"m","fuel":0}`)), want: sandbox.StatusCrashed},
		{name: "error of wrong types", guest: reply(failure(`{"type":1}`)), want: sandbox.StatusCrashed},
		{name: "error", guest: reply(failure(`{"type":"E","message":"m","line":-5}`)), want: sandbox.StatusError},
		{name: "trap", guest: hostile{run: unreachable}, want: sandbox.StatusCrashed},
		{name: "spin", guest: hostile{run: forever}, limits: short, want: sandbox.StatusTimeout},
		{name: "spin while making room", guest: hostile{run: i64c(0), alloc: forever}, limits: short, big: true, want: sandbox.StatusTimeout},
		{name: "no room", guest: hostile{run: i64c(0), alloc: i32c(0)}, big: true, want: sandbox.StatusMemoryLimit},
		{name: "room outside of memory", guest: hostile{run: i64c(0), alloc: i32c(-8)}, big: true, want: sandbox.StatusCrashed},
		{name: "room over the end of memory", guest: hostile{run: i64c(0), alloc: i32c(65528)}, big: true, want: sandbox.StatusCrashed},
		{name: "room that is not aligned", guest: hostile{run: i64c(0), alloc: i32c(1)}, big: true, want: sandbox.StatusCrashed},
		{
			name:  "host call with a request outside of memory",
			guest: hostile{run: code(i32c(-16), i32c(-1), callHost, drop, i64c(0))}, want: sandbox.StatusCrashed,
		},
		{
			name:  "host tool's answer read to outside of memory",
			guest: hostile{run: code(i32c(0), i32c(4), callHost, drop, i32c(-2), readHost, i64c(0))}, want: sandbox.StatusCrashed,
		},
		{
			name:  "host tool's answer read twice",
			guest: hostile{run: code(i32c(0), i32c(4), callHost, drop, i32c(0), readHost, i32c(-2), readHost, answer(dataAt, 16)), data: kind(9)}, want: sandbox.StatusCrashed,
		},
		{
			name:  "memory far past the limit",
			guest: hostile{run: code(i32c(30000), grow, drop, unreachable)}, want: sandbox.StatusMemoryLimit,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := c.guest.engine(t)
			spec := sandbox.Spec{Code: "x", Limits: c.limits, HostCall: func(context.Context, string, sandbox.RawJSON) (sandbox.RawJSON, error) {
				return nil, fmt.Errorf("no")
			}}
			if c.big {
				spec.Code = strings.Repeat("x", 4096)
			}
			r, err := e.Run(t.Context(), spec)
			if err != nil || r.Status != c.want {
				t.Fatalf("status %q, want %q; value %.100q, error %+v, %v", r.Status, c.want, r.Value, r.Error, err)
			}
			if r.Status != sandbox.StatusOK && r.Value != nil {
				t.Errorf("value %.100q", r.Value)
			}
		})
	}
}

// TestHostileBoot: a guest that lies while it starts is no engine.
func TestHostileBoot(t *testing.T) {
	module := hostile{alloc: i32c(8192), run: i64c(0)}.module()
	for _, c := range []struct{ name, old, new, want string }{
		{"another ABI", string(appendSection(nil, infoABI, abiVersion, 0, 0, 0)), string(appendSection(nil, infoABI, abiVersion+1, 0, 0, 0)), "ABI"},
		{"no scratch", "\x04\x00\x00\x00\x08\x00\x00\x00", "\x04\x00\x00\x00\x00\x00\x00\x00", "section"},
		{"scratch outside", "\x08\x00\x00\x00\x00\x04\x00\x00", "\x08\x00\x00\x00\x00\x04\x00\xff", "range"},
		{"no run export", exportRun, "mayfly_rum", exportRun},
		{"not a module", "\x00asm", "\x00asn", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !strings.Contains(string(module), c.old) {
				t.Fatal("the module has no such bytes")
			}
			_, err := New(t.Context(), Config{Guest: sandbox.Guest{
				Module:        []byte(strings.Replace(string(module), c.old, c.new, 1)),
				EncodeGlobals: func(map[string]any, int) ([]byte, error) { return nil, nil },
			}})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}
