package main

import (
	"math"
	"math/big"
	"testing"

	"github.com/mayfly-run/mayfly/sandbox"
)

// Different arguments never share a digest, equal ones always do.
func TestArgumentDigests(t *testing.T) {
	huge, _ := new(big.Int).SetString("9223372036854775808", 10)
	different := []any{
		nil, true, false, int64(0), int64(1), int64(9007199254740992), int64(9007199254740993), huge,
		0.0, math.Copysign(0, -1), 1.0, "", "1", "true", "null",
		sandbox.RawJSON("1"), sandbox.RawJSON(`"1"`),
		map[string]any{}, map[string]any{"a": nil}, map[string]any{"a": "b"}, map[string]any{"ab": ""}, map[string]any{"a": nil, "b": nil},
		&sandbox.Table{},
		&sandbox.Table{Columns: []string{"a"}},
		&sandbox.Table{Columns: []string{"a"}, Rows: [][]any{{nil}}},
		&sandbox.Table{Columns: []string{"a", "b"}, Rows: [][]any{{nil, nil}}},
		&sandbox.Table{Columns: []string{"a"}, Rows: [][]any{{nil}, {nil}}},
		&sandbox.Table{Columns: []string{"a"}, Rows: [][]any{{"b"}}},
	}
	seen := make(map[string]int)
	for i, v := range different {
		sum := digest(func(d *digester) { d.value(v) })
		if again := digest(func(d *digester) { d.value(v) }); again != sum {
			t.Errorf("%#v has two digests", v)
		}
		if j, ok := seen[sum]; ok {
			t.Errorf("%#v and %#v have the same digest", different[j], v)
		}
		seen[sum] = i
	}
}

func TestOutputDigest(t *testing.T) {
	base := sandbox.Result{Status: sandbox.StatusOK, Value: sandbox.RawJSON("1"), Stdout: []byte("x"), Usage: sandbox.Usage{Fuel: 5}}
	sum := func(r sandbox.Result) string { return digest(func(d *digester) { d.output(r) }) }
	same := base
	same.Usage.Wall = 1e9
	same.Usage.PeakMemory = 1
	if sum(base) != sum(same) {
		t.Error("what a call cost on this machine is in the digest")
	}
	for name, change := range map[string]func(*sandbox.Result){
		"status":       func(r *sandbox.Result) { r.Status = sandbox.StatusError },
		"value":        func(r *sandbox.Result) { r.Value = sandbox.RawJSON("2") },
		"value prefix": func(r *sandbox.Result) { r.ValuePrefix = "[" },
		"stdout":       func(r *sandbox.Result) { r.Stdout = nil },
		"stream":       func(r *sandbox.Result) { r.Stdout, r.Stderr = nil, []byte("x") },
		"error":        func(r *sandbox.Result) { r.Error = &sandbox.Error{} },
		"fuel":         func(r *sandbox.Result) { r.Usage.Fuel++ },
	} {
		r := base
		change(&r)
		if sum(r) == sum(base) {
			t.Errorf("a different %s gives the same digest", name)
		}
	}
}
