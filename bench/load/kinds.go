package main

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/mayfly-run/mayfly/internal/canonjson"
	"github.com/mayfly-run/mayfly/runtime"
)

// call is one call, and what must come of it.
type call struct {
	kind, tool string
	args       map[string]any // of the tool; for ownCode, the whole request
	outcome    runtime.Outcome
	output     string // JSON; empty: whatever
	code       string // of the decision; empty: whatever
	errorType  string // of a failure; empty: whatever
	nested     int    // how many lookups the call makes itself
	ask        bool   // it has to be approved first
	again      bool   // it is made once more
	repeated   bool   // it has been made before, and does not happen again
}

// kind makes calls of one kind. Of all calls, weight in a thousand are of it.
type kind struct {
	name   string
	weight int
	make   func(r *rand.Rand) call
}

// ownCode is the tool that /v1/exec calls.
const ownCode = runtime.ExecTool

func value(v string) string { return `{"value":` + v + `,"stdout":""}` }

// trivial is the call of which times are compared.
func trivial() call {
	return call{kind: "1+1", tool: "python", args: map[string]any{"code": "1+1"}, outcome: runtime.OK, output: value("2")}
}

// kinds is the mix.
var kinds = []kind{
	{"1+1", 250, func(*rand.Rand) call { return trivial() }},
	{"python sum", 150, func(r *rand.Rand) call {
		a, b := r.IntN(1e9), r.IntN(1e9)
		return call{tool: "python", args: map[string]any{"code": "a * b + 1", "a": a, "b": b}, outcome: runtime.OK, output: value(fmt.Sprint(a*b + 1))}
	}},
	{"python power", 50, func(r *rand.Rand) call {
		a, b := r.IntN(1000)+2, r.IntN(40)+20
		p := new(big.Int).Exp(big.NewInt(int64(a)), big.NewInt(int64(b)), nil)
		return call{tool: "python", args: map[string]any{"code": "str(a ** b)", "a": a, "b": b}, outcome: runtime.OK, output: value(`"` + p.String() + `"`)}
	}},
	{"python text", 80, func(r *rand.Rand) call {
		text := words(r, 40)
		back := []rune(text)
		slices.Reverse(back)
		return call{tool: "python", args: map[string]any{"code": "text[::-1]", "text": text}, outcome: runtime.OK, output: value(quote(string(back)))}
	}},
	// Whatever a call leaves behind, the next one must not find.
	{"python trace of others", 60, func(r *rand.Rand) call {
		text := words(r, 12)
		code := "import builtins, os\nold = [getattr(builtins, 'mark', None), os.path.exists('/tmp/mark')]\n" +
			"builtins.mark = text\nopen('/tmp/mark', 'w').write(text)\nold + [text]"
		return call{tool: "python", args: map[string]any{"code": code, "text": text}, outcome: runtime.OK, output: value("[null,false," + quote(text) + "]")}
	}},
	{"python rows", 80, func(r *rand.Rand) call {
		rows, sums := sales(r, 200)
		code := "d = {}\nfor r in rows: d[r['region']] = d.get(r['region'], 0) + r['units']\ndict(sorted(d.items()))"
		return call{tool: "python", args: map[string]any{"code": code, "rows": rows}, outcome: runtime.OK, output: value(sums)}
	}},
	{"python raises", 30, func(*rand.Rand) call {
		return call{tool: "python", args: map[string]any{"code": "1/0"}, outcome: runtime.ToolError, errorType: "ZeroDivisionError"}
	}},
	{"python calls a tool", 20, func(r *rand.Rand) call {
		id := words(r, 8)
		return call{
			tool: "python", args: map[string]any{"code": "import mayfly\nmayfly.call_tool('lookup', id=text)", "text": id},
			outcome: runtime.OK, output: value(found(id)), nested: 1,
		}
	}},
	{"python has no time", 5, func(*rand.Rand) call {
		return call{tool: "spin", args: map[string]any{"code": "while True: pass"}, outcome: runtime.Timeout}
	}},
	{"js", 60, func(r *rand.Rand) call {
		a := r.IntN(1e6)
		return call{tool: "js", args: map[string]any{"code": "a * 3 - 1", "a": a}, outcome: runtime.OK, output: value(fmt.Sprint(a*3 - 1))}
	}},
	{"js rows", 40, func(r *rand.Rand) call {
		rows, sums := sales(r, 200)
		code := "const d = {}; for (const r of rows) d[r.region] = (d[r.region] ?? 0) + r.units; d"
		return call{tool: "js", args: map[string]any{"code": code, "rows": rows}, outcome: runtime.OK, output: value(sums)}
	}},
	{"exec", 40, func(r *rand.Rand) call {
		a := r.IntN(1000)
		return call{tool: ownCode, args: map[string]any{
			"code": "sum(r['n'] for r in rows)", "tables": map[string]any{"rows": map[string]any{"format": "csv", "text": fmt.Sprintf("n\n%d\n2\n", a)}},
		}, outcome: runtime.OK, output: value(fmt.Sprint(a + 2))}
	}},
	{"native", 5, func(r *rand.Rand) call {
		text := words(r, 10)
		return call{tool: "stamp", args: map[string]any{"text": text}, outcome: runtime.OK, output: strings.Replace(found(text), `"id"`, `"text"`, 1)}
	}},
	{"http", 50, func(r *rand.Rand) call {
		id := words(r, 8)
		return call{tool: "lookup", args: map[string]any{"id": id}, outcome: runtime.OK, output: found(id)}
	}},
	{"pay", 20, func(r *rand.Rand) call { return payment(r, r.IntN(100)) }},
	{"pay twice", 10, func(r *rand.Rand) call {
		c := payment(r, r.IntN(100))
		c.again = true
		return c
	}},
	{"pay much", 10, func(r *rand.Rand) call {
		c := payment(r, 101+r.IntN(1000))
		c.ask = true
		return c
	}},
	{"wrong arguments", 15, func(*rand.Rand) call {
		return call{tool: "lookup", args: map[string]any{"id": 7}, outcome: runtime.InvalidArguments, code: "schema_invalid"}
	}},
	{"closed", 15, func(*rand.Rand) call {
		return call{tool: "closed", outcome: runtime.Denied, code: "tool_disabled"}
	}},
	{"unknown", 10, func(*rand.Rand) call {
		return call{tool: "no_such_tool", outcome: runtime.Denied, code: "tool_unknown"}
	}},
}

func payment(r *rand.Rand, usd int) call {
	to := fmt.Sprintf("%x", r.Uint64()) // no two are the same call
	return call{
		tool: "pay", args: map[string]any{"to": to, "usd": usd}, outcome: runtime.EffectConfirmed, output: receipt(to, usd),
	}
}

// next picks a call of the mix.
func next(r *rand.Rand) call {
	total := 0
	for _, k := range kinds {
		total += k.weight
	}
	n := r.IntN(total)
	for _, k := range kinds {
		if n -= k.weight; n < 0 {
			c := k.make(r)
			c.kind = k.name
			return c
		}
	}
	panic("BUG(mayfly): no kind of call")
}

// words are letters, some of them outside of ASCII.
func words(r *rand.Rand, n int) string {
	letters := []rune("abcdefghijklmnopqrstuvwxyzäöüλж漢🦋")
	var b strings.Builder
	for range n {
		b.WriteRune(letters[r.IntN(len(letters))])
	}
	return b.String()
}

// sales are rows, and the sum of their units by region as JSON.
func sales(r *rand.Rand, n int) ([]map[string]any, string) {
	regions := []string{"east", "north", "south", "west"}
	sums := make(map[string]int)
	rows := make([]map[string]any, n)
	for i := range rows {
		region, units := regions[r.IntN(len(regions))], r.IntN(1000)
		sums[region] += units
		rows[i] = map[string]any{"region": region, "units": units, "price": float64(units) / 8}
	}
	text, err := json.Marshal(sums, json.Deterministic(true))
	if err != nil {
		panic(err)
	}
	return rows, string(text)
}

func quote(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// same reports whether two JSON texts are the same value, to the last digit.
func same(a, b string) bool {
	x, err := canonjson.Parse([]byte(a), canonjson.Limits{})
	if err != nil {
		return false
	}
	y, err := canonjson.Parse([]byte(b), canonjson.Limits{})
	if err != nil {
		return false
	}
	m, err1 := canonjson.Digest(x)
	n, err2 := canonjson.Digest(y)
	return err1 == nil && err2 == nil && m == n
}
