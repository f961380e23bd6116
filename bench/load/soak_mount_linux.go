package main

import (
	"errors"
	"syscall"
)

// smallDisk is the size of the file system that the store is on.
const smallDisk = "size=256m,mode=755"

// mountSmall mounts a small file system at a directory, and gives what takes it
// away; nil where that is not allowed.
func mountSmall(dir string) (func() error, error) {
	err := syscall.Mount("mayfly-soak", dir, "tmpfs", syscall.MS_NOSUID|syscall.MS_NODEV, smallDisk)
	if errors.Is(err, syscall.EPERM) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return func() error { return syscall.Unmount(dir, syscall.MNT_DETACH) }, nil
}
