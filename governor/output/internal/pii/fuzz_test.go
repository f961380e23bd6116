package pii

import "testing"

// What nothing says is true: find finds nothing there.
func FuzzNothing(f *testing.F) {
	for _, s := range []string{"", "name", "order_id", "1.2.3.4", "a.b.c 123", "123456", "1234567", "x@y.zz", "12:34", "no93 860", "ssn 12-3", "(12) 345", "+12 3456"} {
		f.Add(s, uint8(0))
		f.Add(s, uint8(7))
	}
	f.Fuzz(func(t *testing.T, text string, context uint8) {
		if found := find(text, Context(context&7)); nothing(text) && len(found) > 0 {
			t.Errorf("%q: nothing, but %v", text, found)
		}
	})
}

func TestNothing(t *testing.T) {
	tests := map[string]bool{
		"": true, "order_id": true, "a plain value, 123456.": true, "v1.2.3": true,
		"1.2.3.4": false, "1234567": false, "a@b.example": false, "::1": false, "a%40b": false, "é": false, "a\u200bb": false,
	}
	for text, want := range tests {
		if got := nothing(text); got != want {
			t.Errorf("nothing(%q) is %v", text, got)
		}
	}
}
