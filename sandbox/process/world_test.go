//go:build linux && (amd64 || arm64)

package process

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// world is what attacks aim at: everything in it works for a program that is
// not confined.
type world struct {
	granted string // directory that the call may read and write
	outside string // directory that it may not, open to every user
	names   *strings.Replacer
}

// secret is what no call may see, and unchanged files hold.
const secret = "sentinel"

func newWorld(t *testing.T) *world {
	w := &world{granted: openDir(t), outside: openDir(t)}
	for _, name := range []string{"secret", "truncate", "remove", "chmod"} {
		path := filepath.Join(w.outside, name)
		if err := os.WriteFile(path, []byte(secret), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	w.names = strings.NewReplacer(
		"{granted}", w.granted, "{outside}", w.outside,
		"{tcp}", serve(t, "tcp", "127.0.0.1:0"),
		"{tcp6}", serve(t, "tcp", "[::1]:0"),
		"{udp}", receive(t, "udp", "127.0.0.1:0"),
		"{abstract}", serve(t, "unix", fmt.Sprintf("@mayfly-%d", time.Now().UnixNano())),
		"{socket}", serve(t, "unix", filepath.Join(w.outside, "stream")),
		"{socket inside}", serve(t, "unix", filepath.Join(w.granted, "stream")),
		"{datagrams}", receive(t, "unixgram", filepath.Join(w.outside, "datagrams")),
		"{pid}", fmt.Sprint(bystander(t)),
		"{shared}", fmt.Sprint(sharedMemory(t)),
		"{memory file}", memoryFile(t),
		"{free}", "127.0.0.1:0",
	)
	return w
}

// serve answers every connection with the secret.
func serve(t *testing.T, network, address string) string {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	open(t, network, address)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte(secret)) // whoever has gone does not want it
			_ = conn.Close()
		}
	}()
	return l.Addr().String()
}

func receive(t *testing.T, network, address string) string {
	t.Helper()
	conn, err := net.ListenPacket(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	open(t, network, address)
	return conn.LocalAddr().String()
}

// open lets every user connect to a socket that has a path.
func open(t *testing.T, network, address string) {
	t.Helper()
	if strings.HasPrefix(network, "unix") && address[0] == '/' {
		if err := os.Chmod(address, 0o777); err != nil {
			t.Fatal(err)
		}
	}
}

// bystander is another process of the same user.
func bystander(t *testing.T) int {
	t.Helper()
	cmd := exec.Command(victim, "hang")
	cmd.Env = []string{"SECRET=" + secret}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd.Process.Pid
}

// sharedMemory is a piece of memory that every process of the host can attach,
// with the secret in it.
func sharedMemory(t *testing.T) int {
	t.Helper()
	id, err := unix.SysvShmGet(int(time.Now().UnixNano()&0x7fffffff), 4096, unix.IPC_CREAT|unix.IPC_EXCL|0o666)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := unix.SysvShmCtl(id, unix.IPC_RMID, nil); err != nil {
			t.Error(err)
		}
	})
	b, err := unix.SysvShmAttach(id, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	copy(b, secret)
	if err := unix.SysvShmDetach(b); err != nil {
		t.Fatal(err)
	}
	return id
}

// memoryFile is a file in the host's shared memory, with the secret in it.
func memoryFile(t *testing.T) string {
	t.Helper()
	f, err := os.CreateTemp("/dev/shm", "mayfly-test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.Remove(f.Name()); err != nil {
			t.Error(err)
		}
	})
	_, err = f.WriteString(secret)
	if err := errors.Join(err, f.Chmod(0o666), f.Close()); err != nil {
		t.Fatal(err)
	}
	return f.Name()
}

// intact checks what no call may have changed.
func (w *world) intact(t *testing.T) {
	t.Helper()
	for _, name := range []string{"secret", "truncate", "remove", "chmod"} {
		text, err := os.ReadFile(filepath.Join(w.outside, name))
		if err != nil || string(text) != secret {
			t.Errorf("%s holds %q (%v)", name, text, err)
		}
	}
	for _, name := range []string{"new", "renamed"} {
		if _, err := os.Lstat(filepath.Join(w.outside, name)); err == nil {
			t.Errorf("%s was made", name)
		}
	}
}
