package governor

import "strings"

// maxReason is how many characters of broken rules a reason tells.
const maxReason = 1000

// checkSchema is step 2: are the arguments what the manifest says?
func (e *evaluation) checkSchema() verdict {
	args := e.call.Args
	switch {
	case !args.given:
		return block(CodeSchemaInvalid, "the call has no arguments; a tool that needs none takes {}")
	case args.err != nil:
		return block(CodeSchemaInvalid, "the arguments are not strict JSON: "+argumentError(args))
	}
	if violations := e.tool.manifest.CheckArguments(args.tree); len(violations) > 0 {
		var b strings.Builder
		b.WriteString("the arguments do not match the tool's schema")
		sep := ": "
		for _, v := range violations {
			text := v.String()
			if b.Len()+len(text) > maxReason {
				b.WriteString("; and more")
				break
			}
			b.WriteString(sep)
			b.WriteString(text)
			sep = "; "
		}
		return block(CodeSchemaInvalid, b.String())
	}
	e.hash = callHash(e.tool.manifest, args, e.subject)
	e.d.CallHash = e.hash
	if e.call.Run != "" {
		e.d.IdempotencyKey = e.call.Run + ":" + e.hash
	}
	return pass
}

// argumentError says what is wrong with JSON: the rule only, since a pointer
// into text that is broken can hold anything.
func argumentError(args Arguments) string { return args.err.Reason }
