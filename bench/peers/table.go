package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// table prints the report as Markdown.
func (r *report) table(w io.Writer) {
	fmt.Fprintf(w, "# Peers, %s\n\n", r.Date.Format("2006-01-02 15:04 MST"))
	m := r.Machine
	fmt.Fprintf(w, "Machine: %s, Linux %s, %d cores (%s), load %s at the start. The run took %.0f s.\n\n", m.OS, m.Kernel, m.Cores, m.CPU, m.Load, r.Seconds)
	if r.Quick {
		fmt.Fprint(w, "This was a quick run: few repetitions, figures that mean little.\n\n")
	}
	fmt.Fprint(w, "A figure is a median, with the least and the greatest in brackets, and after it the ratio to Mayfly's in the\n"+
		"same language. **Bold** is the best of its language. At a limit, the words are what was seen.\n\n")
	head, rule := "| |", "|---|"
	for _, p := range r.Peers {
		head += " " + p.Title + " |"
		rule += "---|"
	}
	fmt.Fprintln(w, head)
	fmt.Fprintln(w, rule)
	notes := &notes{}
	for _, row := range r.Rows {
		if !row.Detail {
			fmt.Fprintln(w, r.line(row, notes))
		}
	}
	fmt.Fprintln(w)
	notes.print(w)
	r.details(w)
	fmt.Fprintln(w, "\nVersions:")
	fmt.Fprintln(w)
	for _, p := range r.Peers {
		var all []string
		for name, version := range p.Versions {
			all = append(all, name+" "+version)
		}
		slices.Sort(all)
		fmt.Fprintf(w, "- %s: %s\n", p.Title, strings.Join(all, ", "))
	}
	for _, name := range r.Missing {
		fmt.Fprintf(w, "- %s: not installed, not measured\n", name)
	}
}

// oursOf are Mayfly's own peers.
var oursOf = map[string]string{python: "ours-python", javaScript: "ours-js"}

// line is a row of the table.
func (r *report) line(row row, notes *notes) string {
	label := row.Name
	if row.Unit != "" {
		label += ", " + row.Unit
	}
	var line strings.Builder
	line.WriteString("| " + label + " |")
	for _, p := range r.Peers {
		c, ok := row.Cells[p.Name]
		text := ""
		switch {
		case !ok:
		case c.Word != "":
			text = c.Word
		case c.NA != "":
			text = "n/a" + notes.mark(p.Title+", "+row.Name+": "+c.NA)
		default:
			text = figure(c)
			if row.winner(r.Peers, p.Language) == p.Name {
				text = "**" + text + "**"
			}
			if ours := row.Cells[oursOf[p.Language]]; ours.compared() && p.Name != oursOf[p.Language] && c.compared() {
				text += " ×" + number(c.Median/ours.Median)
			}
		}
		line.WriteString(" " + strings.ReplaceAll(text, "|", `\|`) + " |")
	}
	return line.String()
}

func figure(c cell) string {
	text := number(c.Median)
	if low, high := number(slices.Min(c.Samples)), number(slices.Max(c.Samples)); len(c.Samples) > 1 && low != high {
		text += " (" + low + "–" + high + ")"
	}
	if c.Part != "" {
		text += ", " + c.Part
	}
	return text
}

// number has two or three digits that count.
func number(f float64) string {
	switch abs := math.Abs(f); {
	case abs >= 100:
		return strconv.FormatFloat(f, 'f', 0, 64)
	case abs >= 10:
		return strconv.FormatFloat(f, 'f', 1, 64)
	default:
		return strconv.FormatFloat(f, 'g', 2, 64)
	}
}

// details prints the rows behind others.
func (r *report) details(w io.Writer) {
	for _, language := range []string{python, javaScript} {
		var of []peerReport
		for _, p := range r.Peers {
			if p.Language == language {
				of = append(of, p)
			}
		}
		part := &report{Peers: of}
		notes, printed := &notes{}, false
		for _, row := range r.Rows {
			if !row.Detail || !slices.ContainsFunc(of, func(p peerReport) bool { _, ok := row.Cells[p.Name]; return ok }) {
				continue
			}
			if !printed {
				printed = true
				fmt.Fprintf(w, "\n%s, one by one:\n\n| |", language)
				for _, p := range of {
					fmt.Fprintf(w, " %s |", p.Title)
				}
				fmt.Fprintf(w, "\n|---|%s\n", strings.Repeat("---|", len(of)))
			}
			fmt.Fprintln(w, part.line(row, notes))
		}
		if printed {
			fmt.Fprintln(w)
			notes.print(w)
		}
	}
}

// notes are the reasons below a table.
type notes struct{ all []string }

func (n *notes) mark(note string) string {
	i := slices.Index(n.all, note)
	if i < 0 {
		i = len(n.all)
		n.all = append(n.all, note)
	}
	return " [" + strconv.Itoa(i+1) + "]"
}

func (n *notes) print(w io.Writer) {
	for i, note := range n.all {
		fmt.Fprintf(w, "%d. %s\n", i+1, note)
	}
}
