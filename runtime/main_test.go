package runtime_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/sandbox/wasm"
)

func TestMain(m *testing.M) {
	if code, ours := runtime.Main(); ours {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// The engine is shared by the tests of this package: making one takes longer
// than most of them.
var (
	sharedPython     = sync.OnceValues(func() (*wasm.Engine, error) { return openGuest(context.Background(), "python") })
	sharedJavaScript = sync.OnceValues(func() (*wasm.Engine, error) { return openGuest(context.Background(), "js") })
)

func openGuest(ctx context.Context, guest string) (*wasm.Engine, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	return runtime.OpenSandbox(ctx, runtime.SandboxConfig{
		Guest: guest, CacheDir: filepath.Join(dir, "mayfly"),
		Progress: func(line string) { fmt.Fprintln(os.Stderr, line) },
	})
}

// python gives the shared engine. A missing guest fails the test: without it
// nothing here would be tested.
func python(t testing.TB) *wasm.Engine {
	t.Helper()
	e, err := sharedPython()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// javaScript likewise gives the other guest.
func javaScript(t testing.TB) *wasm.Engine {
	t.Helper()
	e, err := sharedJavaScript()
	if err != nil {
		t.Fatal(err)
	}
	return e
}
