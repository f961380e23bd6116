//go:build !linux

package main

func kernelVersion() string { return "" }

// layers: what confines processes is Linux's.
func layers() []layerHealth { return []layerHealth{} }
