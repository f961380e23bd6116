package manifests

import (
	"strconv"
	"strings"
	"time"
)

// Rate is how many calls are allowed in a sliding window. The zero Rate sets no
// limit.
type Rate struct {
	// Count is how many calls, from 1 to MaxRate.
	Count int64
	// Per is the window: a second, a minute, an hour or a day.
	Per time.Duration
}

// MaxRate is the largest count of a [Rate].
const MaxRate = 1_000_000

const rateWords = "must be a count and a window such as 10/m, with s, m, h or d, and a count from 1 to 1000000"

// ParseRate reads a rate such as 10/m.
func ParseRate(s string) (Rate, error) {
	r, why := parseRate(s)
	if why != "" {
		return Rate{}, &Error{File: "rate", Code: CodeValue, Reason: why}
	}
	return r, nil
}

func parseRate(s string) (Rate, string) {
	count, unit, ok := strings.Cut(s, "/")
	// Only one spelling for each rate: no sign, no leading zero, no white space.
	if !ok || count == "" || count[0] == '0' || strings.Trim(count, "0123456789") != "" {
		return Rate{}, rateWords
	}
	n, err := strconv.ParseInt(count, 10, 64)
	if err != nil || n > MaxRate {
		return Rate{}, rateWords
	}
	for _, u := range units {
		if u.name == unit && unit != "ms" {
			return Rate{Count: n, Per: u.size}, ""
		}
	}
	return Rate{}, rateWords
}

// String writes the rate so that ParseRate reads it; "" for no limit.
func (r Rate) String() string {
	for _, u := range units {
		if u.size == r.Per && r.Count > 0 {
			return strconv.FormatInt(r.Count, 10) + "/" + u.name
		}
	}
	return ""
}

func rate(p *Rate) slot {
	return formSlot[Rate]{p: p, parse: parseRate, format: Rate.String, pattern: `^[1-9][0-9]{0,6}/[smhd]$`}
}
