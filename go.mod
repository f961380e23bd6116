module github.com/mayfly-run/mayfly

go 1.26.0

require (
	github.com/go-json-experiment/json v1.27.2 // sandbox/rows, internal/canonjson: strict JSON
	github.com/google/go-cmp v0.7.0 // tests
	github.com/tetratelabs/wazero v1.12.0 // sandbox/wasm
	golang.org/x/sync v0.25.0 // sandbox/wasm: errgroup
	golang.org/x/sys v0.50.0 // sandbox/wasm: mmap, memfd, thread clocks
)

require github.com/klauspost/compress v1.20.4 // guests: zstd
