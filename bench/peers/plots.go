package main

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/mayfly-run/mayfly/bench/plot"
)

// The rows that are drawn, by name, and the files.
var drawn = []struct{ row, file string }{
	{rowFresh, "peers-start.svg"},
	{rowMemory, "peers-memory.svg"},
}

// plots writes the drawings of what was measured.
func (r *report) plots(dir string) error {
	var errs []error
	for _, d := range drawn {
		for _, row := range r.Rows {
			if row.Name != d.row {
				continue
			}
			text, err := row.draw(r.Peers)
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, d.file), text, 0o644)
			}
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (r row) draw(peers []peerReport) ([]byte, error) {
	var bars []plot.Bar
	for _, p := range peers {
		if c := r.Cells[p.Name]; c.compared() && c.Median > 0 {
			bars = append(bars, plot.Bar{Label: p.Title, Value: c.Median, Ours: p.Name == oursOf[p.Language]})
		}
	}
	return plot.Bars(r.Name, r.Unit, bars)
}
