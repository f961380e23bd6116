package runtime_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-run/mayfly/sandbox"
)

// randomJSON writes a value of bounded depth: names that mean something to
// JavaScript, integers around the edges of what a double holds, text in every
// width.
func randomJSON(r *rand.Rand, depth int) string {
	quote := func(s string) string {
		b, err := jsontext.AppendQuote(nil, s)
		if err != nil {
			panic(err)
		}
		return string(b)
	}
	texts := []string{"", "a", "é", "😀", "north", "\u0000\n\"\\", strings.Repeat("x", 60), "__proto__", "\u2028ÿĀ"}
	kinds := 6
	if depth > 0 {
		kinds = 8
	}
	switch r.IntN(kinds) {
	case 0:
		return []string{"null", "true", "false"}[r.IntN(3)]
	case 1:
		return fmt.Sprint(r.IntN(300) - 150)
	case 2:
		return fmt.Sprint([]int64{1<<53 - 1, 1 << 53, 1<<53 + 1, -(1 << 53), 1 - 1<<53, 1 << 31, -1 << 31, math.MaxInt64, math.MinInt64}[r.IntN(9)])
	case 3:
		return []string{"18446744073709551616", "-170141183460469231731687303715884105729", "340282366920938463463374607431768211455"}[r.IntN(3)]
	case 4:
		return []string{"1.5", "-0.25", "1e-7", "5e-324", "1.7976931348623157e+308", "0.1"}[r.IntN(6)]
	case 5:
		return quote(texts[r.IntN(len(texts))])
	case 6:
		items := make([]string, r.IntN(5))
		for i := range items {
			items[i] = randomJSON(r, depth-1)
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	names := []string{"a", "b", "__proto__", "constructor", "toJSON", "then", "0", "10", "é", "length", "valueOf", ""}
	r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	members := make([]string, r.IntN(5))
	for i := range members {
		members[i] = quote(names[i]) + ":" + randomJSON(r, depth-1)
	}
	return "{" + strings.Join(members, ",") + "}"
}

// TestRoundTrip: what goes in as an argument comes out as the value, digit for
// digit; only the order of names may change, as JavaScript puts indices first.
func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 14))
	box := javaScript(t)
	sorted := func(text string) string {
		v := jsontext.Value(text)
		if err := v.Format(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false), jsontext.ReorderRawObjects(true)); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return string(v)
	}
	var all []string
	for range 300 {
		all = append(all, randomJSON(r, 4))
	}
	// As one list, so that objects share their lists of keys, and one by one.
	want := "[" + strings.Join(all, ",") + "]"
	result, err := box.Run(t.Context(), sandbox.Spec{Code: "x", Globals: map[string]any{"x": sandbox.RawJSON(want)}})
	if err != nil || result.Status != sandbox.StatusOK {
		t.Fatalf("status %q, error %+v, %v", result.Status, result.Error, err)
	}
	var got []jsontext.Value
	if err := json.Unmarshal(result.Value, &got); err != nil || len(got) != len(all) {
		t.Fatalf("%d values, %v", len(got), err)
	}
	for i, text := range all {
		if diff := cmp.Diff(sorted(text), sorted(string(got[i]))); diff != "" {
			t.Errorf("argument %s (-in +out):\n%s", text, diff)
		}
	}
	for _, text := range all[:40] {
		r, err := box.Run(t.Context(), sandbox.Spec{Code: "x", Globals: map[string]any{"x": sandbox.RawJSON(text)}})
		if err != nil || r.Status != sandbox.StatusOK {
			t.Fatalf("%s: status %q, error %+v, %v", text, r.Status, r.Error, err)
		}
		if diff := cmp.Diff(sorted(text), sorted(string(r.Value))); diff != "" {
			t.Errorf("argument %s (-in +out):\n%s", text, diff)
		}
	}
}
