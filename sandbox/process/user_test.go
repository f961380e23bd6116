//go:build linux && (amd64 || arm64)

package process

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// ordinary is a user without any rights.
const ordinary = 61500

// Everything that root was shown above holds for an ordinary user too: the
// tests run once more as one.
func TestOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("this is an ordinary user already")
	}
	if testing.Short() {
		t.Skip("takes as long as everything else together")
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^Test", "-test.skip=^TestOrdinaryUser$", "-test.short", "-test.v")
	cmd.Dir = "/"
	cmd.Env = []string{victimVariable + "=" + victim, "PATH=/usr/bin:/bin", "TMPDIR=/tmp"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ordinary, Gid: ordinary}}
	out, err := cmd.CombinedOutput()
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "--- SKIP") {
			t.Log(strings.TrimSpace(line))
		}
	}
	if err != nil {
		t.Errorf("%v:\n%s", err, failures(string(out)))
	}
}

// failures leaves out what passed.
func failures(out string) string {
	var b strings.Builder
	for line := range strings.Lines(out) {
		trimmed := strings.TrimSpace(line)
		if !strings.HasPrefix(trimmed, "=== ") && !strings.HasPrefix(trimmed, "--- PASS") && !strings.HasPrefix(trimmed, "--- SKIP") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// Only root chooses the user.
func TestChosenUser(t *testing.T) {
	r, err := Run(t.Context(), Spec{Command: victim, Args: []string{"state"}, User: &User{UID: 61501, GID: 61502}})
	if err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() != 0 {
		if r.Error == nil || r.Error.Path != "/user" {
			t.Errorf("status %s, %+v; want a refusal of /user", r.Status, r.Error)
		}
		return
	}
	if text := string(r.Value); !strings.Contains(text, `"uid":61501`) || !strings.Contains(text, `"gid":61502`) || r.Enforced.UID != 61501 {
		t.Errorf("user %d: %s", r.Enforced.UID, text)
	}
}
