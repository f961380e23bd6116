module github.com/mayfly-run/mayfly

go 1.26.0

require (
	github.com/alecthomas/kong v1.17.0 // cmd/mayfly: flags
	github.com/go-json-experiment/json v1.27.2 // sandbox/rows, internal/canonjson: strict JSON
	github.com/google/go-cmp v0.7.0 // tests
	github.com/klauspost/compress v1.20.4 // guests: zstd
	github.com/rogpeppe/go-internal v1.16.0 // tests: testscript
	github.com/tetratelabs/wazero v1.12.0 // sandbox/wasm
	golang.org/x/sync v0.25.0 // sandbox/wasm: errgroup
	golang.org/x/sys v0.50.0 // sandbox/wasm: mmap, memfd, thread clocks
	golang.org/x/term v0.48.0 // cmd/mayfly: is this a terminal?
)

require golang.org/x/tools v0.26.0 // indirect
