package main

import (
	"math"
	"slices"
)

// quantile gives the value below which a part q of the samples lies.
func quantile(samples []float64, q float64) float64 {
	s := slices.Sorted(slices.Values(samples))
	return s[min(int(q*float64(len(s))), len(s)-1)]
}

func median(samples []float64) float64 { return quantile(samples, 0.5) }

func geomean(ratios []float64) float64 {
	var sum float64
	for _, r := range ratios {
		sum += math.Log(r)
	}
	return math.Exp(sum / float64(len(ratios)))
}
