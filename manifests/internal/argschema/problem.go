package argschema

import "fmt"

// Kind groups problems.
type Kind uint8

// The kinds of problems.
const (
	// Keyword: a keyword outside the subset.
	Keyword Kind = iota + 1
	// Value: a keyword with a value that it cannot have.
	Value
	// Reference: a $ref to elsewhere, to nothing, or around in a circle.
	Reference
	// Pattern: a regular expression that RE2 cannot take, or too large a one.
	Pattern
	// TooLarge: more subschemas than allowed.
	TooLarge
	// Inert: a keyword that would be without effect.
	Inert

	// NoteUnanchored: a pattern that matches anywhere in the text.
	NoteUnanchored
	// NoteOpen: properties that the schema does not name are accepted.
	NoteOpen
)

// Problem is why a schema is not in the subset, or what is worth a look in one
// that is.
type Problem struct {
	// Path leads from the schema's root to the keyword or value.
	Path []string
	// Kind groups it.
	Kind Kind
	// Reason is the rule in words.
	Reason string
}

func (c *checker) problem(kind Kind, path []string, format string, args ...any) {
	c.problems = append(c.problems, Problem{Path: clone(path), Kind: kind, Reason: fmt.Sprintf(format, args...)})
}

func (c *checker) note(kind Kind, path []string, format string, args ...any) {
	c.notes = append(c.notes, Problem{Path: clone(path), Kind: kind, Reason: fmt.Sprintf(format, args...)})
}

// clone copies a path, which its owner goes on to change.
func clone(path []string) []string { return append([]string{}, path...) }
