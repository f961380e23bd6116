package main

import "github.com/mayfly-run/mayfly/bench/measure"

// paired is a ratio of two sides that were measured side by side, round by
// round. A machine that is busy for a while slows both sides of a round, so
// the ratio of each round is taken first, and the median of those is the
// figure; its quartiles tell how far rounds disagree.
type paired struct {
	ours, baseline   float64 // medians, in milliseconds
	ratio, low, high float64 // median of the rounds' ratios, and their quartiles
}

// pairs runs both sides n times, one after the other, and changes who is first
// from round to round, so that neither gains from its place.
func pairs(n int, ours, baseline func() (float64, error)) (paired, error) {
	var a, b, ratios []float64
	for i := range n {
		sides, into := []func() (float64, error){ours, baseline}, []*[]float64{&a, &b}
		for k := range sides {
			k = (k + i) % 2
			ms, err := sides[k]()
			if err != nil {
				return paired{}, err
			}
			*into[k] = append(*into[k], ms)
		}
		ratios = append(ratios, a[i]/b[i])
	}
	return paired{measure.Median(a), measure.Median(b), measure.Median(ratios), measure.Quantile(ratios, 0.25), measure.Quantile(ratios, 0.75)}, nil
}

// pair adds a ratio that was measured in pairs; target is the highest one wanted.
func (b *bench) pair(name string, p paired, target float64) {
	b.items = append(b.items, item{
		Name: name, Unit: "ms", Ours: p.ours, Baseline: p.baseline, Ratio: p.ratio, Low: p.low, High: p.high,
		Target: target, OK: target == 0 || p.ratio <= target,
	})
}

// pairMean adds the geometric mean of what was measured in pairs, with that of
// the quartiles.
func (b *bench) pairMean(name string, all []paired, target float64) {
	var ratio, low, high []float64
	for _, p := range all {
		ratio, low, high = append(ratio, p.ratio), append(low, p.low), append(high, p.high)
	}
	mean := measure.Geomean(ratio)
	b.items = append(b.items, item{
		Name: name, Unit: "ratio", Ratio: mean, Low: measure.Geomean(low), High: measure.Geomean(high),
		Target: target, OK: target == 0 || mean <= target,
	})
}
