package sandbox_test

import (
	"strings"
	"testing"

	"github.com/mayfly-run/mayfly/sandbox"
)

func TestCheckArtifactName(t *testing.T) {
	for _, c := range []struct {
		what, name string
		ok         bool
	}{
		{"plain", "chart.svg", true},
		{"spaces, signs", "Sales 2024 (final)_v2+1.csv", true},
		{"letters of other scripts", "übersicht-売上-отчёт.csv", true},
		{"marks of other scripts", "हिन्दी.txt", true},
		{"the longest", strings.Repeat("a", 128), true},
		{"a device's name is only a part", "console.csv", true},

		{"empty", "", false},
		{"too long", strings.Repeat("a", 129), false},
		{"hidden", ".bashrc", false},
		{"this directory", ".", false},
		{"the directory above", "..", false},
		{"a way up", "../x", false},
		{"a slash", "a/b", false},
		{"a backslash", `a\b`, false},
		{"another root", "C:x", false},
		{"a stream of NTFS", "x.txt:y", false},
		{"NUL", "a\x00b", false},
		{"a line end", "a\nb", false},
		{"an escape", "a\x1b[2Jb", false},
		{"not UTF-8", "a\xffb", false},
		{"an option", "-rf", false},
		{"a space at the start", " a", false},
		{"a space at the end", "a ", false},
		{"a dot at the end", "a.", false},
		{"a wildcard", "a*b", false},
		{"a pipe", "a|b", false},
		{"a slash that is none", "a\u2215b", false},
		{"a slash in full width", "a\uff0fb", false},
		{"letters in full width", "\uff41.csv", false},
		{"a sign for another", "\u212a.csv", false}, // Kelvin
		{"not composed", "u\u0308.csv", false},
		{"written from right to left", "a\u202egvs.csv", false},
		{"a space that cannot be seen", "a\u200bb", false},
		{"a joiner", "a\u034fb", false},
		{"a variation", "a\ufe0fb", false},
		{"a filler that is a letter", "a\u3164b", false},
		{"a tag character", "a\U000e0041b", false},
		{"a surrogate", "a\xed\xa0\x80b", false},
		{"a device", "NUL", false},
		{"a device with an ending", "con.txt", false},
		{"a device with two endings", "Com1.tar.gz", false},
		{"a device and a space", "aux .txt", false},
	} {
		if err := sandbox.CheckArtifactName(c.name); (err == nil) != c.ok {
			t.Errorf("%s: CheckArtifactName(%q) = %v", c.what, c.name, err)
		}
	}
}

func TestFoldArtifactName(t *testing.T) {
	for _, pair := range [][2]string{{"A.csv", "a.CSV"}, {"ÄÖ", "äö"}, {"Σ", "ς"}} {
		if a, b := sandbox.FoldArtifactName(pair[0]), sandbox.FoldArtifactName(pair[1]); a != b {
			t.Errorf("%q and %q are %q and %q", pair[0], pair[1], a, b)
		}
	}
	if sandbox.FoldArtifactName("a") == sandbox.FoldArtifactName("b") {
		t.Error("a and b are the same")
	}
}

func TestMediaType(t *testing.T) {
	for name, want := range map[string]string{
		"a.svg": "image/svg+xml", "A.PNG": "image/png", "x.tar.gz": "application/gzip", "a.csv": "text/csv",
		"svg": "application/octet-stream", "a.svg.exe": "application/octet-stream", "a.": "application/octet-stream",
	} {
		if got := sandbox.MediaType(name); got != want {
			t.Errorf("MediaType(%q) = %s, want %s", name, got, want)
		}
	}
	if !sandbox.IsTextMediaType("image/svg+xml") || sandbox.IsTextMediaType("image/png") {
		t.Error("SVG is text, PNG is not")
	}
}
