package plot

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
)

func TestBars(t *testing.T) {
	text, err := Bars("How long", "ms", []Bar{{Label: "slow", Value: 1234}, {Label: "quick", Value: 0.05, Ours: true}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"How long", "ms (logarithmic)", "slow", "quick", "1234", "0.05", "1F6FB2"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the drawing has no %q:\n%s", want, text)
		}
	}
	wellFormed(t, text)
}

func TestBarsRefuse(t *testing.T) {
	for name, bars := range map[string][]Bar{
		"nothing":  nil,
		"zero":     {{Label: "x", Value: 0}},
		"negative": {{Label: "x", Value: -1}, {Label: "y", Value: 1}},
		"no end":   {{Label: "x", Value: math.Inf(1)}},
		"no value": {{Label: "x", Value: math.NaN()}},
	} {
		if _, err := Bars("x", "y", bars); err == nil {
			t.Errorf("%s: drawn, want an error", name)
		}
	}
}

func wellFormed(t *testing.T, text []byte) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(string(text)))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("no XML: %v", err)
		}
	}
}

func TestLines(t *testing.T) {
	text, err := Lines("Memory", "MiB", []Series{{Label: "private", Seconds: []float64{0, 1, 2}, Values: []float64{3, 5, 4}}}, []Mark{{"disk full", 1.5}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Memory", "MiB", "private", "disk full"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the drawing has no %q:\n%s", want, text)
		}
	}
	wellFormed(t, text)
	for name, series := range map[string][]Series{
		"nothing":     nil,
		"empty":       {{Label: "x"}},
		"not as many": {{Label: "x", Seconds: []float64{1, 2}, Values: []float64{1}}},
		"no value":    {{Label: "x", Seconds: []float64{1}, Values: []float64{math.NaN()}}},
	} {
		if _, err := Lines("x", "y", series, nil); err == nil {
			t.Errorf("%s: drawn, want an error", name)
		}
	}
}
