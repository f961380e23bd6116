// Command peers measures Mayfly beside what else runs code that a model wrote:
// the same work for each, in one run, in turn. It prints one table as Markdown
// and writes the samples as JSON.
//
// It never fails because of a figure. It does fail when a peer is not installed,
// or when two peers give different values for the same work.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mayfly-run/mayfly/bench/measure"
)

const usage = `peers measures Mayfly beside other ways to run code that a model wrote.

  go run ./bench/peers                                  everything, about ten minutes
  go run ./bench/peers -quick -peers python3,ours-python -only 'start|memory'
  go run ./bench/peers -allow-missing pyodide,monty     without what is not installed

make bench-peers installs the peers first. The groups of rows are:
  %s
The peers are:
  %s

Flags:
`

// groups are the rows, by what -only calls them.
var groups = []group{
	{"start", start},
	{"cpu", cpu},
	{"rows", rows},
	{"memory", memory},
	{"rate", rates},
	{"stop", stop},
	{"limits", limits},
}

type group struct {
	name    string
	measure func(*bench) error
}

type options struct {
	out, only, peers, allowMissing, cache, drivers string
	from                                           string
	quick, json                                    bool
	progress                                       io.Writer
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == driverVerb {
		exit(driverMain(os.Args[2:]))
	}
	o := options{progress: os.Stderr}
	flag.StringVar(&o.out, "out", "bench/out", "`directory` for peers.json, peers.md and the plots")
	flag.StringVar(&o.only, "only", "", "measure only the groups that match this `expression`")
	flag.StringVar(&o.peers, "peers", "", "measure only these peers: `names` with commas")
	flag.StringVar(&o.allowMissing, "allow-missing", "", "go on without these peers if they are not installed: `names` with commas")
	flag.StringVar(&o.from, "from", "", "measure nothing: write the table and plots of this peers.json, a `file`, again")
	flag.BoolVar(&o.quick, "quick", false, "few repetitions: to see that it works")
	flag.BoolVar(&o.json, "json", false, "print the report as JSON instead of the table")
	flag.StringVar(&o.cache, "cache", "", "`directory` for compiled code (default: in the user's cache directory)")
	flag.StringVar(&o.drivers, "drivers", "bench/peers/drivers", "`directory` of the drivers and their node_modules")
	flag.Usage = func() {
		var names, of []string
		for _, g := range groups {
			names = append(names, g.name)
		}
		for _, p := range peers {
			of = append(of, p.name)
		}
		fmt.Fprintf(flag.CommandLine.Output(), usage, strings.Join(names, ", "), strings.Join(of, ", "))
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() > 0 {
		exit(fmt.Errorf("%q is not expected; see -help", flag.Arg(0)))
	}
	make := run
	if o.from != "" {
		make = kept
	}
	r, err := make(o)
	if err != nil {
		exit(err)
	}
	if err := r.save(o.out); err != nil {
		exit(err)
	}
	if o.json {
		exit(r.print(os.Stdout))
	}
	r.table(os.Stdout)
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func run(o options) (*report, error) {
	match, err := regexp.Compile(o.only)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(groups, func(g group) bool { return match.MatchString(g.name) }) {
		return nil, fmt.Errorf("no group of rows matches %q; see -help", o.only)
	}
	if o.cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			return nil, err
		}
		o.cache = filepath.Join(dir, "mayfly")
	}
	at, err := findPlaces(o.cache, o.drivers)
	if err != nil {
		return nil, err
	}
	scratch, err := os.MkdirTemp("", "peers")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	b := &bench{at: at, quick: o.quick, scratch: scratch, drivers: make(map[string]*driver), progress: o.progress}
	b.report = report{Date: time.Now().UTC().Truncate(time.Second), Machine: measure.ThisMachine(), Quick: o.quick}
	if err := b.choose(o.peers, o.allowMissing); err != nil {
		return nil, err
	}
	defer func() {
		for _, p := range b.peers {
			b.stop(p)
		}
	}()
	begin := time.Now()
	if err := b.prepare(); err != nil {
		return nil, err
	}
	for _, g := range groups {
		if !match.MatchString(g.name) {
			continue
		}
		b.say("measuring %s …", g.name)
		begin, first := time.Now(), len(b.report.Rows)
		if err := g.measure(b); err != nil {
			return nil, err
		}
		for i := range b.report.Rows[first:] {
			b.report.Rows[first+i].Group = g.name
		}
		b.say("measured %s in %.0f s", g.name, time.Since(begin).Seconds())
	}
	b.report.Seconds = time.Since(begin).Seconds()
	return &b.report, nil
}
