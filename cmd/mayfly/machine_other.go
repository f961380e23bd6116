//go:build !linux

package main

func kernelVersion() string { return "" }
