//go:build !linux

package main

import (
	"context"
	"errors"
	"time"
)

// disk needs Linux.
type disk struct{}

func mountDisk(string, time.Duration) (*disk, error) { return nil, nil }

func (*disk) unmount() error                            { return nil }
func (*disk) fill(context.Context, time.Duration) error { return errors.ErrUnsupported }
func (*disk) room() (int64, error)                      { return 0, errors.ErrUnsupported }
