//go:build linux && (amd64 || arm64)

package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// victimVariable is set where this program was started again as another user,
// who cannot build: it holds the built victim.
const victimVariable = "MAYFLY_TEST_VICTIM"

// victim is the program that the tests run; see testdata/victim.
var victim string

func TestMain(m *testing.M) {
	if code, ours := Main(); ours {
		os.Exit(code)
	}
	if victim = os.Getenv(victimVariable); victim != "" {
		os.Exit(m.Run())
	}
	code, err := withVictim(m.Run)
	// Hosts that tests have killed leave groups, which the next host removes.
	if g, err := home(); err == nil {
		g.removeStale()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(code)
}

// withVictim builds the victim where every user can get at it.
func withVictim(run func() int) (code int, err error) {
	dir, err := os.MkdirTemp("", "victim")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.Chmod(dir, 0o755); err != nil {
		return 0, err
	}
	victim = filepath.Join(dir, "victim")
	build := exec.Command("go", "build", "-o", victim, "./testdata/victim")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("build the victim: %w\n%s", err, out)
	}
	return run(), nil
}
