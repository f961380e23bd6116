package main

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"
)

const (
	// diskBase and diskPerSecond are how much a soak may write: the store and the trace
	// grow with every call. What is not written takes no memory.
	diskBase      = 256 << 20
	diskPerSecond = 2 << 20

	diskFlags = syscall.MS_NOSUID | syscall.MS_NODEV
)

// disk is the file system that the store and the trace are on.
type disk struct {
	dir  string
	size int64
}

// mountDisk mounts it at a directory; nil where that is not allowed.
func mountDisk(dir string, length time.Duration) (*disk, error) {
	d := &disk{dir, diskBase + int64(length.Seconds()*diskPerSecond)}
	err := syscall.Mount("mayfly-soak", dir, "tmpfs", diskFlags, fmt.Sprintf("size=%d,mode=755", d.size))
	if errors.Is(err, syscall.EPERM) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

func (d *disk) unmount() error { return syscall.Unmount(d.dir, syscall.MNT_DETACH) }

// fill leaves no room for a time, by making the file system as small as what is in it.
func (d *disk) fill(ctx context.Context, length time.Duration) error {
	var err error
	for range 1000 {
		var s syscall.Statfs_t
		if err := syscall.Statfs(d.dir, &s); err != nil {
			return err
		}
		// The server may have written more meanwhile.
		if err = d.resize(int64(s.Blocks-s.Bfree) * s.Bsize); !errors.Is(err, syscall.EINVAL) {
			break
		}
	}
	if err != nil {
		return err
	}
	wait(ctx, length)
	return d.resize(d.size)
}

func (d *disk) resize(size int64) error {
	return syscall.Mount("mayfly-soak", d.dir, "tmpfs", diskFlags|syscall.MS_REMOUNT, fmt.Sprintf("size=%d", size))
}

// room is how many bytes can still be written.
func (d *disk) room() (int64, error) {
	var s syscall.Statfs_t
	err := syscall.Statfs(d.dir, &s)
	return int64(s.Bavail) * s.Bsize, err
}
