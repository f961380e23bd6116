package runtime

import (
	"errors"
	"fmt"
	"os"

	"github.com/mayfly-run/mayfly/manifests"
	"github.com/mayfly-run/mayfly/sandbox/process"
)

// FindHandler looks for what a native tool needs on this host: its handler and the
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
	own := process.Spec{Read: spec.Read, Exec: append(spec.Exec, spec.Command)}
	granted := process.Spec{Dir: spec.Dir}
	give(&granted, t.Spec.Grants)
	var errs []error
	look := func(what string, lists ...[]string) {
		for _, paths := range lists {
			for _, path := range paths {
				if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
					errs = append(errs, fmt.Errorf("%s %s does not exist", what, path))
				}
			}
		}
	}
	look("the handler needs", own.Read, own.Exec)
	look("grants:", granted.Read, granted.Write, granted.Exec, granted.UnixSockets)
	return errors.Join(errs...)
}
