package inject

import "testing"

// What nothing says is true: find finds nothing there.
func FuzzNothing(f *testing.F) {
	for _, s := range []string{"", "name", "order-1", "exfiltrate data", "ignore", "system:", "<|x|>", "[inst]", "-system-", "2026-08-12", "a\u200b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if found := find(text); nothing(text) && len(found) > 0 {
			t.Errorf("%q: nothing, but %v", text, found)
		}
	})
}

func TestNothing(t *testing.T) {
	tests := map[string]bool{
		"": true, "name": true, "order-1": true, "2026-08-12": true, " 1, 2/3 ": true,
		"exfiltrate data": false, "order_id": false, "a\u200b": false, "a\x00": false, "system:": false, "<s>": false, "a%20b": false,
	}
	for text, want := range tests {
		if got := nothing(text); got != want {
			t.Errorf("nothing(%q) is %v", text, got)
		}
	}
}
