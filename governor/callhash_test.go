package governor

import (
	"fmt"
	"testing"

	"github.com/mayfly-run/mayfly/manifests"
)

func hashTool(t testing.TB, name, version, description string) *manifests.Tool {
	t.Helper()
	docs, err := manifests.Parse("t.yaml", fmt.Appendf(nil,
		"apiVersion: harnessweaver/v1\nkind: Tool\nmetadata: { name: %s, version: %q }\nspec: { handler: \"a:b\", description: %q }\n", name, version, description))
	if err != nil {
		t.Fatal(err)
	}
	return docs.Tools[0]
}

// TestCallHash: what a person could answer differently has another hash.
func TestCallHash(t *testing.T) {
	seen := map[string]string{}
	differs := func(what string, tool *manifests.Tool, args Arguments, s Subject) {
		t.Helper()
		h := callHash(tool, args, s)
		if other, taken := seen[h]; taken {
			t.Errorf("%s has the hash of %s", what, other)
		}
		seen[h] = what
	}
	tool, who := hashTool(t, "t", "1", "d"), Subject{"ada", "north", "support"}
	for _, text := range []string{
		`null`, `{}`, `[]`, `{"a":null}`, `{"a":1}`, `{"a":1.0}`, `{"a":"1"}`, `{"a":true}`, `{"a":[1]}`, `{"a":"true"}`, `{"a":-0.0}`, `{"a":0}`, `{"a":0.0}`,
		`{"a":9007199254740993}`, `{"a":9007199254740992}`, `{"a":9007199254740992.0}`, `{"a":100000000000000000000}`, `{"a":1e20}`,
		`{"a":"\u0061b"}`, `{"a":"a","b":"b"}`, `{"a":"b","b":"a"}`, `{"A":1}`, `{"a":{"b":[]}}`, `{"a":{"b":{}}}`, `{"a":"\ud83d\ude00"}`,
		`[[],[]]`, `[[[]]]`, `"x"`, `["x"]`,
	} {
		args := ParseArguments([]byte(text))
		if args.Err() != nil {
			t.Fatalf("%s: %v", text, args.Err())
		}
		differs(text, tool, args, who)
		again := ParseArguments([]byte(args.Text()))
		if callHash(tool, again, who) != callHash(tool, args, who) {
			t.Errorf("%s does not come back from %s", text, args.Text())
		}
	}
	differs("missing", tool, Arguments{}, who)
	args := ParseArguments([]byte(`{"x":1}`))
	for _, s := range []Subject{
		who, {"ada", "north", ""}, {"ada", "", "support"}, {"", "north", "support"}, {"north", "ada", "support"},
		{"ada,north", "", "support"}, {`ada","north`, "", "support"}, {"\xff", "", ""}, {"\xfe", "", ""}, {"\ufffd", "", ""},
	} {
		differs(fmt.Sprintf("%q", s), tool, args, s)
	}
	differs("another name", hashTool(t, "u", "1", "d"), args, who)
	differs("another version", hashTool(t, "t", "2", "d"), args, who)
	differs("another definition", hashTool(t, "t", "1", "e"), args, who)

	same := []string{`{"a":1,"b":{"c":2.5,"d":"x"}}`, `{ "b": {"d":"\u0078", "c":25e-1}, "a": 1 }`}
	if callHash(tool, ParseArguments([]byte(same[0])), who) != callHash(tool, ParseArguments([]byte(same[1])), who) {
		t.Error("the same arguments, written otherwise, have another hash")
	}
}

// TestRateKeys: no two names share a key.
func TestRateKeys(t *testing.T) {
	rate := manifests.Rate{Count: 1, Per: 1}
	long := fmt.Sprintf("%0200d", 1)
	seen := map[string]bool{}
	for _, name := range []string{"", "a", "a:b", "a/b", `"`, `\"`, "\x00", "\xff", `\xff`, long, long + "0", callHash(hashTool(t, "t", "1", ""), Arguments{}, Subject{})} {
		for _, kind := range []string{"principal", "tenant"} {
			for _, tool := range []string{"t", "t.u", "principal"} {
				key := newRateKey(kind, tool, rate).window(name).Key
				if seen[key] {
					t.Errorf("%q is taken", key)
				}
				seen[key] = true
			}
		}
	}
}

func FuzzCallHash(f *testing.F) {
	f.Add([]byte(`{"a":1}`), []byte(`{"a":1.0}`))
	f.Add([]byte(`{"a":[1,2]}`), []byte(`{"a":[[1],2]}`))
	f.Add([]byte(`{"a":1,"b":2}`), []byte(`{"b":2,"a":1}`))
	tool := hashTool(f, "t", "1", "")
	f.Fuzz(func(t *testing.T, a, b []byte) {
		x, y := ParseArguments(a), ParseArguments(b)
		if x.Err() != nil || y.Err() != nil {
			return
		}
		back := ParseArguments([]byte(x.Text()))
		if back.Err() != nil {
			t.Fatalf("%q: its text cannot be read: %v", a, back.Err())
		}
		if back.Text() != x.Text() || callHash(tool, back, Subject{}) != callHash(tool, x, Subject{}) {
			t.Fatalf("%q comes back as %q", x.Text(), back.Text())
		}
		if (x.Text() == y.Text()) != (callHash(tool, x, Subject{}) == callHash(tool, y, Subject{})) {
			t.Fatalf("%q and %q", a, b)
		}
	})
}
