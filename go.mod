module github.com/mayfly-run/mayfly

go 1.26

require (
	github.com/google/go-cmp v0.7.0 // tests
	github.com/tetratelabs/wazero v1.12.0 // sandbox/wasm
)

require golang.org/x/sys v0.44.0 // indirect
