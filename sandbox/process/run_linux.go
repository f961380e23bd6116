//go:build amd64 || arm64

package process

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mayfly-run/mayfly/sandbox"
)

// errMain is returned by Run in a program that does not call Main.
var errMain = errors.New("process: this program cannot start confined calls: its main function must call process.Main first")

// Run runs one call and waits until every process of it is gone. What the
// program does is in the Result. The error is an [*UnavailableError] when a
// layer is missing and nothing was started; any other means that the host could
// not do its part, and a [*SurvivorsError] that the call may still run.
func Run(ctx context.Context, spec Spec) (Result, error) {
	began := time.Now()
	if !mainCalled.Load() {
		return Result{}, errMain
	}
	root := os.Geteuid() == 0
	if err := spec.check(root); err != nil {
		return invalid(err), nil
	}
	asked := spec.Limits
	spec.Limits = asked.withDefaults()
	ctx, cancel := context.WithDeadlineCause(ctx, began.Add(spec.Limits.Timeout), errTimeout)
	defer cancel()

	result, err := runOnce(ctx, &spec, asked, root, spec.Namespaces != NamespacesOff)
	if s := new(specError); errors.As(err, &s) {
		return invalid(err), nil
	}
	var missing *UnavailableError
	if errors.As(err, &missing) && spec.Namespaces == NamespacesPreferred && (missing.Layer == LayerNamespaces || missing.Layer == LayerFileSystem) {
		result, err = runOnce(ctx, &spec, asked, root, false)
	}
	result.Usage.Wall = time.Since(began)
	return result, err
}

// errTimeout is the cause of a context that Limits.Timeout ended.
var errTimeout = errors.New("the call's timeout passed")

func runOnce(ctx context.Context, spec *Spec, asked Limits, root, spaces bool) (Result, error) {
	p, done, err := plan(spec, asked, root, spaces)
	if err != nil {
		return Result{}, err
	}
	defer done()
	secrets, err := spec.secretsFile()
	if err != nil {
		return Result{}, fmt.Errorf("start a confined call: %w", err)
	}
	var extra []*os.File
	if secrets != nil {
		defer secrets.Close()
		extra = []*os.File{secrets} // the first one: SecretsDescriptor
	}
	c := &call{spec: spec, policy: p, extra: extra, stop: make(chan struct{})}
	if err := c.joinGroup(asked); err != nil {
		return Result{}, err
	}
	defer c.leaveGroup()
	if len(p.Boxes) > 0 {
		if c.carrier, err = newCarrier(p.Boxes, p.WriteBytes); err != nil {
			return Result{}, fmt.Errorf("start a confined call: %w", err)
		}
		defer c.carrier.close()
	}
	result, err := c.run(ctx)
	if e, missing := errors.AsType[*UnavailableError](err); missing && e.Layer == LayerCgroup && groupNeeded(asked, spec.Process) == "" {
		c = &call{spec: spec, policy: p, extra: extra, carrier: c.carrier, stop: make(chan struct{})}
		p.CPUSeconds = wholeSeconds(asked.MaxCPU)
		return c.run(ctx)
	}
	return result, err
}

// plan turns a Spec into what the keeper does, or says what is missing. done
// gives back the user that the call runs as.
func plan(spec *Spec, asked Limits, root, spaces bool) (p *policy, done func(), err error) {
	abi := landlockABI()
	if err := enough(spec, asked, root, spaces, abi); err != nil {
		return nil, nil, err
	}
	p = &policy{
		Command: spec.Command, Args: append([]string{spec.Command}, spec.Args...), Env: environment(spec), Dir: spec.Dir,
		Network: spec.Network, UnixConns: len(spec.UnixSockets) > 0, Process: spec.Process,
		Spaces: spaces, ABI: min(abi, MaxLandlockABI), Drop: root, UID: os.Geteuid(), GID: os.Getegid(),
		Memory: spec.Limits.MaxMemory, FileBytes: spec.Limits.MaxFileBytes, TempBytes: spec.Limits.MaxTempBytes,
		Descriptors: int64(spec.Limits.MaxDescriptors),
	}
	if p.Dir == "" {
		p.Dir = "/"
	}
	if root || spaces {
		p.Processes = int64(spec.Limits.MaxProcesses)
	}
	var grants []grant
	for _, list := range []struct {
		rights rights
		paths  []string
	}{
		{mayExec, []string{spec.Command}}, {mayRead, spec.Read}, {mayWrite, spec.Write}, {mayExec, spec.Exec}, {mayConnect, spec.UnixSockets},
	} {
		for _, path := range list.paths {
			grants = append(grants, grant{path, list.rights})
		}
	}
	if p.Places, p.Links, err = settle(grants); err != nil {
		return nil, nil, &specError{"/read", "a granted path cannot be resolved: " + bare(err)}
	}
	if p.Boxes, err = boxed(spec, asked); err != nil {
		return nil, nil, err
	}
	p.WriteBytes = asked.MaxWriteBytes
	if spaces {
		if err := underTemp(p.Places); err != nil {
			return nil, nil, err
		}
	}
	done = func() {}
	switch {
	case spec.User != nil:
		p.UID, p.GID = spec.User.UID, spec.User.GID
	case root:
		if p.UID, done, err = users.take(); err != nil {
			return nil, nil, &UnavailableError{Layer: LayerUser, Reason: "no user for the call is free", Err: err, Remedy: "set the user of calls, or let this process make Unix sockets"}
		}
		p.GID = p.UID
	}
	return p, done, nil
}

// underTemp refuses what the private /tmp would widen: Landlock gives what is
// below a directory all rights of the directory.
func underTemp(places []place) error {
	for _, p := range places {
		if strings.HasPrefix(p.Path+"/", "/tmp/") && p.Rights&(mayRead|mayExec|mayWrite) == mayWrite {
			return &specError{"/write", "what may be written below /tmp can be read as well, for /tmp is the program's own: grant reading too, or use another directory"}
		}
		if p.Path == "/tmp" {
			return &specError{"/read", "/tmp is the program's own; grant what is needed in it"}
		}
	}
	return nil
}

// enough says what the call requires and the host does not have. asked are the
// limits before defaults: what was set must hold.
func enough(spec *Spec, asked Limits, root, spaces bool, abi int) error {
	if abi < 1 {
		return &UnavailableError{Layer: LayerLandlock, Reason: "the kernel has no Landlock, or it is not among its security modules", Remedy: "use Linux 5.13 or later and add landlock to the kernel's lsm= list"}
	}
	if spaces {
		if spec.Network == NetworkAll && len(spec.UnixSockets) > 0 && abi < 6 {
			return &UnavailableError{Layer: LayerLandlock, Reason: fmt.Sprintf("with the host's network and Unix sockets, abstract sockets need Landlock ABI 6, and this is %d", abi), Remedy: "use Linux 6.12 or later, or grant only one of the two"}
		}
		return nil
	}
	if spec.Network == NetworkProxy {
		return &UnavailableError{Layer: LayerNamespaces, Reason: "without a network of its own a program that may use a proxy can go around it: Landlock limits the ports that it connects to, and not the addresses", Remedy: "allow namespaces, grant no network, or grant all of it"}
	}
	if abi < 6 {
		return &UnavailableError{Layer: LayerLandlock, Reason: fmt.Sprintf("without namespaces Landlock ABI 6 is required, and this is %d", abi), Remedy: "use Linux 6.12 or later, or allow namespaces"}
	}
	if len(spec.UnixSockets) > 0 {
		return &UnavailableError{Layer: LayerFileSystem, Reason: "without namespaces a Unix socket cannot be granted alone", Remedy: "allow namespaces, or grant no socket"}
	}
	if asked.MaxTempBytes > 0 {
		return &UnavailableError{Layer: LayerFileSystem, Reason: "without namespaces there is no private /tmp to bound", Remedy: "allow namespaces, or leave the limit out"}
	}
	if asked.MaxWriteBytes > 0 && len(spec.Write) > 0 {
		return &UnavailableError{Layer: LayerFileSystem, Reason: "without namespaces nothing bounds how much is written into a directory", Remedy: "allow namespaces, or leave the limit out"}
	}
	if asked.MaxProcesses > 0 && !root {
		return &UnavailableError{Layer: LayerProcesses, Reason: "without namespaces only root can bound a call's processes", Remedy: "allow namespaces, or leave the limit out"}
	}
	return nil
}

// environment is the program's, sorted.
func environment(spec *Spec) []string {
	env := map[string]string{"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp", "TMPDIR": "/tmp", "LANG": "C.UTF-8"}
	maps.Copy(env, spec.Env)
	if spec.Network == NetworkProxy {
		maps.Copy(env, proxyEnvironment())
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		list = append(list, name+"="+env[name])
	}
	return list
}

func invalid(err error) Result {
	result := Result{ExitCode: -1}
	result.Status = sandbox.StatusInvalid
	result.Error = &sandbox.Error{Type: string(sandbox.StatusInvalid), Message: err.Error()}
	if s := new(specError); errors.As(err, &s) {
		result.Error.Path, result.Error.Message = s.path, s.reason
	}
	return result
}
