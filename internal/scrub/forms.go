package scrub

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

const (
	// minPart is how long a word or a string within a value must be to be looked
	// for on its own.
	minPart = 16
	// maxParts bounds how many there are of one value; the whole is the first.
	maxParts = 256
)

// parts gives a value and what in it is secret by itself.
func parts(value string) []string {
	list := []string{value}
	add := func(s string, least int) {
		if len(s) >= least && len(list) < maxParts && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	words := func(s string) {
		for word := range strings.FieldsSeq(s) {
			add(word, minPart)
		}
	}
	if trimmed := strings.TrimSpace(value); trimmed != value {
		add(trimmed, MinLength)
	}
	words(value)
	if u, err := url.Parse(value); err == nil && u.User != nil {
		if password, ok := u.User.Password(); ok {
			add(password, MinLength)
		}
	}
	if start := strings.TrimSpace(value); strings.HasPrefix(start, "{") || strings.HasPrefix(start, "[") {
		var tree any
		if json.Unmarshal([]byte(value), &tree) == nil {
			leaves(tree, 0, func(s string) {
				add(s, minPart)
				words(s)
			})
		}
	}
	return list
}

// leaves gives the strings of a tree, but not from very deep in it.
func leaves(tree any, depth int, give func(string)) {
	if depth > 32 {
		return
	}
	switch v := tree.(type) {
	case string:
		give(v)
	case []any:
		for _, item := range v {
			leaves(item, depth+1, give)
		}
	case map[string]any:
		for _, item := range v {
			leaves(item, depth+1, give)
		}
	}
}

// base64Forms gives what is the same in every base64 text that encodes the
// value, whatever stands before and behind it, for the three ways in which it
// can lie across the groups of three bytes.
func base64Forms(value string) [][]byte {
	forms := make([][]byte, 0, 3)
	for before := range 3 {
		text := []byte(base64.RawStdEncoding.EncodeToString(append(make([]byte, before, before+len(value)), value...)))
		// Of 6-bit characters, those that also encode bits from before or behind.
		text = text[(before*8+5)/6:]
		if (before+len(value))%3 != 0 {
			text = text[:len(text)-1]
		}
		forms = append(forms, bytes.Clone(text))
	}
	return forms
}

func hexForm(value string) []byte { return []byte(hex.EncodeToString([]byte(value))) }
