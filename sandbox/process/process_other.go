//go:build !linux || !(amd64 || arm64)

package process

import "context"

// MaxLandlockABI is the newest version of Landlock whose rights are handled.
const MaxLandlockABI = 7

// Main must be called first in the main function of a program that calls [Run].
// If ours is true, this process must exit with code at once.
func Main() (code int, ours bool) { return 0, false }

// Probe reports that there is nothing to confine a program with.
func Probe(context.Context) (*Report, error) {
	_, err := Run(context.Background(), Spec{})
	e := err.(*UnavailableError)
	t := Tier{Name: "namespaces", Required: true, Layer: e.Layer, Problem: e.Reason, Remedy: e.Remedy}
	return &Report{Tiers: []Tier{t}}, nil
}

// Run refuses: this system has nothing to confine a program with.
func Run(context.Context, Spec) (Result, error) {
	return Result{}, &UnavailableError{
		Layer:  LayerSeccomp,
		Reason: "native programs can be confined on Linux (amd64, arm64) only",
		Remedy: "run Mayfly on such a machine",
	}
}
