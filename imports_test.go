package mayfly

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// layer is a folder and its height. Imports point down only: a package may
// import its own layer's folder and lower ones, never another one of the same
// height. So governor and sandboxes never see each other, and policy meets
// mechanism in runtime alone.
type layer struct {
	folder string
	height int
}

// layers is the rule of ARCHITECTURE.md. The longest folder that fits counts.
var layers = []layer{
	{"cmd", 5},
	{"bench", 5}, // measures everything, nothing imports it
	{"runtime/mcp", 4},
	{"runtime/httpapi", 4},
	{"runtime", 3},
	{"governor", 2},
	{"sandbox/wasm", 2},
	{"sandbox/process", 2},
	{"guests", 2},
	{"sandbox", 1}, // with sandboxtest and rows
	{"manifests", 1},
	{"internal", 0},
}

// fences say where a module from outside may be used: one place that can be
// replaced, audited or updated without a search.
var fences = map[string]struct {
	tests bool // only in tests
	in    []string
}{
	"github.com/tetratelabs/wazero":            {in: []string{"sandbox/wasm", "bench/peers/wazero"}}, // peers: a stock one, beside ours
	"github.com/landlock-lsm/go-landlock":      {in: []string{"sandbox/process"}},
	"github.com/google/cel-go":                 {in: []string{"governor"}},
	"gopkg.in/yaml.v3":                         {in: []string{"manifests"}},
	"github.com/santhosh-tekuri/jsonschema/v5": {in: []string{"manifests", "runtime/httpapi"}}, // httpapi: only its test
	"github.com/bmatcuk/doublestar/v4":         {in: []string{"manifests"}},
	"github.com/modelcontextprotocol/go-sdk":   {in: []string{"runtime/mcp", "cmd/mayfly"}}, // cmd: only its test
	"github.com/prometheus/client_golang":      {in: []string{"runtime/httpapi"}},
	"github.com/alecthomas/kong":               {in: []string{"cmd"}},
	"go.opentelemetry.io/otel":                 {in: []string{"runtime/otel"}},
	"go.opentelemetry.io/proto/otlp":           {in: []string{"runtime/otel"}},
	"google.golang.org/protobuf":               {in: []string{"runtime/otel"}},
	"golang.org/x/term":                        {in: []string{"cmd"}},
	"golang.org/x/text":                        {in: []string{"sandbox"}},
	"golang.org/x/sync":                        {in: []string{"sandbox/wasm"}},
	"golang.org/x/sys":                         {in: []string{"sandbox/wasm", "sandbox/process", "cmd"}},
	"github.com/klauspost/compress":            {in: []string{"guests", "internal", "sandbox/rows"}},
	"github.com/apache/arrow-go/v18":           {in: []string{"sandbox/rows", "runtime/httpapi"}}, // httpapi: only its test
	"github.com/pierrec/lz4/v4":                {in: []string{"sandbox/rows"}},
	"github.com/evanw/esbuild":                 {in: []string{"guests/js/typescript"}},
	"github.com/ncruces/go-sqlite3":            {in: []string{"internal/store"}},
	"gonum.org/v1/plot":                        {in: []string{"bench/plot"}},
	"github.com/go-json-experiment/json":       {in: []string{"."}},
	"github.com/google/go-cmp":                 {tests: true, in: []string{"."}},
	"github.com/rogpeppe/go-internal":          {tests: true, in: []string{"."}},
	"go.uber.org/goleak":                       {tests: true, in: []string{"."}},
}

func TestImportsPointDown(t *testing.T) {
	edges := make(map[string]bool)
	for _, f := range goFiles(t) {
		for p := range f.imports() {
			edges[p] = true
			if reason := refusedImport(f.folder(), f.isTest(), p); reason != "" {
				t.Errorf("%s imports %s: %s", f.path, p, reason)
			}
		}
	}
	if !edges["github.com/tetratelabs/wazero"] || !edges[modulePath+"/sandbox"] {
		t.Errorf("the imports that must be there were not seen: %v", slices.Sorted(maps.Keys(edges)))
	}
}

// TestRefusedImports is the positive control: the rule does refuse.
func TestRefusedImports(t *testing.T) {
	const wazero = "github.com/tetratelabs/wazero"
	tests := []struct {
		folder string
		test   bool
		path   string
		want   string // a part of the reason; empty: allowed
	}{
		{"cmd/mayfly", false, modulePath + "/runtime", ""},
		{"cmd/mayfly", false, modulePath + "/sandbox/rows", ""},
		{"runtime", false, modulePath + "/sandbox/wasm", ""},
		{"runtime/httpapi", false, modulePath + "/runtime", ""},
		{"sandbox/wasm", false, modulePath + "/sandbox/wasm/internal/rewrite", ""},
		{"sandbox/wasm", true, modulePath + "/sandbox/sandboxtest", ""},
		{"sandbox/rows", false, modulePath + "/sandbox", ""},
		{"sandbox/wasm/internal/rewrite", false, modulePath + "/internal/variant", ""},
		{"sandbox/wasm/internal/memfs", false, wazero + "/sys", ""},
		{"sandbox", false, "strings", ""},
		{"governor", true, "github.com/google/go-cmp/cmp", ""},
		{".", true, modulePath + "/cmd/mayfly", "outside of every layer"},

		{"runtime", false, modulePath + "/cmd/mayfly", "points up"},
		{"runtime", false, modulePath + "/runtime/mcp", "points up"},
		{"runtime/mcp", false, modulePath + "/runtime/httpapi", "same height"},
		{"sandbox", false, modulePath + "/sandbox/wasm", "points up"},
		{"sandbox", true, modulePath + "/sandbox/wasm", "points up"},
		{"sandbox/wasm", false, modulePath + "/governor", "same height"},
		{"governor", false, modulePath + "/sandbox/process", "same height"},
		{"governor", false, modulePath + "/runtime", "points up"},
		{"sandbox/process", false, modulePath + "/sandbox/wasm", "same height"},
		{"sandbox", false, modulePath + "/manifests", "same height"},
		{"internal/store", false, modulePath + "/sandbox", "points up"},
		{"runtime", false, modulePath + "/bench/workloads", "points up"},
		{"runtime", false, modulePath + "/newfolder", "outside of every layer"},
		{"newfolder", false, modulePath + "/sandbox", "outside of every layer"},
		{"runtime", false, modulePath, "outside of every layer"},
		{"sandbox", false, wazero, "fenced"},
		{"sandboxes/wasm", false, wazero, "fenced"},
		{"runtime", false, wazero + "/api", "fenced"},
		{"runtime", false, "github.com/ncruces/go-sqlite3", "fenced"},
		{"governor", false, "github.com/google/go-cmp/cmp", "only tests"},
		{"governor", false, "example.org/unheard/of", "no fence"},
		{"sandbox/wasm", false, wazero + "2", "no fence"},
		{"sandbox/wasm", false, "C", "cgo"},
	}
	for _, tt := range tests {
		got := refusedImport(tt.folder, tt.test, tt.path)
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("refusedImport(%q, %v, %q) = %q, want %q", tt.folder, tt.test, tt.path, got, tt.want)
		}
	}
}

// refusedImport says why a package in folder may not import p; empty: it may.
func refusedImport(folder string, isTest bool, p string) string {
	if p == "C" {
		return "the program is built without cgo"
	}
	if p == modulePath || strings.HasPrefix(p, modulePath+"/") {
		return refusedEdge(folder, strings.TrimPrefix(strings.TrimPrefix(p, modulePath), "/"))
	}
	if first, _, _ := strings.Cut(p, "/"); !strings.Contains(first, ".") {
		return "" // the standard library
	}
	for module, fence := range fences {
		if !below(p, module) {
			continue
		}
		if fence.tests && !isTest {
			return "only tests may use " + module
		}
		if !slices.Contains(fence.in, ".") && !below(folder, fence.in...) {
			return fmt.Sprintf("%s is fenced: only %s may use it", module, strings.Join(fence.in, ", "))
		}
		return ""
	}
	return "a module that has no fence yet; say in imports_test.go who may use it"
}

func refusedEdge(from, to string) string {
	a, okA := layerOf(from)
	b, okB := layerOf(to)
	switch {
	case !okA || !okB:
		return "outside of every layer; say in imports_test.go how high it is"
	case a.folder == b.folder, b.height < a.height:
		return ""
	case b.height == a.height:
		return fmt.Sprintf("%s and %s are of the same height", a.folder, b.folder)
	}
	return fmt.Sprintf("it points up, from %s to %s", a.folder, b.folder)
}

// layerOf finds the layer that a folder belongs to.
func layerOf(folder string) (layer, bool) {
	fit := slices.DeleteFunc(slices.Clone(layers), func(l layer) bool { return !below(folder, l.folder) })
	if len(fit) == 0 {
		return layer{}, false
	}
	return slices.MaxFunc(fit, func(a, b layer) int { return cmp.Compare(len(a.folder), len(b.folder)) }), true
}
