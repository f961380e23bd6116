package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestMain lets the test's program be the driver that the bench starts.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == driverVerb {
		exit(driverMain(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// TestQuick runs everything that needs nothing from elsewhere: Mayfly, and the
// native processes that are there.
func TestQuick(t *testing.T) {
	at, err := findPlaces("", "")
	if err != nil {
		t.Fatal(err)
	}
	names, want := []string{}, 0
	for _, name := range []string{"python3", "ours-python", "node", "ours-js"} {
		p, ok := findPeer(name)
		if !ok {
			t.Fatalf("there is no peer %s", name)
		}
		if err := p.missing(at); err != nil {
			t.Logf("without %s: %v", name, err)
			continue
		}
		names = append(names, name)
		want++
	}
	if want == 0 {
		t.Skip("neither the guests nor python3 nor node are here")
	}
	var progress bytes.Buffer
	o := options{quick: true, peers: strings.Join(names, ","), progress: &progress}
	if testing.Short() {
		o.only = "start|memory"
	}
	begin := time.Now()
	r, err := run(o)
	if err != nil {
		t.Fatalf("%v\n%s", err, &progress)
	}
	t.Logf("a quick run took %v\n%s", time.Since(begin), &progress)
	if len(r.Peers) != want {
		t.Errorf("%d peers were measured, want %d", len(r.Peers), want)
	}
	seen := make(map[string]bool)
	for _, row := range r.Rows {
		seen[row.Group] = true
		for _, p := range r.Peers {
			c, ok := row.Cells[p.Name]
			if !ok && row.Language != "" && row.Language != p.Language {
				continue
			}
			if c.NA == "" && c.Word == "" && len(c.Samples) == 0 {
				t.Errorf("%s of %s has nothing: %+v", row.Name, p.Name, c)
			}
		}
	}
	for _, g := range groups {
		if !seen[g.name] && strings.Contains(o.only, g.name) == (o.only != "") {
			t.Errorf("no row of %s", g.name)
		}
	}
	dir := t.TempDir()
	if err := r.save(dir); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"peers.json", "peers.md", "peers-start.svg", "peers-memory.svg"} {
		if i, err := os.Stat(filepath.Join(dir, name)); err != nil || i.Size() == 0 {
			t.Errorf("%s was not written: %v", name, err)
		}
	}
	var table bytes.Buffer
	r.table(&table)
	for _, name := range names {
		p, _ := findPeer(name)
		if !strings.Contains(table.String(), "| "+p.title+" |") {
			t.Errorf("the table has no column for %s:\n%s", p.title, &table)
		}
	}
}

// What is not installed fails the run, unless it is allowed by name.
func TestMissing(t *testing.T) {
	nowhere := t.TempDir()
	o := options{quick: true, only: "start", peers: "pyodide,monty,python3", drivers: nowhere, progress: io.Discard}
	if at, err := findPlaces("", ""); err != nil || at.Python == "" {
		t.Skip("no python3 here, which has to be left over")
	}
	_, err := run(o)
	if err == nil || !strings.Contains(err.Error(), "pyodide") || !strings.Contains(err.Error(), "monty") {
		t.Errorf("run with peers that are not there: %v, want an error that names them", err)
	}
	o.allowMissing = "pyodide"
	_, err = run(o)
	if err == nil || strings.Contains(err.Error(), "pyodide:") || !strings.Contains(err.Error(), "monty:") {
		t.Errorf("run with one of them allowed: %v, want an error that names the other", err)
	}
	o.allowMissing = "pyodide,monty"
	r, err := run(o)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Missing) != 2 || len(r.Peers) != 1 {
		t.Errorf("missing %q and %d peers, want two and one", r.Missing, len(r.Peers))
	}
}

func TestOptions(t *testing.T) {
	for _, tt := range []struct {
		o    options
		want string
	}{
		{options{only: "("}, "missing closing"},
		{options{peers: "phython"}, `no peer "phython"`},
		{options{allowMissing: "x"}, `no peer "x"`},
	} {
		tt.o.progress = io.Discard
		if _, err := run(tt.o); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("run(%+v): %v, want %q in it", tt.o, err, tt.want)
		}
	}
}
