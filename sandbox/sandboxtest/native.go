package sandboxtest

import (
	"slices"
	"testing"

	"github.com/mayfly-run/mayfly/sandbox"
)

// nativeCases are the cases that hold for the machine's own Python in a process
// as well, by group and name, with the ends that are right there; nil: the
// same. A process has threads, more of a world, and memory that fails where it
// is asked for; what it may not do to anybody else is the same.
var nativeCases = map[string]map[string][]sandbox.Status{
	"time": {
		"loop without calls": nil, "power of big integers": nil, "sort by a constant key": nil,
		"regular expression that blows up": nil, "integer of many digits": nil, "sum of a long range": nil,
		"product in C": nil, "copies of large memory": nil, "sleep": nil, "sleep again and again": nil,
		"select without descriptors": nil, "asynchronous sleep": nil, "every exception is caught": nil,
		"finally spins": nil, "destructor spins after the end": nil, "sleep within the limit": nil,
	},
	"memory": {
		"grow to the ceiling": raised, "one large block": raised, "many small objects": raised, "a string that doubles": raised,
		"a failed allocation can be handled": nil, "a failed allocation that is retried forever": nil,
		"recursion": nil, "recursion without a limit": nil, "recursion in C": nil,
		"recursion can be handled": nil,
	},
	"output": {
		"both streams": nil, "a flood is stopped": nil, "a flood of errors is stopped": nil,
		"too much is cut and the value is kept": nil, "bytes that are not text": nil,
		"closed descriptors do no harm": nil, "input ends at once": nil,
	},
	"value": {
		"expression": nil, "assignment": nil, "comment after the expression": nil, "block": nil, "empty": nil, "None": nil,
		"await": nil, "large integers keep their digits": nil, "leaving with success": nil, "leaving with failure": nil,
	},
	"source": {
		"syntax error": nil, "only a comment": nil, "mixed tabs": nil, "deep parentheses": nil, "deep lists": nil,
		"deep unary operators": nil, "long chain of operators": nil, "deep attributes": nil,
	},
	"isolation": {"leave state behind": nil, "find no state": nil},
	"files": {
		"many bytes": nil, "many files": nil, "many directories": nil, "a huge hole": nil, "outside is read-only": nil,
		"many open files": {sandbox.StatusError, sandbox.StatusTimeout},
	},
	"doors": {
		"socket": nil, "subprocess": nil, "fork": nil, "exec": nil, "multiprocessing": nil, "abort is contained": nil,
	},
}

// RunNative runs the cases that hold for native programs against box, which
// runs each in a process of the machine's own Python. The groups in without are
// left out.
func RunNative(t *testing.T, box sandbox.Sandbox, without ...string) {
	for _, group := range groups() {
		if slices.Contains(without, group.name) {
			continue
		}
		for name := range nativeCases[group.name] {
			if !slices.ContainsFunc(group.cases, func(c Case) bool { return c.Name == name }) {
				t.Errorf("there is no case %q in group %s any more", name, group.name)
			}
		}
		t.Run(group.name, func(t *testing.T) {
			for _, c := range group.cases {
				ends, ok := nativeCases[group.name][c.Name]
				if !ok {
					continue
				}
				if ends != nil {
					c.Status = ends
				}
				c.native = true
				t.Run(c.Name, func(t *testing.T) { c.run(t, "python", box) })
			}
		})
	}
}
