// Package measure has what the programs that measure share: statistics, the
// same rows and workloads for every side, and how a process is run and weighed.
package measure

import (
	"math"
	"slices"
	"time"
)

// Quantile gives the value below which a part q of the samples lies. There
// must be a sample.
func Quantile(samples []float64, q float64) float64 {
	s := slices.Sorted(slices.Values(samples))
	return s[min(int(q*float64(len(s))), len(s)-1)]
}

// Median is the quantile of one half.
func Median(samples []float64) float64 { return Quantile(samples, 0.5) }

// Geomean is the geometric mean.
func Geomean(ratios []float64) float64 {
	var sum float64
	for _, r := range ratios {
		sum += math.Log(r)
	}
	return math.Exp(sum / float64(len(ratios)))
}

// Millis is a duration in milliseconds.
func Millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
