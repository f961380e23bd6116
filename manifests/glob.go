package manifests

import (
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// globRule is a pattern for files below the harness's directory.
var globRule = rule{code: CodeGlob, pattern: `^[^/~\\]([^\\]*)$`, check: func(s string) string {
	switch {
	case s == "" || len(s) > 1024:
		return "must be a pattern for files, of at most 1024 bytes"
	case path.IsAbs(s) || s[0] == '~':
		return "must be relative to the harness's directory"
	case leadsUp(s):
		return "must not lead up with ..: manifests stand below the harness's directory"
	case strings.Contains(s, `\`) || !doublestar.ValidatePattern(s):
		return "is not a pattern: *, ?, [...], {a,b} and ** may stand in it"
	case strings.Count(s, "{") > 4 || strings.Count(s, "**") > 4:
		// Each multiplies the work.
		return "has too many {} or **; use several patterns"
	}
	return ""
}}
