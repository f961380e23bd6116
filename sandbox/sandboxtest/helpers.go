package sandboxtest

import (
	"strings"
	"testing"
	"time"

	"github.com/mayfly-run/mayfly/sandbox"
)

func nowSeconds() float64 { return float64(time.Now().Unix()) }

var fixedClock = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// mentions checks that the error's message has a word that helps.
func mentions(word string) func(*testing.T, sandbox.Result) {
	return func(t *testing.T, r sandbox.Result) {
		t.Helper()
		if !strings.Contains(r.Error.Message, word) {
			t.Errorf("message %q does not mention %q", r.Error.Message, word)
		}
	}
}
