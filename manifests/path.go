package manifests

import (
	"path"
	"strings"
)

// maxPath is how long a path may be, in bytes: Linux takes no more.
const maxPath = 4095

const pathPattern = `^[^~\x00-\x1f*?\[][^\x00-\x1f*?\[]*$`

// localPath is the path of a file or directory on this machine, absolute or
// relative. It is not a pattern.
var localPath = rule{pattern: pathPattern, check: checkPath}

func checkPath(s string) string {
	switch {
	case s == "":
		return "must not be empty"
	case len(s) > maxPath:
		return "is too long for a path"
	case s[0] == '~':
		return "must be a path; ~ has no meaning here"
	case strings.ContainsAny(s, "*?["):
		return "must be a path, not a pattern; a directory stands for everything in it"
	}
	for _, c := range s {
		if c < ' ' || c == 0x7f {
			return "must be a path without control characters"
		}
	}
	if leadsUp(s) {
		return "must not lead up with ..; write the absolute path"
	}
	return ""
}

// absolutePath is a path from the root.
var absolutePath = rule{pattern: `^/[^\x00-\x1f*?\[]*$`, check: func(s string) string {
	if why := checkPath(s); why != "" {
		return why
	}
	if !path.IsAbs(s) {
		return "must be an absolute path"
	}
	return ""
}}

// program is what a command starts.
var program = rule{pattern: pathPattern, check: func(s string) string {
	if why := checkPath(s); why != "" {
		return why
	}
	if strings.Contains(s, "/") && !path.IsAbs(s) && !strings.HasPrefix(s, "./") {
		return "must be an absolute path, a path that starts with ./, or the bare name of an installed program"
	}
	if strings.TrimSpace(s) != s {
		return "must be one program; arguments go into args"
	}
	return ""
}}

// within reports whether p is dir or below it, both cleaned and absolute, or
// both relative to the same directory. It does not look at the file system.
func within(p, dir string) bool {
	return p == dir || dir == "/" && path.IsAbs(p) || dir == "." && !path.IsAbs(p) || strings.HasPrefix(p, dir+"/")
}

// leadsUp reports whether a path or pattern has a step "..".
func leadsUp(s string) bool {
	for step := range strings.SplitSeq(s, "/") {
		if step == ".." {
			return true
		}
	}
	return false
}
