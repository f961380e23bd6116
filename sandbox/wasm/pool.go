package wasm

import "sync"

// pool keeps instances made ahead of need and drops used ones, on a goroutine
// of its own, so that a call pays for neither. An instance that comes back from
// a call is only ever closed.
type pool struct {
	make  func() (*instance, error)
	ready chan *instance
	used  chan *instance
	wake  chan struct{}
	quit  chan struct{}
	done  sync.WaitGroup
}

// usedRoom is how many used instances may wait to be dropped; their memory is
// still held. When it is full, callers drop their own.
const usedRoom = 4

func newPool(ready int, make_ func() (*instance, error)) *pool {
	p := &pool{
		make:  make_,
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
	for {
		p.fill()
		select {
		case i := <-p.used:
			i.close()
		case <-p.wake:
		case <-p.quit:
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
