//go:build !linux

package main

import "errors"

type usageSample struct {
	rss, private         float64
	processes            int
	descriptors, threads int
}

func usageOf(int) (usageSample, error) {
	return usageSample{}, errors.New("memory is measured on Linux only")
}
