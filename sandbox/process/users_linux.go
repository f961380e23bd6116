//go:build amd64 || arm64

package process

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// firstUser is where the users of calls begin: far above what systems give to
// people, services and containers. So many follow.
const (
	firstUser = 0x70000000
	manyUsers = 1 << 28
)

// othersInOrder is how many users of others are passed by before one is taken by
// chance: anybody can hold the names of many, and nobody those of all.
const othersInOrder = 256

// users are those of the calls that run.
var users userPool

// userPool gives each call a user that no other call has: of this process, nor
// of any other host on this machine, whose calls could otherwise use up each
// other's processes and open each other's files. The lowest free one is taken,
// so that a program which keeps files finds them its own the next time.
type userPool struct {
	mu    sync.Mutex
	taken map[int]bool // by this process
}

var errUsers = errors.New("all users that were tried are those of other calls")

func (u *userPool) take() (uid int, done func(), err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.taken == nil {
		u.taken = make(map[int]bool)
	}
	for next, others := firstUser, 0; others < 2*othersInOrder; {
		if uid = next; others >= othersInOrder {
			uid = firstUser + rand.IntN(manyUsers)
		}
		next++
		if u.taken[uid] {
			continue
		}
		held, err := holdUser(uid)
		if errors.Is(err, unix.EADDRINUSE) {
			others++
			continue
		}
		if err != nil {
			return 0, nil, err
		}
		u.taken[uid] = true
		return uid, func() {
			u.mu.Lock()
			defer u.mu.Unlock()
			delete(u.taken, uid)
			_ = unix.Close(held) // nothing was ever sent
		}, nil
	}
	return 0, nil, errUsers
}

// holdUser takes a user for as long as the descriptor is open: an abstract
// socket's name is there once. It needs no file that others could leave behind or
// lock, and the kernel gives it back when the host dies, in whatever way.
func holdUser(uid int) (fd int, err error) {
	fd, err = unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, os.NewSyscallError("socket", err)
	}
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: fmt.Sprintf("@mayfly user %d", uid)}); err != nil {
		return -1, errors.Join(os.NewSyscallError("bind", err), unix.Close(fd))
	}
	return fd, nil
}
