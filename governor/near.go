package governor

import "slices"

// maxNear is how long a name may be for names like it to be looked for.
const maxNear = 64

// near is the name among names that is a slip of the pen away from name, and for
// which may holds; empty if there is none. Of several it is the nearest, then the
// first in order.
func near(name string, names []string, may func(string) bool) string {
	most := min(2, len(name)/3)
	if len(name) > maxNear || most == 0 {
		return ""
	}
	best := ""
	slices.Sort(names)
	for _, other := range names {
		if d := distance(name, other, most); d <= most && may(other) {
			best, most = other, d-1
		}
	}
	return best
}

// distance is how many bytes have to be put in, taken out, changed, or exchanged
// with their neighbour to make one name of the other; more than most if it is more.
func distance(a, b string, most int) int {
	if len(a)-len(b) > most || len(b)-len(a) > most {
		return most + 1
	}
	var before []int
	last, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, make([]int, len(b)+1)
	}
	return last[len(b)]
}
