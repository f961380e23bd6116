package wasm

import (
	"sync"
	"time"
)

// pool keeps instances made ahead of need and drops used ones, on a goroutine
// of its own, so that a call pays for neither. An instance that comes back from
// a call is only ever closed.
type pool struct {
	make  func() (*instance, error)
	rest  func(*instance) // what else can be done for an instance that waits
	ready chan *instance
	used  chan *instance
	wake  chan struct{}
	quit  chan struct{}
	done  sync.WaitGroup
}

// usedRoom is how many used instances may wait to be dropped; their memory is
// still held. When it is full, callers drop their own.
const usedRoom = 4

// restAfter is how long nobody must have wanted an instance before more is done
// for those that wait: under load it would cost more than it saves.
const restAfter = 2 * time.Millisecond

func newPool(ready int, make_ func() (*instance, error), rest func(*instance)) *pool {
	p := &pool{
		make:  make_,
		rest:  rest,
		ready: make(chan *instance, max(ready, 0)),
		used:  make(chan *instance, usedRoom),
		wake:  make(chan struct{}, 1),
		quit:  make(chan struct{}),
	}
	p.done.Go(p.work)
	return p
}

// take gives an instance, a ready one if there is.
func (p *pool) take() (*instance, error) {
	select {
	case i := <-p.ready:
		select {
		case p.wake <- struct{}{}:
		default:
		}
		return i, nil
	default:
		return p.make()
	}
}

// drop closes an instance, soon.
func (p *pool) drop(i *instance) {
	select {
	case p.used <- i:
	default:
		i.close()
	}
}

func (p *pool) work() {
	idle := time.NewTimer(restAfter)
	defer idle.Stop()
	for more := true; more; more = p.next(idle.C) {
		p.fill()
		idle.Reset(restAfter)
	}
}

// next waits for something to do. It reports false when the pool closes.
func (p *pool) next(idle <-chan time.Time) bool {
	select {
	case i := <-p.used:
		i.close()
	case <-p.wake:
	case <-idle:
		p.restAll()
		return p.next(nil)
	case <-p.quit:
		return false
	}
	return true
}

// restAll does what can be done for the instances that wait, until one is
// wanted.
func (p *pool) restAll() {
	for range cap(p.ready) {
		select {
		case i := <-p.ready:
			p.rest(i)
			select {
			case p.ready <- i:
			case <-p.quit:
				i.close()
				return
			}
		default:
			return
		}
		if len(p.wake) > 0 {
			return
		}
	}
}

// fill makes instances until enough are ready. Making one can fail when the
// host is out of memory; then the calls themselves try, and report it.
func (p *pool) fill() {
	for len(p.ready) < cap(p.ready) {
		i, err := p.make()
		if err != nil {
			return
		}
		select {
		case p.ready <- i:
		case <-p.quit:
			i.close()
			return
		}
	}
}

// close drops every instance. No call may run any more.
func (p *pool) close() {
	close(p.quit)
	p.done.Wait()
	for {
		select {
		case i := <-p.ready:
			i.close()
		case i := <-p.used:
			i.close()
		default:
			return
		}
	}
}
