package runtime

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mayfly-run/mayfly/internal/canonjson"
	"github.com/mayfly-run/mayfly/internal/egress"
	"github.com/mayfly-run/mayfly/internal/egress/proxy"
	"github.com/mayfly-run/mayfly/manifests"
	"github.com/mayfly-run/mayfly/sandbox"
	"github.com/mayfly-run/mayfly/sandbox/process"
)

// Main must be called first in the main function of a program whose tools are
// native handlers: a handler's process is started as this program again. If
// ours is true, the program must exit with code at once. Without it native
// handlers are unavailable.
func Main() (code int, ours bool) { return process.Main() }

// native reaches native tools: Go functions of the host, and handlers in
// processes of their own.
type native struct {
	funcs    funcs
	vault    *vault
	testMode bool
	resolver *net.Resolver // of proxies
}

func (n native) prepare(ctx context.Context, t *manifests.Tool) *reply {
	return n.funcs.prepare(ctx, t)
}

func (n native) invoke(ctx context.Context, in invocation) reply {
	if _, ok := n.funcs[in.tool.Metadata.Name]; ok {
		return n.funcs.invoke(ctx, in)
	}
	if n.testMode && in.tool.Spec.Grants.Network {
		return unavailable(errTestMode)
	}
	spec, err := nativeSpec(in.tool, in.key, in.secrets, n.resolver)
	if err != nil {
		return unavailable(err)
	}
	rep, stderr := runProcess(ctx, spec, sandbox.RawJSON(in.args.Text()), n.vault)
	if in.tool.Spec.Handler.Kind != manifests.HandlerCommand {
		if rep.outcome == OK {
			return opened(rep, stderr)
		}
		// A function that fails is told of by its runner, which ends with 0.
		rep.broke = rep.broke || rep.outcome == ToolError
	}
	return rep
}

// opened takes what a runner said about a function: its value, or the type of
// what it raised.
func opened(rep reply, stderr []byte) reply {
	var said struct {
		Value  jsontext.Value `json:"value,omitzero"`
		Raised string         `json:"raised,omitzero"`
	}
	switch err := json.Unmarshal(rep.json, &said, json.RejectUnknownMembers(true)); {
	case err != nil || (said.Raised == "") == (said.Value == nil):
		// The handler wrote to the runner's own descriptor.
		rep.outcome, rep.broke, rep.json, rep.printed, rep.failure = ToolError, true, nil, "", &Failure{Type: "InvalidResult", Message: "the handler left no result that is JSON" + stderrTail(stderr)}
	case said.Raised != "":
		rep.outcome, rep.json, rep.printed, rep.failure = ToolError, nil, "", &Failure{Type: plainName(said.Raised), Message: string(stderr)}
	default:
		rep.json = said.Value
	}
	return rep
}

// unavailable is for what the host, a manifest or the harness lacks.
func unavailable(err error) reply {
	return reply{outcome: Unavailable, notSetUp: !errors.Is(err, errTestMode) && !errors.Is(err, errRunID), failure: &Failure{Type: "Unavailable", Message: err.Error()}}
}

// runProcess runs a confined program and reads its answer. What the program wrote
// to standard error is scrubbed whole, before any part of it is taken.
func runProcess(ctx context.Context, spec process.Spec, input sandbox.RawJSON, v *vault) (rep reply, stderr []byte) {
	if len(input) == 0 {
		input = sandbox.RawJSON("{}")
	}
	spec.Input = input
	r, err := process.Run(ctx, underRule(v.harness, spec))
	if _, missing := errors.AsType[*process.UnavailableError](err); missing {
		return unavailable(err), nil
	}
	if err != nil {
		message, _ := v.scrubber().CutText([]byte(err.Error())) // it may end in an excerpt
		return reply{outcome: Internal, started: true, failure: &Failure{Type: "internal", Message: string(message)}}, nil
	}
	if r.Truncated != nil && r.Truncated.Stderr > 0 {
		r.Stderr, _ = v.scrubber().CutText(r.Stderr)
	} else {
		r.Stderr, _ = v.scrubber().Text(r.Stderr)
	}
	rep = reply{outcome: codeOutcome(r.Status), broke: brokeOff(r), started: r.Status != sandbox.StatusInvalid && r.Status != sandbox.StatusBusy, missing: layerNames(r.Enforced.Missing)}
	if rep.outcome == InvalidArguments { // of the program, not of the call
		rep.outcome, rep.notSetUp, rep.failure = Unavailable, true, &Failure{Type: "Unavailable", Message: refusal(spec, r.Error)}
	} else if r.Error != nil {
		rep.failure = &Failure{Type: r.Error.Type, Message: r.Error.Message + stderrTail(r.Stderr)}
	}
	if rep.outcome == OK {
		if _, err := canonjson.Parse(r.Value, canonjson.Limits{MaxBytes: maxResultBytes}); err != nil {
			rep.outcome, rep.broke, rep.failure = ToolError, true, &Failure{Type: "InvalidResult", Message: "the tool's result is not JSON: " + err.Error()}
			return rep, r.Stderr
		}
		rep.json = r.Value
		rep.printed = string(r.Stderr) // a failure has it in its message
		if spec.Output != process.OutputStdout {
			stdout, clean := r.Stdout, v.scrubber().Text
			if r.Truncated != nil && r.Truncated.Stdout > 0 {
				clean = v.scrubber().CutText
			}
			stdout, _ = clean(stdout)
			rep.printed = string(stdout) + rep.printed
		}
	}
	return rep, r.Stderr
}

// refusal says why a process cannot be run, with the path that is the reason: a
// manifest can grant many.
func refusal(spec process.Spec, e *sandbox.Error) string {
	list, index, _ := strings.Cut(strings.TrimPrefix(e.Path, "/"), "/")
	switch list {
	case "command":
		return "execute " + spec.Command + ": " + e.Message
	case "dir":
		return "start in " + spec.Dir + ": " + e.Message
	}
	for _, granted := range []struct {
		list, verb string
		paths      []string
	}{
		{"read", "read", spec.Read}, {"write", "write", spec.Write}, {"exec", "execute", spec.Exec}, {"unixsockets", "connect to", spec.UnixSockets},
	} {
		if i, err := strconv.Atoi(index); err == nil && granted.list == list && i < len(granted.paths) {
			return granted.verb + " " + granted.paths[i] + ": " + e.Message
		}
	}
	return e.Message
}

// brokeOff reports whether a program did not come to an end of its own, or wrote
// what is no result. A program that ends with another code than 0 says that it
// failed.
func brokeOff(r process.Result) bool {
	return r.Status == sandbox.StatusCrashed || r.Error != nil && (r.Error.Type == "signal" || r.Error.Type == "value")
}

// plainName is the type of an exception, if it is a plain name.
func plainName(name string) string {
	if name == "" || len(name) > 100 ||
		strings.ContainsFunc(name, func(c rune) bool {
			return !(c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z')
		}) {
		return "Exception"
	}
	return name
}

func stderrTail(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	return "; it wrote: " + string(b[max(0, len(b)-4096):])
}

//go:embed handler.py
var pythonRunner string

//go:embed handler.mjs
var nodeRunner string

// programDirs are where the programs of handlers are looked for. The host's own
// PATH is not asked: what runs must not depend on who started the host.
var programDirs = []string{"/usr/local/bin", "/usr/bin", "/bin"}

// nodeMemory is what Node.js needs to start: it reserves far more than it uses.
const nodeMemory = 4 << 30

// nativeSpec is what a tool's manifest says about its process. What a manifest
// asks for and this host cannot give is an error.
func nativeSpec(t *manifests.Tool, key string, secrets map[string]string, resolver *net.Resolver) (process.Spec, error) {
	spec, err := handlerSpec(t.Spec.Handler, t.Origin.Root, key)
	if err != nil {
		return spec, err
	}
	g := t.Spec.Grants
	handOver(&spec, t.Spec.Handler.Kind, secrets)
	if g.Network {
		if err := openNetwork(&spec, t.Spec.EgressAllowed, resolver); err != nil {
			return spec, err
		}
	}
	give(&spec, g)
	spec.Limits.Timeout = t.Spec.Timeout
	return spec, nil
}

// handOver gives a handler its secrets. A program finds them on the descriptor
// that a variable names; a function, in what it takes for its environment, where
// its runner puts them.
func handOver(spec *process.Spec, kind manifests.HandlerKind, secrets map[string]string) {
	if len(secrets) == 0 {
		return
	}
	spec.Secrets = make(map[string][]byte, len(secrets))
	for name, value := range secrets {
		spec.Secrets[name] = []byte(value)
	}
	descriptor := strconv.Itoa(process.SecretsDescriptor)
	switch kind {
	case manifests.HandlerPython:
		spec.Args[secretsOfPython] = descriptor
	case manifests.HandlerNode:
		spec.Args[secretsOfNode] = descriptor
	default:
		spec.Env["MAYFLY_SECRETS_FD"] = descriptor
	}
}

// Where the arguments of the runners say which descriptor has the secrets.
const (
	secretsOfPython = 6
	secretsOfNode   = 6
)

// give adds grants of files, sockets and processes.
func give(spec *process.Spec, g manifests.Grants) {
	for _, p := range []struct {
		from []string
		to   *[]string
	}{{g.Read, &spec.Read}, {g.Write, &spec.Write}, {g.Code, &spec.Exec}, {g.NetworkLocal, &spec.UnixSockets}} {
		for _, name := range p.from {
			if !filepath.IsAbs(name) {
				name = filepath.Join(spec.Dir, name)
			}
			*p.to = append(*p.to, name)
		}
	}
	spec.Process = g.Process
}

// openNetwork gives a process the network: to listed hosts through a proxy of its
// own, to all of them directly.
func openNetwork(spec *process.Spec, hosts []manifests.Host, resolver *net.Resolver) error {
	if slices.Contains(hosts, "*") {
		spec.Network = process.NetworkAll
		return nil
	}
	policy, err := policyOf(hosts)
	if err != nil {
		return err
	}
	spec.Network = process.NetworkProxy
	spec.Proxy = func(ctx context.Context, l net.Listener) {
		proxy.Serve(ctx, l, proxy.Config{Dialer: egress.Dialer{Policy: policy, Resolver: resolver}})
	}
	return nil
}

// handlerSpec is the process of a handler without any grant: its own code, and
// what its interpreter needs to start.
func handlerSpec(h *manifests.Handler, root, key string) (process.Spec, error) {
	var spec process.Spec
	if h == nil || root == "" {
		return spec, errors.New("the manifest was not read from a file, so that its handler cannot be found")
	}
	root, err := filepath.Abs(root)
	if err != nil {
		return spec, fmt.Errorf("find the handler: %w", err)
	}
	spec.Exec, spec.Read = process.SystemLibraries()
	spec.Dir = root
	switch h.Kind {
	case manifests.HandlerPython:
		code, err := pythonCode(root, h.Module)
		if err != nil {
			return spec, err
		}
		spec.Read = append(spec.Read, code)
		spec.Args = []string{"-I", "-c", pythonRunner, h.Module, h.Function, key, "", root}
		for _, dir := range venvs(root) {
			spec.Exec = append(spec.Exec, dir)
			spec.Args = append(spec.Args, dir)
		}
		spec.Command, err = findProgram("python3")
		return spec, err
	case manifests.HandlerNode:
		file := filepath.Join(root, h.Module)
		spec.Read = append(spec.Read, file)
		if modules := filepath.Join(filepath.Dir(file), "node_modules"); isDir(modules) {
			spec.Exec = append(spec.Exec, modules)
		}
		spec.Args = []string{"--input-type=module", "-e", nodeRunner, file, h.Function, key, ""}
		spec.Limits.MaxMemory = nodeMemory
		spec.Command, err = findProgram("node")
		return spec, err
	}
	spec.Args, spec.Output = h.Args, process.OutputStdout
	spec.Env = map[string]string{"MAYFLY_IDEMPOTENCY_KEY": key}
	if h.Cwd != "" {
		spec.Dir = filepath.Join(root, h.Cwd)
	}
	switch {
	case filepath.IsAbs(h.Command):
		spec.Command = h.Command
	case strings.Contains(h.Command, "/"):
		spec.Command = filepath.Join(root, h.Command)
	default:
		if spec.Command, err = findProgram(h.Command); err != nil {
			return spec, err
		}
	}
	interpreters, err := shebang(spec.Command)
	spec.Exec = append(spec.Exec, interpreters...)
	return spec, err
}

// pythonCode is what has to be read to import a module: its file, or the
// whole of its outermost package.
func pythonCode(root, module string) (string, error) {
	top, _, nested := strings.Cut(module, ".")
	if dir := filepath.Join(root, top); isDir(dir) {
		return dir, nil
	}
	if file := filepath.Join(root, top+".py"); !nested {
		if _, err := os.Stat(file); err == nil {
			return file, nil
		}
	}
	missing := "neither " + top + ".py nor a directory " + top
	if nested {
		missing = "no directory " + top
	}
	return "", fmt.Errorf("the handler's module %s is not below the harness's directory: there is %s", module, missing)
}

// venvs are the libraries of virtual environments beside a handler.
func venvs(root string) []string {
	var dirs []string
	for _, name := range []string{".venv", "venv"} {
		found, _ := filepath.Glob(filepath.Join(root, name, "lib", "python3*", "site-packages"))
		dirs = append(dirs, found...)
	}
	return dirs
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// findProgram finds an installed program by its bare name.
func findProgram(name string) (string, error) {
	for _, dir := range programDirs {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", fmt.Errorf("the program %s is in none of %s", name, strings.Join(programDirs, ", "))
}

// shebang gives the interpreters of a script; none for another program.
func shebang(path string) ([]string, error) {
	f, err := os.Open(filepath.Clean(path))
	if err != nil {
		return nil, fmt.Errorf("the handler's program: %w", err)
	}
	defer f.Close()
	start := make([]byte, 256)
	n, _ := f.Read(start)
	line, found := strings.CutPrefix(string(start[:n]), "#!")
	if !found {
		return nil, nil
	}
	line, _, _ = strings.Cut(line, "\n")
	var programs []string
	for i, word := range strings.Fields(line) {
		switch {
		case i == 0 && filepath.IsAbs(word):
			programs = append(programs, word)
		case i == 1 && filepath.Base(programs[0]) == "env" && !strings.HasPrefix(word, "-"):
			program, err := findProgram(word)
			if err != nil {
				return nil, err
			}
			programs = append(programs, program)
		default:
			return programs, nil
		}
	}
	return programs, nil
}
