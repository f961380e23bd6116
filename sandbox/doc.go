// Package sandbox is the contract that every back end keeps: what a call may
// ask for ([Spec], [Limits]), how it ends ([Result], [Status]) and what it
// cost ([Usage]).
//
// A back end guarantees that a guest can only harm its own call. Whatever the
// guest does wrong (an exception, a deadline, a limit, a trap) comes back as a
// [Result]; an error from Run means that the host could not do its part and
// that nothing is known about the guest.
//
// The package does not execute anything and imports no back end.
package sandbox
