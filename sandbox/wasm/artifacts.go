package wasm

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"github.com/mayfly-run/mayfly/sandbox"
)

// collect adds the files that the code left to hand back. One that cannot be
// handed back is an error of the call, as a value without a JSON form is: it is
// not dropped without a word.
func (c *call) collect(r *sandbox.Result) {
	entries, err := c.inst.world.files.Entries(sandbox.ArtifactDir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return
	}
	refuse := func(status sandbox.Status, kind, format string, args ...any) {
		usage := r.Usage
		*r = sandbox.Result{Status: status, Usage: usage, Error: &sandbox.Error{Type: kind, Message: fmt.Sprintf(format, args...)}}
	}
	if err != nil {
		refuse(sandbox.StatusError, sandbox.ErrorArtifact, "%s is not a directory; it is for files to hand back, so use another name", sandbox.ArtifactDir)
		return
	}
	if most := c.spec.Limits.MaxArtifacts; len(entries) > most {
		refuse(sandbox.StatusOutputLimit, sandbox.ErrorArtifact, "%s holds %d files, the limit is %d", sandbox.ArtifactDir, len(entries), most)
		return
	}
	size := int64(0)
	seen := make(map[string]bool, len(entries))
	for _, e := range entries {
		where := sandbox.ArtifactDir + "/" + quoted(e.Name)
		if err := sandbox.CheckArtifactName(e.Name); err != nil {
			refuse(sandbox.StatusError, sandbox.ErrorArtifact, "%s cannot be handed back: %v", where, err)
			return
		}
		if !e.Mode.IsRegular() {
			refuse(sandbox.StatusError, sandbox.ErrorArtifact, "%s cannot be handed back: it is a directory or a link; only plain files are", where)
			return
		}
		folded := sandbox.FoldArtifactName(e.Name)
		if seen[folded] {
			refuse(sandbox.StatusError, sandbox.ErrorArtifact, "%s cannot be handed back: another file has this name in other case", where)
			return
		}
		seen[folded] = true
		size += e.Content.Size()
	}
	if most := c.spec.Limits.MaxArtifactBytes; size > most {
		refuse(sandbox.StatusOutputLimit, sandbox.ErrorArtifact, "the files in %s have %d bytes, the limit is %d", sandbox.ArtifactDir, size, most)
		return
	}
	r.Artifacts = make([]sandbox.Artifact, 0, len(entries))
	for _, e := range entries {
		r.Artifacts = append(r.Artifacts, sandbox.Artifact{Name: e.Name, MediaType: sandbox.MediaType(e.Name), Bytes: e.Content.Bytes()})
	}
}

// quoted is a name of the guest's, so that it shows and drives nothing.
func quoted(name string) string {
	const most = 64
	if len(name) > most {
		return strconv.QuoteToASCII(name[:most]) + "…"
	}
	return strconv.QuoteToASCII(name)
}
