package wasiguard

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// sub is a subscription as the guest writes it.
type sub struct {
	tag      uint8
	id       uint32 // clock or descriptor
	timeout  uint64
	flags    uint16
	userdata uint64
}

// subscribe writes subscription i of a list at atPath.
func (g *guest) subscribe(i uint32, s sub) {
	b, _ := g.mem.Read(atPath+i*subscriptionSize, subscriptionSize)
	clear(b)
	le.PutUint64(b, s.userdata)
	b[8] = s.tag
	le.PutUint32(b[16:], s.id)
	le.PutUint64(b[24:], s.timeout)
	le.PutUint16(b[40:], s.flags)
}

type event struct {
	Userdata uint64
	Errno    uint16
	Tag      uint8
}

func (g *guest) events(at uint32) (all []event) {
	for i := range g.result() {
		b, _ := g.mem.Read(at+i*eventSize, eventSize)
		all = append(all, event{le.Uint64(b), le.Uint16(b[8:]), b[10]})
	}
	return all
}

func TestPoll(t *testing.T) {
	const wall, mono = 1_000_000, 5_000 // what testWorld's clocks show
	tests := []struct {
		name   string
		subs   []sub
		errno  uint32
		slept  time.Duration
		events []event
	}{
		{"sleep", []sub{{id: clockMonotonic, timeout: 300, userdata: 9}}, 0, 300, []event{{9, 0, tagClock}}},
		{"sleep on the wall clock", []sub{{id: clockRealtime, timeout: 300}}, 0, 300, []event{{}}},
		{"no time", []sub{{id: clockMonotonic}}, 0, 0, []event{{}}},
		{"until", []sub{{id: clockMonotonic, timeout: mono + 10, flags: 1}}, 0, 10, []event{{}}},
		{"until, wall clock", []sub{{id: clockRealtime, timeout: wall + 10, flags: 1}}, 0, 10, []event{{}}},
		{"until the past", []sub{{id: clockRealtime, timeout: 5, flags: 1}}, 0, 0, []event{{}}},
		{"the earliest of many", []sub{
			{id: clockMonotonic, timeout: 300, userdata: 1}, {id: clockRealtime, timeout: 200, userdata: 2},
			{id: clockMonotonic, timeout: mono + 100, flags: 1, userdata: 3}, {id: clockMonotonic, timeout: 100, userdata: 4},
			{id: clockMonotonic, timeout: math.MaxUint64, userdata: 5},
		}, 0, 100, []event{{3, 0, tagClock}, {4, 0, tagClock}}},
		{"a file is ready", []sub{{id: clockMonotonic, timeout: 300}, {tag: tagRead, id: root, userdata: 1}, {tag: tagWrite, id: 1, userdata: 2}},
			0, 0, []event{{1, 0, tagRead}, {2, 0, tagWrite}}},
		{"stdin is ready", []sub{{tag: tagRead, id: 0}}, 0, 0, []event{{0, 0, tagRead}}},
		{"a file and a clock are ready", []sub{{id: clockMonotonic, userdata: 1}, {tag: tagRead, userdata: 2}},
			0, 0, []event{{1, 0, tagClock}, {2, 0, tagRead}}},
		{"no such descriptor", []sub{{tag: tagRead, id: 77, userdata: 1}, {tag: tagWrite, id: math.MaxUint32, userdata: 2}, {id: 1, timeout: 5}},
			0, 0, []event{{1, errBadf, tagRead}, {2, errBadf, tagWrite}}},
		{"no such clock", []sub{{id: 2, timeout: 5, userdata: 1}, {id: math.MaxUint32, userdata: 2}, {id: 1, timeout: 5}},
			0, 0, []event{{1, errInval, tagClock}, {2, errInval, tagClock}}},
		{"bad tag", []sub{{id: 1, timeout: 5}, {tag: 3}}, errInval, 0, nil},
		{"bad flags", []sub{{id: 1, timeout: 5, flags: 2}}, errInval, 0, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := newGuest(t, testLimits)
			for i, s := range tt.subs {
				g.subscribe(uint32(i), s)
			}
			g.mem.WriteUint32Le(atResult, 0)
			g.want(tt.errno, "poll_oneoff", atPath, atBuffer, uint64(len(tt.subs)), atResult)
			if slept := time.Duration(g.world.mono - mono); slept != tt.slept {
				t.Errorf("slept %v, want %v", slept, tt.slept)
			}
			if diff := cmp.Diff(tt.events, g.events(atBuffer)); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

// TestPollOverlap lets the events fall on the subscriptions.
func TestPollOverlap(t *testing.T) {
	const n = maxSubscriptions
	for shift := range uint32(100) {
		g := newGuest(t, testLimits)
		at := uint32(atPath) + shift
		want := make([]event, n)
		for i := range uint32(n) {
			g.subscribe(i, sub{tag: tagRead, userdata: uint64(i)})
			want[i] = event{uint64(i), 0, tagRead}
		}
		g.want(0, "poll_oneoff", atPath, uint64(at), n, memEnd-4)
		count, _ := g.mem.ReadUint32Le(memEnd - 4)
		if count != n {
			t.Fatalf("shift %d: %d events", shift, count)
		}
		for i := range uint32(n) {
			b, _ := g.mem.Read(at+i*eventSize, eventSize)
			if got := (event{le.Uint64(b), le.Uint16(b[8:]), b[10]}); got != want[i] {
				t.Fatalf("shift %d: event %d is %v", shift, i, got)
			}
		}
	}
}
