package runtime_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/mayfly-run/mayfly/sandbox"
)

// nativePrelude binds what the guest has, and prints result.
const nativePrelude = `
import datetime, json, math, re, statistics, sys
data = json.load(sys.stdin)
orders, customers = data["orders"], data["customers"]
`

// TestSQLScripts runs what a model would write over rows and compares it with
// what a native Python without SQL makes of the same rows.
func TestSQLScripts(t *testing.T) {
	nativePython, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3 on this machine to compute with")
	}
	orders, customers := shopData()
	globals := map[string]any{"orders": orders, "customers": customers}
	input, err := json.Marshal(map[string]any{"orders": asRecords(orders), "customers": asRecords(customers)})
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/sql/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files of scripts, %v", len(files), err)
	}
	box := python(t)
	for _, file := range files {
		for _, c := range readGuestCases(t, file) {
			t.Run(c["NAME"], func(t *testing.T) {
				r, err := box.Run(t.Context(), sandbox.Spec{Code: c["py"], Globals: globals, Limits: sandbox.Limits{Timeout: time.Minute}})
				if err != nil || r.Status != sandbox.StatusOK {
					t.Fatalf("%s, %v: %+v", r.Status, err, r.Error)
				}
				native := exec.CommandContext(t.Context(), nativePython, "-I", "-c", nativePrelude+c["native"]+"\nprint(json.dumps(result))")
				native.Stdin = bytes.NewReader(input)
				out, err := native.Output()
				if err != nil {
					t.Fatalf("python3: %v", err)
				}
				var got, want any
				if err := json.Unmarshal(r.Value, &got); err != nil {
					t.Fatal(err)
				}
				if err := json.Unmarshal(out, &want); err != nil {
					t.Fatal(err)
				}
				if list, ok := want.([]any); ok && len(list) == 0 {
					t.Error("nothing comes out, which proves nothing")
				}
				if at := differs("", got, want); at != "" {
					t.Errorf("at %s:\n got %s\nwant %s", at, r.Value, out)
				}
			})
		}
	}
}

// differs gives the place where two values differ, numbers by more than their
// last digits.
func differs(at string, got, want any) string {
	switch w := want.(type) {
	case float64:
		g, ok := got.(float64)
		if !ok || math.Abs(g-w) > 1e-12*max(1, math.Abs(w)) {
			return at + "/"
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return at + "/"
		}
		for i := range w {
			if d := differs(fmt.Sprintf("%s/%d", at, i), g[i], w[i]); d != "" {
				return d
			}
		}
		return ""
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok || len(g) != len(w) {
			return at + "/"
		}
		for k := range w {
			if d := differs(at+"/"+k, g[k], w[k]); d != "" {
				return d
			}
		}
		return ""
	}
	if !reflect.DeepEqual(got, want) {
		return at + "/"
	}
	return ""
}

// shopData makes the same rows every time.
func shopData() (orders, customers *sandbox.Table) {
	r := rand.New(rand.NewPCG(3, 4))
	customers = &sandbox.Table{Columns: []string{"id", "name", "segment"}}
	first, last := []string{"Ada", "Noor", "Kwame", "Soo"}, []string{"Moore", "Beaulieu", "Okafor", "Lindt", "Aaltio"}
	for i := range 75 {
		customers.Rows = append(customers.Rows, []any{i, first[i%4] + " " + last[i%5], []string{"home", "office", "school"}[i%3]})
	}
	orders = &sandbox.Table{Columns: []string{"id", "day", "customer", "region", "product", "units", "price", "discount"}}
	start := time.Date(2024, 12, 20, 0, 0, 0, 0, time.UTC) // over the end of a year
	for i := range 800 {
		var discount any
		if r.IntN(3) == 0 {
			discount = float64(r.IntN(40)) / 100
		}
		orders.Rows = append(orders.Rows, []any{
			i, start.AddDate(0, 0, r.IntN(45)).Format(time.DateOnly), r.IntN(70), []string{"north", "south", "east", "west"}[r.IntN(4)],
			[]string{"tea", "coffee", "cake"}[r.IntN(3)], 1 + r.IntN(20), float64(100+r.IntN(2000)) / 100, discount,
		})
	}
	return orders, customers
}

func asRecords(t *sandbox.Table) []map[string]any {
	var records []map[string]any
	for _, row := range t.Rows {
		record := make(map[string]any)
		for i, v := range row {
			record[t.Columns[i]] = v
		}
		records = append(records, record)
	}
	return records
}
