// Package wasm runs code in a fresh WebAssembly instance of a full
// interpreter, on wazero.
//
// [New] prepares a guest once: it rewrites the module so that it is metered,
// compiles it, boots the interpreter and keeps what its memory held as an
// image. Each [Engine.Run] then takes an instance whose memory is that image
// mapped copy-on-write, runs one request in it, and drops it. No instance is
// used twice.
//
// It guarantees that a call ends by its deadline wherever the guest spends its
// time, that the guest's memory stays within the call's limit, that output is
// bounded while it is written, and that no call sees another's state. It does
// not defend against a bug in wazero's compiler: a guest that escapes
// WebAssembly is in the host process (see SECURITY.md).
package wasm
