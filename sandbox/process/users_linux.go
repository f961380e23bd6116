//go:build amd64 || arm64

package process

import "sync"

// firstUser is where the users of calls begin: far above what systems give to
// people, services and containers.
const firstUser = 0x70000000

// users are those of the calls that run.
var users userPool

// userPool gives each call a user that no other call of this process has.
type userPool struct {
	mu    sync.Mutex
	taken map[int]bool
}

func (u *userPool) take() (uid int, done func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	uid = firstUser
	for u.taken[uid] {
		uid++
	}
	if u.taken == nil {
		u.taken = make(map[int]bool)
	}
	u.taken[uid] = true
	return uid, func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		delete(u.taken, uid)
	}
}
