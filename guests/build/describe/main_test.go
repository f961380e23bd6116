package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-run/mayfly/guests"
)

// module builds a WebAssembly module out of sections.
func module(sections ...string) []byte {
	return []byte("\x00asm\x01\x00\x00\x00" + strings.Join(sections, ""))
}

func section(id byte, content string) string {
	return string(rune(id)) + string(rune(len(content))) + content
}

func text(s string) string { return string(rune(len(s))) + s }

// The parts of a module that is as it should be.
var (
	imports   = section(2, "\x02"+text("wasi_snapshot_preview1")+text("fd_write")+"\x00\x00"+text("mayfly")+text("host_call")+"\x00\x00")
	functions = section(3, "\x03\x00\x00\x00")
	globals   = section(6, "\x02\x7f\x00\x41\x05\x0b\x7f\x01\x41\x00\x0b")
	exports   = section(7, "\x02"+text("__stack_pointer")+"\x03\x01"+text("memory")+"\x02\x00")
	wanted    = []string{"__stack_pointer", "memory"}
)

func TestCheck(t *testing.T) {
	tests := []struct {
		name   string
		module []byte
		want   string // part of the error; empty: it passes
	}{
		{"as it should be", module(imports, functions, globals, exports), ""},
		{"with another custom section", module(section(0, text("producers")+"x"), imports, functions, globals, exports), ""},
		{"no module", []byte("\x7fELF"), "not a WebAssembly module"},
		{"cut", module(imports, functions, globals, exports[:20]), "cut short"},
		{"names", module(imports, functions, globals, exports, section(0, text("name")+"x")), "name section"},
		{"start", module(imports, functions, globals, exports, section(8, "\x00")), "start function"},
		{"other host function", module(section(2, "\x01"+text("mayfly")+text("spawn")+"\x00\x00"), functions, globals, exports), "mayfly.spawn"},
		{"other module", module(section(2, "\x01"+text("env")+text("abort")+"\x00\x00"), functions, globals, exports), "env.abort"},
		{"imported memory", module(section(2, "\x01"+text("env")+text("memory")+"\x02\x00"), functions, globals, exports), "no function"},
		{"export missing", module(imports, functions, globals, section(7, "\x01"+text("__stack_pointer")+"\x03\x01")), "exports.txt has"},
		{"another mutable global", module(imports, functions, section(6, "\x02\x7f\x01\x41\x05\x0b\x7f\x01\x41\x00\x0b"), exports), "mutable globals"},
		{"hidden stack pointer", module(imports, functions, section(6, "\x02\x7f\x01\x41\x05\x0b\x7f\x00\x41\x00\x0b"), exports), "mutable globals"},
		{"long constant", module(imports, functions, section(6, "\x01\x7f\x00\x41\x05\x41\x05\x0b"), exports), "more than one instruction"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			functions, err := check(tt.module, wanted)
			switch {
			case tt.want == "" && (err != nil || functions != 3):
				t.Errorf("%d functions, %v", functions, err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"exports.txt": "__stack_pointer\nmemory\n", "versions.env": "# v\nLANGUAGE_VERSION=1.2\nBINARYEN_VERSION=120\n",
		"SHA256SUMS": strings.Repeat("a", 64) + "  pool/x\n", "third.wasm": string(module(imports, functions, globals, exports)), "third.wasm.zst": "packed",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	err := run([]string{"-recipe", dir, "-dir", dir, "-name", "third", "-language", "Third", "-build", "key", "-optimised=1", "-tool", "cc 1", "-component", "x=2", "-flag", "CFLAGS=-O2 -g"})
	if err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(filepath.Join(dir, "third.json"))
	if err != nil {
		t.Fatal(err)
	}
	var got guests.Info
	if err := json.Unmarshal(written, &got, json.RejectUnknownMembers(true)); err != nil {
		t.Fatal(err)
	}
	want := guests.Info{
		Name: "third", Language: "Third", Version: "1.2", Functions: 3, Build: "key", Optimised: true,
		Module: got.Module, Compressed: got.Compressed, Toolchain: []string{"cc 1", "binaryen 120"},
		Components: map[string]string{"x": "2"}, Flags: map[string]string{"CFLAGS": "-O2 -g"},
		NativeModules: []string{}, FrozenModules: []string{}, Packages: []guests.Package{}, Inputs: []guests.Input{{File: "pool/x", SHA256: strings.Repeat("a", 64)}},
	}
	if diff := cmp.Diff(want, got); diff != "" || got.Compressed.Bytes != 6 || len(got.Module.SHA256) != 64 {
		t.Errorf("description (-want +got):\n%s", diff)
	}
	if err := run([]string{"-recipe", dir, "-dir", dir, "-name", "absent"}); err == nil {
		t.Error("a module that is not there was described")
	}
}
