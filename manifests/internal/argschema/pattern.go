package argschema

import "regexp/syntax"

// MaxPattern is how large a regular expression may be, in instructions of its
// compiled form; matching takes at most that many steps for each character.
const MaxPattern = 4096

// pattern checks a regular expression, which stands at path at.
func (c *checker) pattern(v any, at []string) {
	s, ok := v.(string)
	if !ok {
		c.problem(Value, at, "must be a string")
		return
	}
	re, err := syntax.Parse(s, syntax.Perl)
	if err != nil {
		reason := "not a regular expression"
		if se, ok := err.(*syntax.Error); ok {
			reason = se.Code.String()
		}
		c.problem(Pattern, at, "RE2 cannot take it: %s", reason)
		return
	}
	prog, err := syntax.Compile(re.Simplify())
	if err != nil || len(prog.Inst) > MaxPattern {
		c.problem(Pattern, at, "is too large a regular expression")
		return
	}
	if !anchored(re, syntax.OpBeginText) || !anchored(re, syntax.OpEndText) {
		c.note(NoteUnanchored, at, "matches anywhere in the text; anchor it with ^ and $ to match all of it")
	}
}

// anchored reports whether every match of re touches the start or the end of
// the text.
func anchored(re *syntax.Regexp, op syntax.Op) bool {
	switch re.Op {
	case op:
		return true
	case syntax.OpCapture:
		return anchored(re.Sub[0], op)
	case syntax.OpConcat:
		if op == syntax.OpBeginText {
			return anchored(re.Sub[0], op)
		}
		return anchored(re.Sub[len(re.Sub)-1], op)
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			if !anchored(sub, op) {
				return false
			}
		}
		return true
	}
	return false
}
