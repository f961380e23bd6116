package runtime

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/mayfly-run/mayfly/manifests"
	"github.com/mayfly-run/mayfly/sandbox/process"
)

// FindHandler looks for what a native tool needs on this host: its handler, down to
// the function, and the
// files, directories and sockets that it is granted. The error has all that a call
// would end at now, one to a line. A tool that is not native needs nothing.
func FindHandler(t *manifests.Tool) error {
	if t.Spec.Transport != manifests.TransportNative {
		return nil
	}
	spec, err := handlerSpec(t.Spec.Handler, t.Origin.Root, "")
	if err != nil {
		return err
	}
	return errors.Join(
		absent("the handler needs", spec.Read, append(spec.Exec, spec.Command)),
		findFunction(t.Spec.Handler, t.Origin.Root),
		absentGrants(spec, t.Spec.Grants),
	)
}

// absentGrants names what a program is granted and what does not exist.
func absentGrants(spec process.Spec, g manifests.Grants) error {
	granted := process.Spec{Dir: spec.Dir}
	give(&granted, g)
	return absent("grants:", granted.Read, granted.Write, granted.Exec, granted.UnixSockets)
}

// absent names the paths that do not exist.
func absent(what string, lists ...[]string) error {
	var errs []error
	for _, paths := range lists {
		for _, path := range paths {
			if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
				errs = append(errs, fmt.Errorf("%s %s does not exist", what, path))
			}
		}
	}
	return errors.Join(errs...)
}

// maxHandlerSource is how much of a handler's source is looked at.
const maxHandlerSource = 4 << 20

// findFunction looks for the module and the function of a handler in its source,
// which is not run: a function is missed if nothing in the module has its name, and
// nothing brings in names that are not in it.
func findFunction(h *manifests.Handler, root string) error {
	file, others := "", regexp.MustCompile(`import \*|__getattr__|globals\(|setattr\(|exec\(`)
	switch h.Kind {
	case manifests.HandlerPython:
		base := filepath.Join(append([]string{root}, strings.Split(h.Module, ".")...)...)
		if file = base + ".py"; isDir(base) {
			file = filepath.Join(base, "__init__.py")
		}
		if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
			if compiled, _ := filepath.Glob(base + ".*"); len(compiled) > 0 {
				return nil // of another kind, which has no source
			}
			return fmt.Errorf("the handler's module %s does not exist: there is no %s", h.Module, file)
		}
	case manifests.HandlerNode:
		file, others = filepath.Join(root, h.Module), regexp.MustCompile(`export\s*\*`)
	default:
		return nil
	}
	source, err := readHead(file)
	if err != nil || others.MatchString(source) {
		return nil // what cannot be read is told of elsewhere
	}
	if !regexp.MustCompile(`(^|[^\w$])` + regexp.QuoteMeta(h.Function) + `($|[^\w$])`).MatchString(source) {
		return fmt.Errorf("the handler's function %s is not in %s", h.Function, file)
	}
	return nil
}

func readHead(file string) (string, error) {
	f, err := openRegular(file, os.O_RDONLY, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxHandlerSource))
	return string(text), err
}
