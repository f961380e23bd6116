package runtime

import (
	"strings"
	"sync"

	"github.com/mayfly-run/mayfly/guests"
	"github.com/mayfly-run/mayfly/manifests"
)

// Describe is what a model is told of a tool: the description of its manifest,
// and behind it, for a tool that runs code, what that code finds in its guest.
// The digest of the tool covers the former only: with another version of a guest
// a tool is still the one that was pinned.
func Describe(t *manifests.Tool) string {
	if t.Spec.Transport != manifests.TransportCode {
		return t.Spec.Description
	}
	return joined(t.Spec.Description, environment(string(t.Spec.Sandbox)))
}

// DescribeExec is a description of [ExecTool], with what code of each language
// finds.
func DescribeExec(description string) string {
	texts := []string{description}
	for _, name := range guests.Names() {
		texts = append(texts, environment(name))
	}
	return joined(texts...)
}

// environments are made once: they do not change while a program runs.
var environments = sync.OnceValue(func() map[string]string {
	all := make(map[string]string)
	for _, name := range guests.Names() {
		// Of a guest that is not part of this program there is nothing to say:
		// its calls fail, and say why.
		all[name], _ = guests.Environment(name)
	}
	return all
})

func environment(name string) string { return environments()[name] }

func joined(texts ...string) string {
	var said []string
	for _, text := range texts {
		if text != "" {
			said = append(said, text)
		}
	}
	return strings.Join(said, "\n\n")
}
