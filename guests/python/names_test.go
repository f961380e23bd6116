package python

import (
	"strings"
	"testing"

	"github.com/mayfly-run/mayfly/sandbox"
)

func TestEncodeGlobalsNames(t *testing.T) {
	for _, name := range []string{"a", "_", "_x", "A9", "naïve", "größe", "имя", "名前", "이름", "match", "case", "type", "print"} {
		if _, err := EncodeGlobals(map[string]any{name: 1}, 1); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"", "9a", "a-b", "a b", "a.b", "__name__", "__x", "class", "None", "await", "a\x00", "ﬁ", "ª", "a\u0301", "\xff", "a\u200d", "x²", "٣a"} {
		_, err := EncodeGlobals(map[string]any{name: 1}, 1)
		if e, ok := err.(*sandbox.ArgumentError); !ok || !strings.HasPrefix(e.Path, "/") || e.Reason == "" {
			t.Errorf("%q: got %#v", name, err)
		}
	}
}
