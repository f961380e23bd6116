package sandbox

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// ArtifactDir is the directory of a guest whose files are handed back beside the
// value. It is there when a call begins.
const ArtifactDir = "/tmp/out"

// Artifact is a file that a call hands back beside its value: a figure, a table.
type Artifact struct {
	// Name is a plain file name that [CheckArtifactName] accepts. No two of a
	// result differ only in case.
	Name string
	// MediaType follows from the ending of Name and nothing else, by [MediaType].
	// Nobody has looked at Bytes: they are what the code wrote.
	MediaType string
	// Bytes is the content.
	Bytes []byte
}

// ErrorArtifact is the type of the Error of a call that left something in
// ArtifactDir that cannot be handed back.
const ErrorArtifact = "ArtifactError"

// MaxArtifactName is how many bytes the name of an artifact may have.
const MaxArtifactName = 128

// CheckArtifactName says why an artifact cannot have a name, nil if it can. A
// name has letters, digits and marks of any script, spaces and -_.+,=@()[] and
// does not begin with a dot, a space or a minus sign. It is what it looks like
// (NFKC), means the same everywhere, and no device on any system.
func CheckArtifactName(name string) error {
	switch {
	case name == "":
		return errors.New("the name is empty")
	case len(name) > MaxArtifactName:
		return fmt.Errorf("the name has %d bytes, the limit is %d", len(name), MaxArtifactName)
	case !utf8.ValidString(name):
		return errors.New("the name is not UTF-8")
	case strings.ContainsRune(".- ", rune(name[0])):
		return errors.New("the name begins with a dot, a space or a minus sign")
	case strings.ContainsRune(". ", rune(name[len(name)-1])):
		return errors.New("the name ends in a dot or a space")
	}
	for _, r := range name {
		if !artifactRune(r) {
			return fmt.Errorf("the name has the character %U; letters, digits, spaces and -_.+,=@()[] are allowed", r)
		}
	}
	if !norm.NFKC.IsNormalString(name) {
		return errors.New("the name has characters that look like others; write it in the normal form NFKC")
	}
	if isDevice(name) {
		return errors.New("the name is that of a device on some systems")
	}
	return nil
}

func artifactRune(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune(" -_.+,=@()[]", r)
	}
	// U+034F and some more that cannot be seen are marks or letters to Unicode.
	return unicode.In(r, unicode.L, unicode.M, unicode.Nd) && !unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) &&
		!unicode.Is(unicode.Variation_Selector, r)
}

// isDevice tells names that mean a device, in any directory and with any ending.
func isDevice(name string) bool {
	stem, _, _ := strings.Cut(name, ".")
	stem = strings.ToUpper(strings.TrimRight(stem, " "))
	switch stem {
	case "CON", "PRN", "AUX", "NUL":
		return true
	}
	return len(stem) == 4 && (strings.HasPrefix(stem, "COM") || strings.HasPrefix(stem, "LPT")) && '0' <= stem[3] && stem[3] <= '9'
}

// FoldArtifactName gives the same for names that a file system may take for one.
func FoldArtifactName(name string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, name)
}

// mediaTypes is by ending, in lower case. What is not listed is bytes.
var mediaTypes = map[string]string{
	".arrow":   "application/vnd.apache.arrow.file",
	".csv":     "text/csv",
	".docx":    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	".gif":     "image/gif",
	".gz":      "application/gzip",
	".htm":     "text/html",
	".html":    "text/html",
	".ics":     "text/calendar",
	".jpeg":    "image/jpeg",
	".jpg":     "image/jpeg",
	".json":    "application/json",
	".jsonl":   "application/jsonl",
	".md":      "text/markdown",
	".parquet": "application/vnd.apache.parquet",
	".pdf":     "application/pdf",
	".png":     "image/png",
	".svg":     "image/svg+xml",
	".tsv":     "text/tab-separated-values",
	".txt":     "text/plain",
	".webp":    "image/webp",
	".xlsx":    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	".xml":     "application/xml",
	".yaml":    "application/yaml",
	".yml":     "application/yaml",
	".zip":     "application/zip",
	".zst":     "application/zstd",
}

// MediaType is the media type of a file of that name, by a fixed table:
// application/octet-stream for an ending that is not in it.
func MediaType(name string) string {
	if t, ok := mediaTypes[strings.ToLower(path.Ext(name))]; ok {
		return t
	}
	return "application/octet-stream"
}

// IsTextMediaType reports whether files of a media type are text.
func IsTextMediaType(t string) bool {
	switch t {
	case "application/json", "application/jsonl", "application/xml", "application/yaml", "image/svg+xml":
		return true
	}
	return strings.HasPrefix(t, "text/")
}
