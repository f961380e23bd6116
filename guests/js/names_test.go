package js

import (
	"strings"
	"testing"

	"github.com/mayfly-run/mayfly/sandbox"
)

func TestEncodeGlobalsNames(t *testing.T) {
	for _, name := range []string{"a", "_", "$", "$x", "A9", "naïve", "größe", "имя", "名前", "이름", "__proto__", "constructor", "toJSON", "async", "of", "get", "a\u0301", "a\u200d", "ﬁ", "ª", "Object", "console"} {
		if _, err := EncodeGlobals(map[string]any{name: 1}, 1); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"", "9a", "a-b", "a b", "a.b", "class", "null", "await", "let", "static", "enum", "undefined", "NaN", "globalThis", "a\x00", "\xff", "x²", "#x", "\u200da", "😀"} {
		_, err := EncodeGlobals(map[string]any{name: 1}, 1)
		if e, ok := err.(*sandbox.ArgumentError); !ok || !strings.HasPrefix(e.Path, "/") || e.Reason == "" {
			t.Errorf("%q: got %#v", name, err)
		}
	}
}
