//go:build !linux

package wasm

func useHugeCode() {}
