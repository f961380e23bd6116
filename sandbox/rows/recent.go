package rows

import "hash/maphash"

// recentStrings boxes strings and reuses the boxes of recent ones: columns
// that name a group repeat a few strings a hundred thousand times, and each
// box would be an allocation. It gives up on a column that does not repeat.
type recentStrings struct {
	slots        *[256]any
	seen, reused int
	off          bool
}

// trial is after how many strings a column must have repeated itself.
const trial = 1024

var stringSeed = maphash.MakeSeed()

func (r *recentStrings) box(s string) any {
	if r.off {
		return s
	}
	if r.slots == nil {
		r.slots = new([256]any)
	}
	slot := &r.slots[maphash.String(stringSeed, s)&255]
	r.seen++
	if old, ok := (*slot).(string); ok && old == s {
		r.reused++
		return *slot
	}
	if r.seen >= trial && r.reused < r.seen/4 {
		r.off, r.slots = true, nil
		return s
	}
	*slot = s
	return *slot
}
