package governor

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/mayfly-run/mayfly/internal/store"
	"github.com/mayfly-run/mayfly/manifests"
)

// rateKey makes the keys of one rate limit of one tool.
type rateKey struct {
	rate   manifests.Rate
	prefix string
}

func newRateKey(kind, tool string, r manifests.Rate) rateKey {
	return rateKey{r, "rate/" + kind + "/" + tool + "/"}
}

// maxKeyName is how long a name may be to stand in a key as it is.
const maxKeyName = 128

// window gives the window of whoever has that name. Two names never have one
// key: the tool's name holds no slash, the name is quoted, and long names are
// replaced by their hash, which is not quoted.
func (k rateKey) window(name string) store.Window {
	var stack [512]byte
	key := append(stack[:0], k.prefix...)
	if len(name) > maxKeyName {
		sum := sha256.Sum256([]byte(name))
		key = hex.AppendEncode(key, sum[:])
	} else {
		key = strconv.AppendQuote(key, name)
	}
	return store.Window{Key: string(key), Count: k.rate.Count, Per: k.rate.Per}
}

// checkLimits is step 5: it takes a place in the rate limits of principal and
// tenant, in both or in none. It takes it before the later steps are asked, so
// that of many calls at once no more than the limit get past; finish gives it
// back.
func (e *evaluation) checkLimits() verdict {
	var windows [2]store.Window
	n := 0
	if k := e.tool.principalRate; k.rate.Count > 0 {
		windows[n] = k.window(e.subject.Principal)
		n++
	}
	if k := e.tool.tenantRate; k.rate.Count > 0 {
		windows[n] = k.window(e.subject.Tenant)
		n++
	}
	if n == 0 {
		return pass
	}
	r := store.Reservation{ID: "call/" + e.g.newID(), Windows: windows[:n]}
	refusal, err := e.g.store.Reserve(e.ctx, r, e.now)
	if err != nil {
		return broken("a place in the rate limits cannot be taken")
	}
	if !refusal.Admitted() {
		e.d.RetryAt = refusal.RetryAt
		return block(CodeRateLimited, "too many calls of this tool; try again later")
	}
	e.d.reservation = r.ID
	return pass
}
