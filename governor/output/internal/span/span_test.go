package span

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSort(t *testing.T) {
	tests := []struct {
		name     string
		in, want []Span
	}{
		{"none", nil, nil},
		{"apart", []Span{{4, 6, "b", ""}, {0, 2, "a", ""}}, []Span{{0, 2, "a", ""}, {4, 6, "b", ""}}},
		{"side by side", []Span{{0, 2, "a", ""}, {2, 4, "b", ""}}, []Span{{0, 2, "a", ""}, {2, 4, "b", ""}}},
		{"one in another", []Span{{0, 9, "a", ""}, {2, 4, "b", ""}}, []Span{{0, 9, "a", ""}}},
		{"overlapping", []Span{{3, 9, "b", ""}, {0, 5, "a", ""}}, []Span{{0, 9, "a", ""}}},
		{"a chain", []Span{{0, 3, "a", ""}, {2, 5, "b", ""}, {4, 7, "c", ""}}, []Span{{0, 7, "a", ""}}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, Sort(tt.in)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestReplace(t *testing.T) {
	if got := Replace("abc", nil); got != "abc" {
		t.Errorf("without spans: %q", got)
	}
	if got := Replace("abcdef", []Span{{0, 1, "", "X"}, {1, 2, "", ""}, {4, 6, "", "YZ"}}); got != "XcdYZ" {
		t.Errorf("with spans: %q", got)
	}
}
