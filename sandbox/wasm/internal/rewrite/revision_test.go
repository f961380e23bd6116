package rewrite

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"
)

// TestRevision notices that the output has changed: then Revision has to, and
// the sum here.
func TestRevision(t *testing.T) {
	const (
		revision = 1
		sum      = "6c62622730e5d048"
	)
	h := sha256.New()
	for i := range 60 {
		m := meteredModule
		switch {
		case i == 1:
			m = bulkModule
		case i > 1:
			m, _ = generate([]byte{byte(i), 7})
		}
		binary := m.assemble(t)
		for _, opt := range allOptions() {
			out, err := Rewrite(binary, opt)
			if err != nil {
				t.Fatal(err)
			}
			again, _ := Rewrite(binary, opt)
			if string(again.Wasm) != string(out.Wasm) {
				t.Fatalf("module %d with %+v: two rewrites differ", i, opt)
			}
			fmt.Fprintf(h, "%x", out.Wasm)
		}
	}
	if got := hex.EncodeToString(h.Sum(nil)[:8]); Revision != revision || got != sum {
		t.Errorf("revision %d gives %s; this test has revision %d and %s", Revision, got, revision, sum)
	}
}
