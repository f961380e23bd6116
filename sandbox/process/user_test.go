//go:build linux && (amd64 || arm64)

package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
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

// Whoever holds the names of many users keeps no call from having one.
func TestUsersHeldByOthers(t *testing.T) {
	for uid := firstUser; uid < firstUser+othersInOrder+10; uid++ {
		held, err := holdUser(uid)
		if err == nil {
			defer func() { _ = unix.Close(held) }()
		} else if !errors.Is(err, unix.EADDRINUSE) {
			t.Fatal(err)
		}
	}
	uid, done, err := new(userPool).take()
	if err != nil || uid < firstUser+othersInOrder || uid >= firstUser+manyUsers {
		t.Fatalf("user %d, %v", uid, err)
	}
	done()
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

// secondHostVariable is set where this program was started again as a second host.
const secondHostVariable = "MAYFLY_TEST_HOST"

// TestSecondHost is no test: it is a host that says which user its call has.
func TestSecondHost(t *testing.T) {
	if os.Getenv(secondHostVariable) == "" {
		t.Skip("this is the first host")
	}
	fmt.Println("its user:", run(t, Spec{Limits: Limits{Timeout: time.Minute}}, "silent").Enforced.UID)
}

// Calls of two hosts have two users too, for as long as they run; afterwards the
// first one is free again.
func TestUserOfAnotherHost(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("the users of calls are for root to give")
	}
	mine, done, err := users.take()
	if err != nil {
		t.Fatal(err)
	}
	theirs := func() int {
		host := exec.Command("/proc/self/exe", "-test.run=^TestSecondHost$")
		host.Env = []string{secondHostVariable + "=1", victimVariable + "=" + victim, "PATH=/usr/bin:/bin"}
		out, err := host.CombinedOutput()
		_, text, found := strings.Cut(string(out), "its user: ")
		text, _, _ = strings.Cut(text, "\n")
		uid, perr := strconv.Atoi(text)
		if err != nil || !found || perr != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return uid
	}
	if got := theirs(); got == mine || got < firstUser {
		t.Errorf("the user of another host's call is %d, of this one's %d", got, mine)
	}
	if fd, err := holdUser(mine); !errors.Is(err, unix.EADDRINUSE) {
		t.Errorf("user %d can be held twice: %d, %v", mine, fd, err)
	}
	done()
	// Calls of yet another host may have it for a while.
	if !eventually(func() bool {
		fd, err := holdUser(mine)
		return err == nil && unix.Close(fd) == nil
	}) {
		t.Errorf("user %d does not become free", mine)
	}
}
