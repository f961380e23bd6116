package manifests

import (
	"regexp"
	"strings"

	"github.com/mayfly-run/mayfly/internal/canonjson"
)

// Plain values of YAML: what is accepted means the same in YAML 1.1 and 1.2,
// to every reader. What would not is refused, so that a manifest has one
// meaning and one digest.
var (
	plainNumber = regexp.MustCompile(`^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+(?:[eE][-+][0-9]+)?)?$`)

	// plainTraps are forms that some reader takes for a number or a time.
	plainTraps = []struct {
		form *regexp.Regexp
		why  string
	}{
		{regexp.MustCompile(`^[-+]?0[0-9_]+$`), "is octal to some readers of YAML"},
		{regexp.MustCompile(`^[-+]?0[bBoOxX][0-9a-fA-F_]+$`), "is a number to some readers of YAML only"},
		{regexp.MustCompile(`^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$`), "is a number to base 60 to some readers of YAML"},
		{regexp.MustCompile(`^[-+]?[0-9][0-9_]*(?:\.[0-9_]*)?(?:[eE][-+]?[0-9]+)?$`), "is a number to some readers of YAML only; write it with digits, or as 1.0e+3"},
		{regexp.MustCompile(`^[-+]?\.[0-9][0-9_]*(?:[eE][-+]?[0-9]+)?$`), "is a number to some readers of YAML only; write the 0 before the point"},
		{regexp.MustCompile(`^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$`), "is not a number that JSON has"},
		{regexp.MustCompile(`^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt \t].*)?$`), "is a time to some readers of YAML"},
	}
)

// plain gives a plain YAML value its meaning. why is set, and the kind
// invalid, when readers disagree on it.
func plain(s string) (k kind, value any, code Code, why string) {
	switch s {
	case "", "~", "null", "Null", "NULL":
		return nullNode, nil, "", ""
	case "true", "True", "TRUE":
		return boolNode, true, "", ""
	case "false", "False", "FALSE":
		return boolNode, false, "", ""
	case "=":
		return invalid, nil, CodeAmbiguous, "has a meaning of its own to some readers of YAML"
	}
	switch strings.ToLower(s) {
	case "yes", "no", "on", "off":
		return invalid, nil, CodeAmbiguous, "is true or false to some readers of YAML; write true, false, or quotes"
	}
	if c := s[0]; c != '-' && c != '+' && c != '.' && (c < '0' || c > '9') {
		return textNode, nil, "", ""
	}
	if plainNumber.MatchString(s) {
		v, broken := canonjson.ParseNumber(s)
		if broken != "" {
			return invalid, nil, CodeNumber, "is " + broken
		}
		return numberNode, v, "", ""
	}
	for _, trap := range plainTraps {
		if trap.form.MatchString(s) {
			return invalid, nil, CodeAmbiguous, trap.why + "; use quotes if it is text"
		}
	}
	return textNode, nil, "", ""
}
