module github.com/mayfly-run/mayfly

go 1.26.0

require (
	github.com/alecthomas/kong v1.17.0 // cmd/mayfly: flags
	github.com/apache/arrow-go/v18 v18.8.0 // sandbox/rows: Parquet
	github.com/bmatcuk/doublestar/v4 v4.10.4 // manifests: patterns for files
	github.com/evanw/esbuild v0.28.2 // guests/js/typescript: types taken out
	github.com/go-json-experiment/json v1.27.2 // sandbox/rows, internal/canonjson, governor/output: strict JSON
	github.com/google/cel-go v0.31.0 // governor: policy expressions
	github.com/google/go-cmp v0.7.0 // tests
	github.com/klauspost/compress v1.20.4 // guests, sandbox/rows: zstd
	github.com/landlock-lsm/go-landlock v0.11.2 // sandbox/process
	github.com/modelcontextprotocol/go-sdk v1.8.0 // runtime/mcp
	github.com/ncruces/go-sqlite3 v0.37.0 // internal/store
	github.com/pierrec/lz4/v4 v4.1.29 // sandbox/rows: lz4 in Arrow IPC
	github.com/prometheus/client_golang v1.25.0 // runtime/httpapi: /metrics
	github.com/rogpeppe/go-internal v1.16.0 // tests: testscript, txtar
	github.com/santhosh-tekuri/jsonschema/v5 v5.3.1 // manifests: argument schemas
	github.com/tetratelabs/wazero v1.12.0 // sandbox/wasm
	go.opentelemetry.io/otel v1.47.0 // runtime/otel: spans
	go.opentelemetry.io/otel/exporters/otlp/otlptrace v1.47.0 // runtime/otel: spans as protobuf
	go.opentelemetry.io/otel/sdk v1.47.0 // runtime/otel: the queue of spans
	go.opentelemetry.io/otel/trace v1.47.0 // runtime/otel: spans
	go.opentelemetry.io/proto/otlp v1.11.1 // runtime/otel: the messages of the protocol
	golang.org/x/sync v0.25.0 // sandbox/wasm: errgroup
	golang.org/x/sys v0.50.0 // sandbox/wasm: mmap, memfd, thread clocks; sandbox/process
	golang.org/x/term v0.48.0 // cmd/mayfly: is this a terminal?
	golang.org/x/text v0.43.0 // sandbox: names of artifacts in a normal form
	gonum.org/v1/plot v0.17.0 // bench/plot
	google.golang.org/protobuf v1.36.12 // runtime/otel: the encoding of the protocol
	gopkg.in/yaml.v3 v3.0.1 // manifests: YAML
)

require (
	cel.dev/expr v0.25.2 // indirect
	codeberg.org/go-fonts/liberation v0.5.0 // indirect
	codeberg.org/go-latex/latex v0.2.0 // indirect
	codeberg.org/go-pdf/fpdf v0.11.1 // indirect
	git.sr.ht/~sbinet/gg v0.7.0 // indirect
	github.com/ajstarks/svgo v0.0.0-20211024235047-1546f124cd8b // indirect
	github.com/andybalholm/brotli v1.2.3 // indirect
	github.com/antlr4-go/antlr/v4 v4.13.1 // indirect
	github.com/apache/thrift v0.24.0 // indirect
	github.com/beorn7/perks v1.0.1 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/go-logr/logr v1.4.4 // indirect
	github.com/go-logr/stdr v1.2.2 // indirect
	github.com/goccy/go-json v0.10.6 // indirect
	github.com/golang/freetype v0.0.0-20170609003504-e2365dfdc4a0 // indirect
	github.com/google/flatbuffers v25.12.19+incompatible // indirect
	github.com/google/jsonschema-go v0.4.3 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/grpc-ecosystem/grpc-gateway/v2 v2.31.0 // indirect
	github.com/klauspost/cpuid/v2 v2.4.0 // indirect
	github.com/kr/text v0.2.0 // indirect
	github.com/munnerz/goautoneg v0.0.0-20191010083416-a7dc8b61c822 // indirect
	github.com/ncruces/go-sqlite3-wasm/v6 v6.5.35401 // indirect
	github.com/ncruces/julianday v1.0.0 // indirect
	github.com/prometheus/client_model v0.6.3 // indirect
	github.com/prometheus/common v0.72.0 // indirect
	github.com/prometheus/procfs v0.22.0 // indirect
	github.com/segmentio/asm v1.1.3 // indirect
	github.com/segmentio/encoding v0.5.4 // indirect
	github.com/yosida95/uritemplate/v3 v3.0.2 // indirect
	github.com/zeebo/xxh3 v1.1.0 // indirect
	go.opentelemetry.io/auto/sdk v1.2.1 // indirect
	go.opentelemetry.io/otel/log v1.47.0 // indirect
	go.opentelemetry.io/otel/metric v1.47.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/exp v0.0.0-20260908205506-85c1c2202aba // indirect
	golang.org/x/image v0.30.0 // indirect
	golang.org/x/net v0.61.0 // indirect
	golang.org/x/oauth2 v0.37.0 // indirect
	golang.org/x/time v0.15.0 // indirect
	golang.org/x/tools v0.52.0 // indirect
	google.golang.org/genproto/googleapis/api v0.0.0-20260928230214-8a89bd6388cc // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260928230214-8a89bd6388cc // indirect
	google.golang.org/grpc v1.84.0 // indirect
	kernel.org/pub/linux/libs/security/libcap/psx v1.2.78 // indirect
)
