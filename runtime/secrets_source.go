package runtime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/mayfly-run/mayfly/manifests"
	"github.com/mayfly-run/mayfly/sandbox"
	"github.com/mayfly-run/mayfly/sandbox/process"
)

// fetchTimeout is how long a command may take to give a secret, unless the
// harness says otherwise.
const fetchTimeout = 10 * time.Second

// fromFile reads a secret from a file that nobody else can read. A link to one is
// followed: that is how secrets are mounted into containers.
func (v *vault) fromFile(path string) (value, reason string) {
	if !filepath.IsAbs(path) {
		if v.harness.Origin.Root == "" {
			return "", "its file has a relative path, and the harness was not read from a file"
		}
		path = filepath.Join(v.harness.Origin.Root, path)
	}
	f, err := openRegular(filepath.Clean(path), os.O_RDONLY, 0)
	if err != nil {
		return "", "its file cannot be read: " + pathless(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", "its file cannot be read: " + pathless(err)
	}
	if err := privateFile(info); err != nil {
		return "", "its file " + err.Error()
	}
	// One line end more than a value.
	text, err := io.ReadAll(io.LimitReader(f, maxSecret+3))
	if err != nil {
		return "", "its file cannot be read: " + pathless(err)
	}
	return oneLine(string(text)), ""
}

// pathless gives the system's words without the path.
func pathless(err error) string {
	if errors.Is(err, errNotRegular) {
		return errNotRegular.Error()
	}
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err.Error()
	}
	return "an error of the file system"
}

// fromCommand has a confined program write a secret to its standard output. What
// it says about a failure is not repeated: it may hold the value. lasts: it ends so
// until the operator does something about it.
func (v *vault) fromCommand(ctx context.Context, secret manifests.Secret) (value, reason string, lasts bool) {
	spec, err := handlerSpec(secret.Command, v.harness.Origin.Root, "")
	if err != nil {
		return "", "its command: " + err.Error(), true
	}
	spec.Env, spec.Output = nil, process.OutputDescriptor
	if g := secret.Grants; g != nil {
		give(&spec, *g)
		if g.Network && v.testMode {
			return "", "its command has a network, and the host is in test mode and calls nobody", false
		}
		if g.Network {
			spec.Network = process.NetworkAll
		}
	}
	spec.Limits.Timeout = cmp.Or(secret.Timeout, fetchTimeout)
	spec.Limits.MaxOutput = 2 * maxSecret
	r, err := process.Run(ctx, underRule(v.harness, spec))
	switch {
	case err != nil:
		return "", "its command cannot be run: " + err.Error(), false
	case r.Status == sandbox.StatusOutputLimit || r.Truncated != nil:
		return "", fmt.Sprintf("its command wrote more than %d bytes", maxSecret), false
	case r.Status == sandbox.StatusError && r.Error != nil && r.Error.Type == "exit":
		return "", fmt.Sprintf("its command ended with code %d; run it by hand to see why, within the same grants", r.ExitCode), false
	case r.Status == sandbox.StatusInvalid && r.Error != nil:
		return "", "its command: " + refusal(spec, r.Error), true
	case r.Status != sandbox.StatusOK:
		return "", "its command ended " + string(r.Status), false
	}
	return oneLine(string(r.Stdout)), "", false
}
