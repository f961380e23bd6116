//go:build unix

package main

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// How long to wait for another mayfly that changes the same manifests, and how
// often to look.
const (
	lockWait = 10 * time.Second
	lockPoll = 20 * time.Millisecond
)

// lockManifests keeps other mayflies from changing a harness and its manifests
// between the time that one has read them and has written them back: without,
// the one who writes last takes back what the others wrote. The lock is of the
// directory itself, so that no file is left behind.
func lockManifests(dir string) (unlock func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, usagef("%s cannot be read: %w", dir, plainError(err))
	}
	tick := time.NewTicker(lockPoll)
	defer tick.Stop()
	for tries := int(lockWait / lockPoll); ; tries-- {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return func() { f.Close() }, nil
		case errors.Is(err, syscall.EINTR):
		case !errors.Is(err, syscall.EWOULDBLOCK):
			f.Close()
			return nil, usagef("%s cannot be locked: %w", dir, err)
		case tries == 0:
			f.Close()
			return nil, usagef("another mayfly is changing the manifests in %s; try again when it is done", dir)
		}
		<-tick.C
	}
}
