package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/mayfly-run/mayfly/bench/measure"
)

// report is everything that one run found; it is written as JSON.
type report struct {
	Date    time.Time       `json:"date"`
	Machine measure.Machine `json:"machine"`
	// Quick runs have few repetitions, and their figures mean little.
	Quick   bool         `json:"quick,omitempty"`
	Seconds float64      `json:"seconds"`
	Peers   []peerReport `json:"peers"`
	// Missing peers were allowed not to be there.
	Missing []string `json:"missing,omitempty"`
	Rows    []row    `json:"rows"`
}

type peerReport struct {
	Name     string            `json:"name"`
	Title    string            `json:"title"`
	Language string            `json:"language"`
	Versions map[string]string `json:"versions"`
}

// row is one thing that was measured of every peer.
type row struct {
	Group string `json:"group"`
	Name  string `json:"name"`
	Unit  string `json:"unit,omitempty"`
	// Best is "least" or "most"; empty for rows of words, which nobody wins.
	Best string `json:"best,omitempty"`
	// Detail rows are behind another one of the table, and not in it.
	Detail bool `json:"detail,omitempty"`
	// Language is set if only peers of that language were measured.
	Language string          `json:"language,omitempty"`
	Cells    map[string]cell `json:"cells"`
}

// cell is what was found of one peer: samples, a word, or a reason why nothing.
type cell struct {
	Median  float64   `json:"median,omitempty"`
	Samples []float64 `json:"samples,omitempty"`
	Word    string    `json:"word,omitempty"`
	NA      string    `json:"na,omitempty"`
	// Part says how much of a set the figure covers, if not all of it. It is not
	// compared then.
	Part string `json:"part,omitempty"`
	// Observed is the answer that a word was taken from.
	Observed *answer `json:"observed,omitempty"`
}

func sampled(samples []float64) cell {
	return cell{Median: measure.Median(samples), Samples: samples}
}

// compared says whether a ratio to it means something. What is not more than nothing
// is less than can be weighed.
func (c cell) compared() bool { return len(c.Samples) > 0 && c.Median > 0 && c.Part == "" }

// winner gives the peer of a language that is best, or "".
func (r row) winner(in []peerReport, language string) string {
	best, name := 0.0, ""
	for _, p := range in {
		c := r.Cells[p.Name]
		if r.Best == "" || p.Language != language || !c.compared() {
			continue
		}
		if name == "" || (r.Best == "least" && c.Median < best) || (r.Best == "most" && c.Median > best) {
			best, name = c.Median, p.Name
		}
	}
	return name
}

// save writes the samples, the table and the plots into a directory.
func (r *report) save(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var text, table bytes.Buffer
	if err := r.print(&text); err != nil {
		return err
	}
	r.table(&table)
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "peers.json"), text.Bytes(), 0o644),
		os.WriteFile(filepath.Join(dir, "peers.md"), table.Bytes(), 0o644),
		r.plots(dir),
	)
}

// kept reads what an earlier run saved.
func kept(o options) (*report, error) {
	text, err := os.ReadFile(o.from)
	if err != nil {
		return nil, err
	}
	r := &report{}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(r); err != nil {
		return nil, fmt.Errorf("%s: %w", o.from, err)
	}
	return r, nil
}

// print writes the report as JSON.
func (r *report) print(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(r)
}
