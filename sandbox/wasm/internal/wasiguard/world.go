package wasiguard

import (
	"context"
	"time"
)

// World is the running call, as far as WASI functions have to know it. The
// context of a guest's call must hold it under [Key]; without it a guest can
// neither sleep nor learn the exact reason of a file system's error.
//
// Sleep and Check end the call by a panic with an error of the engine's own,
// which wazero turns into the error of the guest's call.
type World interface {
	// Walltime reads the guest's real-time clock: nanoseconds since 1970.
	Walltime() int64
	// Nanotime reads the guest's monotonic clock, in nanoseconds.
	Nanotime() int64
	// Sleep returns when d, which is positive, has passed on the guest's
	// clocks. If the call's time is over before, it ends the call.
	Sleep(d time.Duration)
	// Check ends the call if its time is over.
	Check()
	// FileErrno is the WASI number of the file system's last error that wazero
	// has no name for, once, or 0.
	FileErrno() uint32
	// FollowTimes says whether the times that are set by path from now on are
	// those of what a symbolic link leads to, which is the rule, or its own.
	FollowTimes(follow bool)
}

// Key finds the [World] of a call in its context.
type Key struct{}

func worldOf(ctx context.Context) World {
	w, _ := ctx.Value(Key{}).(World)
	return w
}

// check ends the call if its time is over.
func check(ctx context.Context) {
	if w := worldOf(ctx); w != nil {
		w.Check()
	}
}
