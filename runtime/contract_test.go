package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/sandbox"
	"github.com/mayfly-run/mayfly/sandbox/sandboxtest"
	"github.com/mayfly-run/mayfly/sandbox/wasm"
)

func TestContract(t *testing.T) {
	t.Run("python", func(t *testing.T) { sandboxtest.Run(t, "python", python(t)) })
	t.Run("js", func(t *testing.T) { sandboxtest.Run(t, "js", javaScript(t)) })
}

func TestCancelledBeforeStart(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err := python(t).Run(ctx, sandbox.Spec{Code: "1+1"})
	if err != nil || r.Status != sandbox.StatusCancelled || r.Usage.Fuel != 0 {
		t.Errorf("status %q, fuel %d, %v", r.Status, r.Usage.Fuel, err)
	}
}

func TestDeadlinePastBeforeStart(t *testing.T) {
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	r, err := python(t).Run(ctx, sandbox.Spec{Code: "1+1"})
	if err != nil || r.Status != sandbox.StatusTimeout || r.Usage.Fuel != 0 {
		t.Errorf("status %q, fuel %d, %v", r.Status, r.Usage.Fuel, err)
	}
}

func TestCancelWhileRunning(t *testing.T) {
	for _, c := range []struct {
		name, code string
		box        *wasm.Engine
	}{
		{"computing", "print('on')\nwhile True: pass", python(t)},
		{"sleeping", "import time\nprint('on')\ntime.sleep(3600)", python(t)},
		{"computing in JavaScript", "console.log('on'); for (;;);", javaScript(t)},
		{"sleeping in JavaScript", "console.log('on'); await new Promise((r) => setTimeout(r, 3600e3))", javaScript(t)},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(50*time.Millisecond, cancel)
			r, err := c.box.Run(ctx, sandbox.Spec{Code: c.code, Limits: sandbox.Limits{Timeout: time.Hour}})
			if err != nil || r.Status != sandbox.StatusCancelled {
				t.Errorf("status %q, %v", r.Status, err)
			}
		})
	}
}

func TestHostCalls(t *testing.T) {
	tools := func(ctx context.Context, tool string, args sandbox.RawJSON) (sandbox.RawJSON, error) {
		switch tool {
		case "echo":
			return args, nil
		case "slow":
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return nil, errors.New("there is no tool " + tool)
	}
	for _, c := range []struct {
		name, code string
		js         bool
		limits     sandbox.Limits
		status     sandbox.Status
		value      string
		calls      int
	}{
		{name: "JavaScript: arguments and result", js: true, code: "mayfly.callTool('echo', { a: 2n ** 70n, b: ['é', null] })", status: sandbox.StatusOK, value: `{"a":1180591620717411303424,"b":["é",null]}`, calls: 1},
		{name: "JavaScript: an error can be caught", js: true, code: "let r; try { mayfly.callTool('none') } catch (e) { r = e.message } r", status: sandbox.StatusOK, value: `"there is no tool none"`, calls: 1},
		{name: "JavaScript: a slow tool counts against the call's time", js: true, code: "mayfly.callTool('slow')", limits: sandbox.Limits{Timeout: 200 * time.Millisecond}, status: sandbox.StatusTimeout, calls: 1},
		{name: "JavaScript: a storm", js: true, code: "for (;;) { try { mayfly.callTool('echo', { x: 'y'.repeat(10000) }) } catch {} }", limits: sandbox.Limits{MaxHostCalls: 10}, status: sandbox.StatusCallLimit, calls: 10},

		{name: "arguments and result", code: "from mayfly import call_tool\ncall_tool('echo', a=2**70, b=['é', None])", status: sandbox.StatusOK, value: `{"a":1180591620717411303424,"b":["é",null]}`, calls: 1},
		{name: "an error can be caught", code: "import mayfly\ntry: mayfly.call_tool('none')\nexcept mayfly.ToolError as e: r = str(e)\nr", status: sandbox.StatusOK, value: `"there is no tool none"`, calls: 1},
		{name: "a slow tool counts against the call's time", code: "import mayfly\nmayfly.call_tool('slow')", limits: sandbox.Limits{Timeout: 200 * time.Millisecond}, status: sandbox.StatusTimeout, calls: 1},
		{name: "a storm", code: "import mayfly\nwhile True:\n  try: mayfly.call_tool('echo', x='y'*10000)\n  except BaseException: pass", limits: sandbox.Limits{MaxHostCalls: 10}, status: sandbox.StatusCallLimit, calls: 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			box := python(t)
			if c.js {
				box = javaScript(t)
			}
			r, err := box.Run(t.Context(), sandbox.Spec{Code: c.code, Limits: c.limits, HostCall: tools})
			if err != nil || r.Status != c.status || string(r.Value) != c.value {
				t.Errorf("status %q, value %s, error %+v, %v", r.Status, r.Value, r.Error, err)
			}
			if r.Usage.HostCalls != c.calls {
				t.Errorf("%d calls, want %d", r.Usage.HostCalls, c.calls)
			}
		})
	}
}

// TestReentrant: a host tool may use the same sandbox.
func TestReentrant(t *testing.T) {
	box := python(t)
	var depth atomic.Int32
	var call func(ctx context.Context, tool string, args sandbox.RawJSON) (sandbox.RawJSON, error)
	call = func(ctx context.Context, tool string, args sandbox.RawJSON) (sandbox.RawJSON, error) {
		if depth.Add(1) > 3 {
			return sandbox.RawJSON("0"), nil
		}
		r, err := box.Run(ctx, sandbox.Spec{Code: "import mayfly\n1 + mayfly.call_tool('again')", HostCall: call})
		return r.Value, err
	}
	r, err := box.Run(t.Context(), sandbox.Spec{Code: "import mayfly\nmayfly.call_tool('again')", HostCall: call})
	if err != nil || string(r.Value) != "3" {
		t.Errorf("status %q, value %s, error %+v, %v", r.Status, r.Value, r.Error, err)
	}
}

// TestReentrantFull: calls that wait for calls of their own never keep those
// from running, however many there are; and they cannot be nested without end.
func TestReentrantFull(t *testing.T) {
	box := python(t)
	inner := func(ctx context.Context, _ string, _ sandbox.RawJSON) (sandbox.RawJSON, error) {
		r, err := box.Run(ctx, sandbox.Spec{Code: "21 * 2"})
		return r.Value, err
	}
	var wg sync.WaitGroup
	for range 40 {
		wg.Go(func() {
			r, err := box.Run(t.Context(), sandbox.Spec{Code: "import mayfly\nmayfly.call_tool('inner')", HostCall: inner, Limits: sandbox.Limits{Timeout: time.Minute}})
			if err != nil || string(r.Value) != "42" {
				t.Errorf("status %q, value %s, error %+v, %v", r.Status, r.Value, r.Error, err)
			}
		})
	}
	wg.Wait()

	var deepest atomic.Int32
	var again func(ctx context.Context, tool string, args sandbox.RawJSON) (sandbox.RawJSON, error)
	again = func(ctx context.Context, _ string, _ sandbox.RawJSON) (sandbox.RawJSON, error) {
		deepest.Add(1)
		r, err := box.Run(ctx, sandbox.Spec{Code: "import mayfly\nmayfly.call_tool('again')", HostCall: again})
		if err == nil && r.Status != sandbox.StatusOK {
			err = errors.New(string(r.Status) + " " + r.Error.Message)
		}
		return r.Value, err
	}
	r, err := box.Run(t.Context(), sandbox.Spec{Code: "import mayfly\nmayfly.call_tool('again')", HostCall: again, Limits: sandbox.Limits{Timeout: time.Minute}})
	if err != nil || r.Status != sandbox.StatusError || deepest.Load() != wasm.MaxNesting+1 {
		t.Errorf("status %q after %d levels, error %+v, %v", r.Status, deepest.Load(), r.Error, err)
	}
}

// TestDeterministic: the same Spec gives the same bytes, here within one
// process; the command's tests do it in two.
func TestDeterministic(t *testing.T) {
	for _, guest := range []struct {
		name, code string
		box        *wasm.Engine
	}{
		{"python", `
import random, uuid, time, datetime, os, secrets, tempfile
print(time.time(), datetime.datetime.now(), time.monotonic())
time.sleep(0.02)
print(time.time(), tempfile.mktemp())
[random.random(), str(uuid.uuid4()), str(uuid.uuid1()), os.urandom(8).hex(), secrets.token_hex(), [hash(x) for x in "abc"], sorted({random.getrandbits(40) for _ in range(50)})]`, python(t)},
		{"js", `
console.log(Date.now(), new Date().toISOString(), performance.now());
await new Promise((r) => setTimeout(r, 20));
console.log(Date.now());
console.time("t"); console.timeEnd("t");
[Math.random(), crypto.randomUUID(), [...crypto.getRandomValues(new Uint32Array(4))], [...new Set([3, "a", {}].map(String))], Array.from({ length: 20 }, Math.random)]`, javaScript(t)},
	} {
		t.Run(guest.name, func(t *testing.T) {
			spec := sandbox.Spec{
				Code:          guest.code,
				Deterministic: &sandbox.Deterministic{Seed: 42, Clock: time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)},
			}
			run := func(spec sandbox.Spec) sandbox.Result {
				t.Helper()
				r, err := guest.box.Run(t.Context(), spec)
				if err != nil || r.Status != sandbox.StatusOK {
					t.Fatalf("status %q, error %+v, %v", r.Status, r.Error, err)
				}
				return r
			}
			one, two := run(spec), run(spec)
			if string(one.Value) != string(two.Value) || string(one.Stdout) != string(two.Stdout) || one.Usage.Fuel != two.Usage.Fuel {
				t.Errorf("two runs differ:\n%s %s %d\n%s %s %d", one.Value, one.Stdout, one.Usage.Fuel, two.Value, two.Stdout, two.Usage.Fuel)
			}
			spec.Deterministic = &sandbox.Deterministic{Seed: 43, Clock: spec.Deterministic.Clock}
			if other := run(spec); string(other.Value) == string(one.Value) {
				t.Error("another seed gives the same value")
			}
			spec.Deterministic = nil
			if a, b := run(spec), run(spec); string(a.Value) == string(b.Value) {
				t.Error("without a seed two calls get the same randomness")
			}
		})
	}
}

// TestSameImage: a guest boots to the same image each time and everywhere, so
// that a deterministic call gives the same on another machine too.
func TestSameImage(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the guests")
	}
	for name, box := range map[string]*wasm.Engine{"python": python(t), "js": javaScript(t)} {
		fresh, err := runtime.OpenSandbox(t.Context(), runtime.SandboxConfig{Guest: name})
		if err != nil {
			t.Fatal(err)
		}
		if a, b := box.Info().ImageDigest, fresh.Info().ImageDigest; a != b {
			t.Errorf("two images of %s: %s and %s", name, a, b)
		}
		if err := fresh.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestBusy(t *testing.T) {
	box := python(t)
	const calls = 500
	var busy, done, other atomic.Int64
	var wg sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range calls {
		wg.Go(func() {
			r, err := box.Run(ctx, sandbox.Spec{Code: "import time\ntime.sleep(600)", Limits: sandbox.Limits{Timeout: time.Hour}})
			switch {
			case err == nil && r.Status == sandbox.StatusBusy:
				if busy.Add(1) == 1 {
					cancel()
				}
			case err == nil && r.Status == sandbox.StatusCancelled:
				done.Add(1)
			default:
				other.Add(1)
			}
		})
	}
	wg.Wait()
	if busy.Load() == 0 || busy.Load()+done.Load() != calls {
		t.Errorf("%d busy, %d cancelled, %d other of %d", busy.Load(), done.Load(), other.Load(), calls)
	}
	sandboxtest.CheckAlive(t, box)
}

func TestClosed(t *testing.T) {
	box, err := openGuest(t.Context(), "python")
	if err != nil {
		t.Fatal(err)
	}
	if err := box.Close(); err != nil {
		t.Fatal(err)
	}
	if err := box.Close(); err != nil {
		t.Fatal("the second Close:", err)
	}
	if _, err := box.Run(t.Context(), sandbox.Spec{Code: "1"}); !errors.Is(err, sandbox.ErrClosed) {
		t.Errorf("Run after Close: %v", err)
	}
}

// TestParallel: calls at the same time do not see each other.
func TestParallel(t *testing.T) {
	box := python(t)
	var wg sync.WaitGroup
	for caller := range 8 {
		wg.Go(func() {
			for i := range 50 {
				want := caller*1000 + i
				r, err := box.Run(t.Context(), sandbox.Spec{
					Code:    "import builtins, os\nseen = getattr(builtins, 'mark', None), os.listdir('/tmp')\nbuiltins.mark = n\nopen(f'/tmp/{n}', 'w').close()\nprint(n)\n[n, seen]",
					Globals: map[string]any{"n": want},
				})
				wantValue := fmt.Sprintf(`[%d,[null,["out"]]]`, want) // the directory for files to hand back is always there
				if err != nil || string(r.Value) != wantValue || string(r.Stdout) != fmt.Sprintln(want) {
					t.Errorf("value %s, stdout %q, want %s; status %q, %v", r.Value, r.Stdout, wantValue, r.Status, err)
					return
				}
			}
		})
	}
	wg.Wait()
}
