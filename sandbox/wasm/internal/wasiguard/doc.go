// Package wasiguard stands between a hostile guest and wazero's implementation
// of wasi_snapshot_preview1: the same functions under the same names, each
// checked before wazero's runs.
//
// wazero's functions are written for guests that mean well. Some of them
// allocate as much as a guest asks for, some panic on odd arguments, one sleeps
// without looking at the call's deadline, and a few errors that a file system
// needs have no name in wazero. The guards close these gaps and nothing else;
// the table in table.go names every function and what is in front of it.
//
// With the guards in place, whatever a guest passes to a WASI function:
//
//   - no function panics, other than to end the call;
//   - none allocates memory of a size that the guest chooses, beyond what the
//     file system's own limits allow;
//   - none outlives the call's deadline by more than one copy of the guest's
//     memory;
//   - the table of open descriptors does not grow beyond what is open.
package wasiguard
