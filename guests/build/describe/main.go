// Command describe checks the module that a build of a guest has made and
// writes the description that is embedded beside it. The builds run it; see
// guests/build/main.sh.
//
// The checks are what the engine relies on: the exports are those of the
// recipe's exports.txt, the only mutable global is the exported stack pointer,
// imports come from WASI and from the two host calls, nothing runs by itself,
// and there are no names.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mayfly-run/mayfly/guests"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "describe:", err)
		os.Exit(1)
	}
}

// pairs is a flag that is repeated, each time NAME=VALUE.
type pairs map[string]string

func (p pairs) String() string { return "" }

func (p pairs) Set(s string) error {
	name, value, ok := strings.Cut(s, "=")
	if !ok || name == "" {
		return errors.New("want NAME=VALUE")
	}
	p[name] = value
	return nil
}

// list is a flag that is repeated.
type list []string

func (l *list) String() string { return "" }

func (l *list) Set(s string) error {
	*l = append(*l, s)
	return nil
}

func run(args []string) error {
	info := guests.Info{Components: map[string]string{}, Flags: map[string]string{}}
	flags := flag.NewFlagSet("describe", flag.ContinueOnError)
	recipe := flags.String("recipe", "", "the guest's `folder`")
	dir := flags.String("dir", "", "the `folder` with NAME.wasm and NAME.wasm.zst, where NAME.json is written")
	native := flags.String("native-modules", "", "a `file` that lists them")
	frozen := flags.String("frozen-modules", "", "a `file` whose lines begin with their names")
	packages := flags.String("packages", "", "a `file` that lists the packages that are part of the guest")
	zones := flags.String("time-zones", "", "a `file` with a line for each")
	flags.StringVar(&info.Name, "name", "", "of the guest")
	flags.StringVar(&info.Language, "language", "", "that the guest speaks")
	flags.StringVar(&info.Build, "build", "", "the `hash` of everything that went into the guest")
	flags.BoolVar(&info.Optimised, "optimised", false, "wasm-opt was run")
	flags.Var(pairs(info.Components), "component", "`NAME=VERSION` of something that was compiled in")
	flags.Var(pairs(info.Flags), "flag", "`GROUP=FLAGS` of the compiler or the linker")
	flags.Var((*list)(&info.Toolchain), "tool", "a `program` that made it, with its version")
	if err := flags.Parse(args); err != nil {
		return err
	}
	file := func(ending string) string { return filepath.Join(*dir, info.Name+ending) }

	var err error
	read := func(name string) []byte {
		var text []byte
		if err == nil && name != "" {
			text, err = os.ReadFile(name)
		}
		return text
	}
	module, packed := read(file(".wasm")), read(file(".wasm.zst"))
	exports := read(filepath.Join(*recipe, "exports.txt"))
	versions := settings(read(filepath.Join(*recipe, "versions.env")))
	sums := read(filepath.Join(*recipe, "SHA256SUMS"))
	info.NativeModules = fields(read(*native))
	for _, line := range lines(read(*frozen)) {
		info.FrozenModules = append(info.FrozenModules, strings.Fields(line)[0])
	}
	info.TimeZones = len(lines(read(*zones)))
	list := read(*packages)
	if err != nil {
		return err
	}
	if info.Packages, err = guests.ReadPackages(list); err != nil {
		return err
	}

	if info.Functions, err = check(module, fields(exports)); err != nil {
		return err
	}
	info.Version = versions["LANGUAGE_VERSION"]
	info.Module, info.Compressed = blob(module), blob(packed)
	info.Toolchain = append(info.Toolchain, "binaryen "+versions["BINARYEN_VERSION"])
	for _, line := range lines(sums) {
		digest, path, _ := strings.Cut(line, "  ")
		info.Inputs = append(info.Inputs, guests.Input{File: path, SHA256: digest})
	}
	text, err := json.Marshal(info, json.Deterministic(true), jsontext.WithIndent(" "))
	if err != nil {
		return err
	}
	fmt.Printf("%d functions, %d bytes, %d compressed\n", info.Functions, info.Module.Bytes, info.Compressed.Bytes)
	return os.WriteFile(file(".json"), append(text, '\n'), 0o644)
}

func blob(b []byte) guests.Blob {
	sum := sha256.Sum256(b)
	return guests.Blob{SHA256: hex.EncodeToString(sum[:]), Bytes: int64(len(b))}
}

func fields(text []byte) []string { return append([]string{}, strings.Fields(string(text))...) }

func lines(text []byte) []string {
	return strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })
}

// settings reads the assignments of a file that shells source.
func settings(text []byte) map[string]string {
	all := make(map[string]string)
	for _, line := range lines(text) {
		if name, value, ok := strings.Cut(line, "="); ok && !strings.HasPrefix(line, "#") {
			all[name] = strings.Trim(value, `"`)
		}
	}
	return all
}
