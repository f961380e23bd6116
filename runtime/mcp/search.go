package mcp

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of what is looked for and shown.
const (
	maxQuery       = 1000
	maxWords       = 32
	maxDescription = 240
)

// find gives the tools that have words of the query, those with the most and the
// best first, then by name: the same query gives the same order. Without words
// it gives all.
func find(tools []tool, query string) []tool {
	wanted := words(query)
	wanted = wanted[:min(len(wanted), maxWords)]
	if len(wanted) == 0 {
		return tools
	}
	type hit struct {
		tool
		score int
	}
	var hits []hit
	for _, t := range tools {
		if n := score(wanted, t); n > 0 {
			hits = append(hits, hit{t, n})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.name, b.name))
	})
	found := make([]tool, len(hits))
	for i, h := range hits {
		found[i] = h.tool
	}
	return found
}

// score weighs how well a tool fits: a word of its name is worth more than a
// part of it, and that more than a word of its description.
func score(wanted []string, t tool) int {
	name, lower := words(t.name), strings.ToLower(t.name)
	said := words(t.wire.Description)
	n := 0
	for _, w := range wanted {
		switch {
		case slices.Contains(name, w):
			n += 8
		case strings.Contains(lower, w):
			n += 4
		case slices.Contains(said, w):
			n += 2
		case slices.ContainsFunc(said, func(s string) bool { return strings.HasPrefix(s, w) }):
			n++
		}
	}
	return n
}

// words are the words of a text in lower case.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsNumber(c) })
}

// shorten keeps the start of a description; tool_describe has all of it.
func shorten(s string) string {
	if len(s) <= maxDescription {
		return s
	}
	end := maxDescription
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
