package httpapi_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mayfly-run/mayfly/runtime/httpapi"
)

// TestLayOut: arguments are laid out unless that makes them many times as long, and
// how long they get is known before.
func TestLayOut(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var value func(depth int) string
	value = func(depth int) string {
		n := random.IntN(4)
		switch kind := random.IntN(5); {
		case kind == 0 && depth > 0:
			members := make([]string, n)
			for i := range members {
				members[i] = value(depth - 1)
			}
			return "[" + strings.Join(members, ",") + "]"
		case kind < 3 && depth > 0:
			members := make([]string, n)
			for i := range members {
				members[i] = fmt.Sprintf("%q:%s", fmt.Sprint(i, `,:[{\" `), value(depth-1))
			}
			return "{" + strings.Join(members, ",") + "}"
		case kind == 3:
			return fmt.Sprintf("%q", `a"b\\,[]{}:`[:random.IntN(11)])
		}
		return fmt.Sprint(random.Int32())
	}
	for range 5000 {
		v := jsontext.Value(value(5))
		text := httpapi.LayOut(v)
		if got, said := len(text), httpapi.LaidOut(v); got != said && text != string(v) {
			t.Fatalf("%s is %d long laid out, said was %d", v, got, said)
		}
	}

	if got := httpapi.LayOut(jsontext.Value(`{"a":[1,2]}`)); got != "{\n  \"a\": [\n    1,\n    2\n  ]\n}" {
		t.Errorf("laid out: %s", got)
	}
	deep := strings.Repeat("[", 60) + "1" + strings.Repeat(",1", 1<<18) + strings.Repeat("]", 60)
	if n := httpapi.LaidOut(jsontext.Value(deep)); n < 30<<20 {
		t.Errorf("laid out it would have %d bytes", n)
	}
	if got := httpapi.LayOut(jsontext.Value(deep)); got != deep {
		t.Errorf("%d bytes were laid out as %d", len(deep), len(got))
	}
}
