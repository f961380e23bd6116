package runtime

import (
	"fmt"
	"maps"
	"path"
	"unicode/utf8"

	"github.com/mayfly-run/mayfly/governor/output"
	"github.com/mayfly-run/mayfly/internal/scrub"
	"github.com/mayfly-run/mayfly/sandbox"
)

// Artifact is a file that a code tool handed back beside its result.
type Artifact struct {
	// Name is a plain file name; see [sandbox.CheckArtifactName].
	Name string
	// MediaType follows from the name's ending.
	MediaType string
	// Bytes is the content, after the tool's sanitizers; nil if it is withheld.
	Bytes []byte
	// Withheld says why the content is not given; empty: it is.
	Withheld string
}

// withheldBinary is why a file is not given. Nobody can say what is in it, and the
// tool's manifest wants it looked at.
const withheldBinary = "the results of this tool are sanitized, and this file is not text"

// artifacts does to files what the governor's last step does to the rest of a
// result, except that they are not cut: what there was is counted in redactions.
// Code chose their names, so that these are looked at too.
func artifacts(files []sandbox.Artifact, o *output.Output) (list []Artifact, redactions map[string]int) {
	names := newNames(files)
	for i, f := range files {
		a := Artifact{Name: f.Name, MediaType: f.MediaType, Bytes: f.Bytes}
		if text, found := o.Whole(f.Name); o.Sanitizes() && text != f.Name {
			a.Name = names.instead(i, func(name string) bool {
				text, _ := o.Whole(name)
				return text == name
			})
			redactions = addCounts(redactions, found)
		}
		switch {
		case !o.Sanitizes():
		case !sandbox.IsTextMediaType(f.MediaType) || !utf8.Valid(f.Bytes):
			a.Bytes, a.Withheld = nil, withheldBinary
		default:
			text, found := o.Whole(string(f.Bytes))
			a.Bytes = []byte(text)
			redactions = addCounts(redactions, found)
		}
		list = append(list, a)
	}
	return list, redactions
}

// names gives names to files that cannot keep theirs.
type names struct {
	files []sandbox.Artifact
	taken map[string]bool // folded
}

func newNames(files []sandbox.Artifact) *names {
	n := &names{files: files, taken: make(map[string]bool, len(files))}
	for _, f := range files {
		n.taken[sandbox.FoldArtifactName(f.Name)] = true
	}
	return n
}

// instead gives a name that nobody chose to the file of that number, with the
// ending of its own if that is clean.
func (n *names) instead(i int, clean func(string) bool) string {
	ending := path.Ext(n.files[i].Name)
	if !clean("artifact" + ending) {
		ending = ""
	}
	name := fmt.Sprintf("artifact %d%s", i+1, ending)
	for k := 2; n.taken[sandbox.FoldArtifactName(name)]; k++ {
		name = fmt.Sprintf("artifact %d_%d%s", i+1, k, ending)
	}
	n.taken[sandbox.FoldArtifactName(name)] = true
	return name
}

func addCounts(counts, more map[string]int) map[string]int {
	if counts == nil {
		return maps.Clone(more)
	}
	for kind, n := range more {
		counts[kind] += n
	}
	return counts
}

// cleanArtifacts takes secrets out of files, in their names too. A file that is
// not text loses its form with them, which is better than to hand them over.
func cleanArtifacts(s *scrub.Scrubber, files []sandbox.Artifact) ([]sandbox.Artifact, int) {
	var clean []sandbox.Artifact
	names := newNames(files)
	total := 0
	for i, f := range files {
		content, n := s.Text(f.Bytes)
		f.Bytes = content
		if s.Has([]byte(f.Name)) {
			n++
			f.Name = names.instead(i, func(name string) bool { return !s.Has([]byte(name)) })
		}
		total += n
		clean = append(clean, f)
	}
	return clean, total
}
