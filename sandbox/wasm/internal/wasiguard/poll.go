package wasiguard

import (
	"math"
	"time"
)

// maxSubscriptions is how many events one poll_oneoff may wait for.
const maxSubscriptions = 1024

// Layout of preview 1's subscription and event.
const (
	subscriptionSize = 48
	eventSize        = 32

	tagClock = 0
	tagRead  = 1
	tagWrite = 2

	clockRealtime  = 0
	clockMonotonic = 1

	flagAbsolute = 1
)

// poll is poll_oneoff, our own from end to end, because wazero's
//
//   - multiplies the number of subscriptions in 32 bits, and panics when that
//     overflows;
//   - sleeps without the call's context, and not at all for absolute times;
//   - clears the output before it has read the input, where the two overlap;
//   - allocates for each subscription, and calls no file ready to be written.
//
// Files and streams are always ready here, so only clocks make a guest wait.
func poll(c call) {
	in, out, count, result := c.u32(0), c.u32(1), c.u32(2), c.u32(3)
	if count == 0 || count > maxSubscriptions {
		c.answer(errInval)
		return
	}
	mem := c.mod.Memory()
	view, ok := mem.Read(in, count*subscriptionSize)
	if !ok || !c.inMemory(out, uint64(count)*eventSize) || !c.inMemory(result, 4) {
		c.answer(errFault)
		return
	}
	w := worldOf(c.ctx)
	if w == nil {
		c.answer(errNotsup)
		return
	}

	subs, errno := c.subscriptions(w, view)
	if errno != 0 {
		c.answer(errno)
		return
	}
	wait := time.Duration(math.MaxInt64)
	for _, s := range subs {
		wait = min(wait, s.wait)
	}
	if wait > 0 {
		w.Sleep(wait)
	}
	n := uint32(0)
	for _, s := range subs {
		if s.wait <= max(wait, 0) {
			event, _ := mem.Read(out+n*eventSize, eventSize)
			s.store(event)
			n++
		}
	}
	mem.WriteUint32Le(result, n)
	c.answer(0)
}

// subscription is what one subscription waits for, and the event it becomes.
type subscription struct {
	userdata uint64
	wait     time.Duration // until it is ready; at most 0 if it is
	errno    uint16
	tag      uint8
}

// subscriptions copies what the guest waits for, as the events may be stored
// over it.
func (c call) subscriptions(w World, view []byte) ([]subscription, uint32) {
	subs := make([]subscription, 0, len(view)/subscriptionSize)
	clocks := clockReader{world: w}
	for ; len(view) > 0; view = view[subscriptionSize:] {
		s := subscription{userdata: le.Uint64(view), tag: view[8]}
		switch s.tag {
		case tagClock:
			id, timeout, flags := le.Uint32(view[16:]), le.Uint64(view[24:]), le.Uint16(view[40:])
			if flags&^flagAbsolute != 0 {
				return nil, errInval
			}
			if id > clockMonotonic {
				s.errno = errInval
				break
			}
			s.wait = time.Duration(min(timeout, math.MaxInt64))
			if flags&flagAbsolute != 0 {
				s.wait = until(s.wait, clocks.now(id))
			}
		case tagRead, tagWrite:
			if !c.isOpen(le.Uint32(view[16:])) {
				s.errno = errBadf
			}
		default:
			return nil, errInval
		}
		subs = append(subs, s)
	}
	return subs, 0
}

// until is how far t lies behind now, without overflow.
func until(t time.Duration, now int64) time.Duration {
	if now < 0 && int64(t) > math.MaxInt64+now {
		return math.MaxInt64
	}
	return t - time.Duration(now)
}

// clockReader reads each clock at most once, so that all subscriptions of one
// call are measured from the same moment.
type clockReader struct {
	world World
	read  [2]bool
	value [2]int64
}

func (r *clockReader) now(id uint32) int64 {
	if !r.read[id] {
		r.read[id] = true
		if id == clockRealtime {
			r.value[id] = r.world.Walltime()
		} else {
			r.value[id] = r.world.Nanotime()
		}
	}
	return r.value[id]
}

// store writes the event. A file that is ready has at least a byte, or its end.
func (s subscription) store(event []byte) {
	clear(event)
	le.PutUint64(event, s.userdata)
	le.PutUint16(event[8:], s.errno)
	event[10] = s.tag
	if s.tag != tagClock && s.errno == 0 {
		le.PutUint64(event[16:], 1)
	}
}
