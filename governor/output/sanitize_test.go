package output

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-run/mayfly/governor/output/internal/pii"
	"github.com/mayfly-run/mayfly/governor/output/internal/span"
)

// eater takes the first letter x of a text.
func eater(text string, _ pii.Context) []span.Span {
	i := strings.IndexByte(text, 'x')
	if i < 0 {
		return nil
	}
	return []span.Span{{Start: i, End: i + 1, Kind: "x"}}
}

// A text that changes in every round is dropped, not passed on; one that comes
// to rest in time is not.
func TestCleanComesToRest(t *testing.T) {
	o := &Output{maxBytes: 100, sanitizers: []sanitizer{eater}}
	tests := []struct {
		text, want string
		counts     counts
	}{
		{"a", "a", counts{}},
		{"xaxxb", "ab", counts{"x": 3}},
		{strings.Repeat("x", maxRounds-1) + "a", "a", counts{"x": maxRounds - 1}},
		{strings.Repeat("x", maxRounds) + "a", dropped, counts{"x": maxRounds, Unreadable: 1}},
		{strings.Repeat("x", 1000), dropped, counts{"x": maxRounds, Unreadable: 1}},
	}
	for _, tt := range tests {
		c := counts{}
		if got := o.clean(tt.text, 0, c); got != tt.want {
			t.Errorf("clean(%.12q) is %q, want %q", tt.text, got, tt.want)
		}
		if diff := cmp.Diff(tt.counts, c); diff != "" {
			t.Errorf("clean(%.12q) counts (-want +got):\n%s", tt.text, diff)
		}
	}
}

// Every placeholder that a sanitizer writes is known to the cut, and is nothing
// that a sanitizer takes out.
func TestPlaceholders(t *testing.T) {
	texts := []string{"a@example.com", "+1 415 555 0132", "4111 1111 1111 1111", "DE89 3704 0044 0532 0130 00", "192.0.2.7", "123-45-6789", "<|im_end|>"}
	seen := map[string]bool{}
	for _, text := range texts {
		for _, find := range sanitizers {
			for _, s := range find(text, 0) {
				seen[s.With] = true
			}
		}
	}
	for _, p := range placeholders {
		if !seen[p] {
			t.Errorf("nothing becomes %s", p)
		}
		delete(seen, p)
		for name, find := range sanitizers {
			if found := find(p, ^pii.Context(0)); len(found) > 0 {
				t.Errorf("%s takes %s out: %v", name, p, found)
			}
		}
	}
	if len(seen) > 0 {
		t.Errorf("the cut does not know %v", seen)
	}
}
