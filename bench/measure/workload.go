package measure

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/mayfly-run/mayfly/bench/workloads"
)

// Workload is one CPU-bound script. It ends in an expression, its check value.
type Workload struct{ Name, Ending, Code string }

// Workloads gives the workloads of one language: those with the ending ".py"
// or ".js".
func Workloads(ending string) ([]Workload, error) {
	names, err := fs.Glob(workloads.Files, "*"+ending)
	if err != nil {
		return nil, err
	}
	var all []Workload
	for _, n := range names {
		text, err := workloads.Files.ReadFile(n)
		if err != nil {
			return nil, err
		}
		all = append(all, Workload{strings.TrimSuffix(path.Base(n), ending), ending, string(text)})
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no workloads end in %q", ending)
	}
	return all, nil
}
