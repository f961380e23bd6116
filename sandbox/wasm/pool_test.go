package wasm

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestPoolRests: more is done for instances that wait, but only when nobody
// wanted one for a while.
func TestPoolRests(t *testing.T) {
	e := hostile{alloc: i32c(8192), run: i64c(0)}.engine(t)
	synctest.Test(t, func(t *testing.T) {
		var rested atomic.Int32
		p := newPool(2, func() (*instance, error) { return e.newInstance(e.image, pageSize) }, func(i *instance) {
			i.rest(e.image)
			rested.Add(1)
		})
		defer p.close()
		for range 5 {
			i, err := p.take()
			if err != nil {
				t.Fatal(err)
			}
			p.drop(i)
			time.Sleep(restAfter / 2)
		}
		synctest.Wait()
		if rested.Load() != 0 {
			t.Errorf("%d instances were prepared further between calls", rested.Load())
		}
		time.Sleep(2 * restAfter)
		synctest.Wait()
		if rested.Load() != 2 || len(p.ready) != 2 {
			t.Errorf("%d of 2 waiting instances were prepared further, %d are ready", rested.Load(), len(p.ready))
		}
		if i, err := p.take(); err != nil || !i.rested {
			t.Errorf("a waiting instance was not prepared: %v", err)
		} else {
			p.drop(i)
		}
	})
}
