// Package fuzz makes Python programs out of bytes, runs each natively and in the
// guest, and fails when value, printed text or exception differ. The native
// Python is of the guest's own version, so that a difference is a fault of the
// build, of the shim or of the engine.
//
// The corpus lies in testdata/fuzz and is replayed by go test. Corpora of other
// targets lie beside the packages that they fuzz, where Go looks for them;
// make fuzz runs them all.
package fuzz
