package argschema

import (
	"bytes"
	"flag"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mayfly-run/mayfly/internal/canonjson"
)

var rounds = flag.Int("rounds", 1500, "how many schemas TestAgree makes")

// TestAgree makes schemas and arguments and holds the plan's answers against
// the library's.
func TestAgree(t *testing.T) {
	random := rand.New(rand.NewPCG(1, uint64(*rounds)))
	var total tally
	for range *rounds {
		data := make([]byte, 300)
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		total.add(checkAgree(t, data))
	}
	t.Logf("%d schemas, %d values: %d valid, %d refused", total.schemas, total.valid+total.refused, total.valid, total.refused)
	if total.schemas < *rounds/2 || total.valid < *rounds/4 || total.refused < *rounds/4 {
		t.Errorf("too few of a kind: %+v", total)
	}
}

type tally struct{ schemas, valid, refused int }

func (a *tally) add(b tally) {
	a.schemas += b.schemas
	a.valid += b.valid
	a.refused += b.refused
}

// FuzzAgree is TestAgree with the fuzzer's bytes.
func FuzzAgree(f *testing.F) {
	for seed := range 20 {
		f.Add(bytes.Repeat([]byte{byte(seed), byte(7 * seed), byte(31 * seed)}, 50))
	}
	f.Fuzz(func(t *testing.T, data []byte) { checkAgree(t, data) })
}

// checkAgree makes one schema and some values.
func checkAgree(t *testing.T, data []byte) (n tally) {
	g := &generator{data: data}
	root := g.root()
	s, problems, _ := Compile(root)
	if s == nil {
		for _, p := range problems {
			if p.Kind != Reference { // circles happen
				t.Fatalf("made a schema that is none: %v\n%s", p, show(root))
			}
		}
		return n
	}
	n.schemas++
	for range 8 {
		v := g.value(3)
		var c run
		got := s.plan.check(&c, v)
		if c.over() || s.costs.tooMany(v) {
			return n
		}
		if got {
			n.valid++
		} else {
			n.refused++
		}
		if want := s.lib.Validate(v) == nil; libraryKnows(v) && got != want {
			t.Fatalf("the plan says %v, the library %v\nschema %s\nvalue  %s", got, want, show(root), show(v))
		}
		// A refusal names a rule.
		violations := s.Validate(v)
		if (violations == nil) != got {
			t.Fatalf("valid: %v, violations: %v", got, violations)
		}
		for _, one := range violations {
			if one.Rule == "" || one.Rule == "does not match the schema" || strings.HasPrefix(one.Rule, "breaks ") {
				t.Errorf("violation %+v\nschema %s\nvalue  %s", one, show(root), show(v))
			}
		}
		// The plan's own account of a refusal agrees that there is one.
		ordered := run{ordered: true}
		if s.plan.check(&ordered, v) != got || got == ordered.failed {
			t.Errorf("in order the plan says otherwise (failed: %v)\nschema %s\nvalue  %s", ordered.failed, show(root), show(v))
		}
	}
	return n
}

func show(v any) string {
	out, err := canonjson.Append(nil, v)
	if err != nil {
		return err.Error()
	}
	return string(out)
}

// generator makes schemas and values from bytes. Both use few names, texts and
// numbers, so that values often match.
type generator struct{ data []byte }

// n gives a number below limit; 0 when the bytes are used up.
func (g *generator) n(limit int) int {
	if len(g.data) == 0 {
		return 0
	}
	b := g.data[0]
	g.data = g.data[1:]
	return int(b) % limit
}

func (g *generator) name() string { return []string{"a", "b", "c", "ab", "", "é/~%"}[g.n(6)] }

func (g *generator) number() any {
	big, _ := new(big.Int).SetString("123456789012345678901", 10)
	return []any{int64(0), int64(1), int64(-1), int64(2), int64(3), 0.5, 1.0, 0.1, 0.3, -1.5, 1e23, 1e-7, int64(9007199254740993), 9007199254740992.0, big, 2.0}[g.n(16)]
}

func (g *generator) value(depth int) any {
	kind := g.n(8)
	if depth == 0 {
		kind %= 5
	}
	switch kind {
	case 0:
		return nil
	case 1:
		return g.n(2) == 1
	case 2, 3:
		return g.number()
	case 4:
		return []string{"", "a", "ab", "abc", "é", "1"}[g.n(6)]
	case 5:
		list := make([]any, g.n(4))
		for i := range list {
			list[i] = g.value(depth - 1)
		}
		return list
	default:
		object := map[string]any{}
		for range g.n(4) {
			object[g.name()] = g.value(depth - 1)
		}
		return object
	}
}

func (g *generator) root() map[string]any {
	defs := map[string]any{}
	for i := range 3 {
		defs[fmt.Sprint("d", i)] = g.schema(2)
	}
	root := g.keywords(3)
	root["$defs"] = defs
	return root
}

func (g *generator) schema(depth int) any {
	if g.n(8) == 0 {
		return g.n(2) == 1
	}
	return g.keywords(depth)
}

func (g *generator) schemas(depth int) []any {
	list := make([]any, 1+g.n(2))
	for i := range list {
		list[i] = g.schema(depth - 1)
	}
	return list
}

func (g *generator) keywords(depth int) map[string]any {
	s := map[string]any{}
	for range 1 + g.n(3) {
		keyword := g.n(30)
		if depth == 0 {
			keyword %= 17
		}
		g.keyword(s, keyword, depth)
	}
	return s
}

func (g *generator) keyword(s map[string]any, keyword, depth int) {
	types := []any{"null", "boolean", "integer", "number", "string", "array", "object"}
	count := func() int64 { return int64(g.n(4)) }
	positive := []any{int64(1), int64(2), 0.1, 0.5, 1.0}
	switch keyword {
	case 0:
		s["type"] = types[g.n(7)]
	case 1:
		s["type"] = []any{types[g.n(3)], types[3+g.n(4)]}
	case 2:
		s["enum"] = []any{g.value(1), g.value(1), g.value(1)}
	case 3:
		s["const"] = g.value(1)
	case 4:
		s["minimum"] = g.number()
	case 5:
		s["maximum"] = g.number()
	case 6:
		s["exclusiveMinimum"] = g.number()
	case 7:
		s["exclusiveMaximum"] = g.number()
	case 8:
		s["multipleOf"] = positive[g.n(5)]
	case 9:
		s["minLength"] = count()
	case 10:
		s["maxLength"] = count()
	case 11:
		s["pattern"] = []string{"a", "^a$", "^.{2}$", "b|c", "^[0-9]*$"}[g.n(5)]
	case 12:
		s["required"] = []any{g.name()}
	case 13:
		s["minProperties"], s["maxProperties"] = count(), count()
	case 14:
		s["minItems"], s["maxItems"] = count(), count()
	case 15:
		s["uniqueItems"] = g.n(4) > 0
	case 16:
		s["$ref"] = fmt.Sprint("#/$defs/d", g.n(3))
	case 17:
		s["allOf"] = g.schemas(depth)
	case 18:
		s["anyOf"] = g.schemas(depth)
	case 19:
		s["oneOf"] = g.schemas(depth)
	case 20:
		s["not"] = g.schema(depth - 1)
	case 21:
		s["items"] = g.schema(depth - 1)
	case 22:
		s["prefixItems"] = g.schemas(depth)
	case 23:
		s["contains"] = g.schema(depth - 1)
	case 24:
		s["contains"], s["minContains"], s["maxContains"] = g.schema(depth-1), count(), count()
	case 25, 26:
		s["properties"] = map[string]any{g.name(): g.schema(depth - 1), g.name(): g.schema(depth - 1)}
	case 27:
		s["patternProperties"] = map[string]any{[]string{"^a", "b", "^$"}[g.n(3)]: g.schema(depth - 1)}
		if g.n(2) == 0 {
			s["additionalProperties"] = g.schema(depth - 1)
		}
	case 28:
		s["additionalProperties"] = g.schema(depth - 1)
	case 29:
		s["propertyNames"] = g.schema(depth - 1)
		s["dependentRequired"] = map[string]any{g.name(): []any{g.name()}}
	}
}
