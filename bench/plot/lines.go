package plot

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// Series is a line: what was at each moment, in seconds from the start.
type Series struct {
	Label           string
	Seconds, Values []float64
}

// Mark is a moment at which something was done.
type Mark struct {
	Label   string
	Seconds float64
}

var colours = []color.RGBA{{0x1f, 0x6f, 0xb2, 0xff}, {0xc4, 0x52, 0x1b, 0xff}, {0x3d, 0x8b, 0x40, 0xff}, {0x7a, 0x4f, 0xa3, 0xff}}

// Lines draws values over time from zero on, with the marks as thin lines across.
func Lines(title, unit string, series []Series, marks []Mark) ([]byte, error) {
	p := plot.New()
	p.Title.Text = title
	p.X.Label.Text, p.Y.Label.Text = "seconds", unit
	p.Legend.Top = true
	most := 0.0
	for i, s := range series {
		if len(s.Seconds) != len(s.Values) || len(s.Values) == 0 {
			return nil, fmt.Errorf("draw %q: %s has %d moments and %d values", title, s.Label, len(s.Seconds), len(s.Values))
		}
		points := make(plotter.XYs, len(s.Values))
		for j := range points {
			points[j] = plotter.XY{X: s.Seconds[j], Y: s.Values[j]}
			most = max(most, s.Values[j])
		}
		line, err := plotter.NewLine(points)
		if err != nil {
			return nil, fmt.Errorf("draw %q: %s: %w", title, s.Label, err)
		}
		line.Color, line.Width = colours[i%len(colours)], vg.Points(1.2)
		p.Add(line)
		p.Legend.Add(s.Label, line)
	}
	if len(series) == 0 {
		return nil, fmt.Errorf("draw %q: there is nothing to draw", title)
	}
	p.Y.Min, p.Y.Max = 0, max(most*1.25, 1e-9)
	labels := plotter.XYLabels{}
	for i, m := range marks {
		line, err := plotter.NewLine(plotter.XYs{{X: m.Seconds, Y: 0}, {X: m.Seconds, Y: p.Y.Max}})
		if err != nil {
			return nil, err
		}
		line.Color, line.Width = color.RGBA{0, 0, 0, 0x50}, vg.Points(0.5)
		p.Add(line)
		labels.XYs = append(labels.XYs, plotter.XY{X: m.Seconds, Y: p.Y.Max * (0.97 - 0.04*float64(i%4))})
		labels.Labels = append(labels.Labels, m.Label)
	}
	if len(marks) > 0 {
		l, err := plotter.NewLabels(labels)
		if err != nil {
			return nil, err
		}
		for i := range l.TextStyle {
			l.TextStyle[i].Font.Size = vg.Points(7)
		}
		p.Add(l)
	}
	return svg(p, 24*vg.Centimeter, 9*vg.Centimeter)
}
