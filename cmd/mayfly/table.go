package main

import (
	"bytes"
	"fmt"
	"strings"
	"text/tabwriter"
)

// table writes rows in columns, for people. Cells hold text of other people:
// whatever could drive a terminal or break the columns is made visible or
// becomes a space, wherever the table goes.
func (o output) table(header []string, rows [][]string) error {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{header}, rows...) {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = oneLine(cell)
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return o.all(trimLines(b.Bytes()))
}

// oneLine makes text fit into a cell.
func oneLine(s string) string {
	return string(visible([]byte(strings.Join(strings.Fields(s), " "))))
}

// trimLines drops the blanks that fill the last column.
func trimLines(p []byte) []byte {
	var out []byte
	for line := range bytes.Lines(p) {
		out = append(append(out, bytes.TrimRight(line, " \n")...), '\n')
	}
	return out
}

// shorten cuts text for a table, at a character.
func shorten(s string, most int) string {
	runes := []rune(oneLine(s))
	if len(runes) <= most {
		return string(runes)
	}
	return strings.TrimRight(string(runes[:most-1]), " ") + "…"
}

// dash stands for nothing in a table.
func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
