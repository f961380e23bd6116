// Package plot draws what was measured, as SVG.
package plot

import (
	"bytes"
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// Bar is one figure. It must be positive.
type Bar struct {
	Label string
	Value float64
	// Ours is drawn in another colour.
	Ours bool
}

var (
	theirs = color.RGBA{R: 0x8a, G: 0x93, B: 0x9c, A: 0xff}
	ours   = color.RGBA{R: 0x1f, G: 0x6f, B: 0xb2, A: 0xff}
)

// Bars draws bars on a logarithmic scale, the least at the top, each with its
// figure.
func Bars(title, unit string, bars []Bar) ([]byte, error) {
	if len(bars) == 0 {
		return nil, fmt.Errorf("draw %q: there is nothing to draw", title)
	}
	bars = slices.Clone(bars)
	slices.SortStableFunc(bars, func(a, b Bar) int { return cmp.Compare(b.Value, a.Value) })
	least, most := bars[len(bars)-1].Value, bars[0].Value
	if !(least > 0) || math.IsInf(most, 1) {
		return nil, fmt.Errorf("draw %q: a logarithmic scale has no place for %v or %v", title, least, most)
	}
	// A bar of a logarithmic scale has to start somewhere: one decade below.
	floor := math.Floor(math.Log10(least)) - 1
	p := plot.New()
	p.Title.Text = title
	p.X.Label.Text = unit + " (logarithmic)"
	p.X.Min, p.X.Max = floor, math.Ceil(math.Log10(most))+0.5
	p.X.Tick.Marker = decades{}
	var names []string
	labels := plotter.XYLabels{}
	for i, b := range bars {
		at := math.Log10(b.Value)
		// The library's own bars start at 0, which is one unit here, not the floor.
		line, err := plotter.NewLine(plotter.XYs{{X: floor, Y: float64(i)}, {X: at, Y: float64(i)}})
		if err != nil {
			return nil, err
		}
		line.Width, line.Color = vg.Points(14), theirs
		if b.Ours {
			line.Color = ours
		}
		p.Add(line)
		names = append(names, b.Label)
		labels.XYs = append(labels.XYs, plotter.XY{X: at + 0.04, Y: float64(i) - 0.12})
		labels.Labels = append(labels.Labels, figure(b.Value))
	}
	figures, err := plotter.NewLabels(labels)
	if err != nil {
		return nil, err
	}
	for i := range figures.TextStyle {
		figures.TextStyle[i].Font.Variant = "Sans"
	}
	p.Add(figures)
	p.NominalY(names...)
	p.Y.Min, p.Y.Max = -0.6, float64(len(bars))-0.4
	return svg(p, 18*vg.Centimeter, vg.Length(len(bars))*vg.Points(24)+vg.Points(80))
}

// decades are ticks at the powers of ten, of an axis of logarithms.
type decades struct{}

func (decades) Ticks(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	for d := math.Ceil(low); d <= high; d++ {
		ticks = append(ticks, plot.Tick{Value: d, Label: strconv.FormatFloat(math.Pow(10, d), 'g', -1, 64)})
	}
	return ticks
}

// figure has two or three digits that count, and no exponent.
func figure(f float64) string {
	if f >= 10 {
		return strconv.FormatFloat(f, 'f', 0, 64)
	}
	return strconv.FormatFloat(f, 'g', 2, 64)
}

func svg(p *plot.Plot, width, height vg.Length) ([]byte, error) {
	// Who looks at it has other fonts than the library: a plain one, and small, is
	// about as wide everywhere.
	for _, style := range []*text.Style{&p.Title.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label, &p.Legend.TextStyle} {
		style.Font.Variant, style.Font.Size = "Sans", vg.Points(9)
	}
	p.Legend.Padding = vg.Points(2)
	w, err := p.WriterTo(width, height, "svg")
	if err != nil {
		return nil, err
	}
	var drawing bytes.Buffer
	_, err = w.WriteTo(&drawing)
	return drawing.Bytes(), err
}
