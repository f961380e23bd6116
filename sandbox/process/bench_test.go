//go:build linux && (amd64 || arm64)

package process

import (
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/mayfly-run/mayfly/sandbox"
)

// BenchmarkLaunch is a call from its start to its end, for a program that does
// nothing and for an interpreter, beside the same program started without
// anything around it and by bubblewrap where that is installed.
func BenchmarkLaunch(b *testing.B) {
	for _, heap := range []int{0, 1 << 30} {
		name := "small host"
		ballast := make([]byte, heap)
		if heap > 0 {
			name = "1 GiB host"
			for i := 0; i < len(ballast); i += 4096 {
				ballast[i] = 1
			}
		}
		b.Run(name, func(b *testing.B) {
			b.Run("true", func(b *testing.B) { benchLaunch(b, "/bin/true") })
			b.Run("python", func(b *testing.B) { benchLaunch(b, "/usr/bin/python3", "-I", "-c", "pass") })
		})
		runtime.KeepAlive(ballast)
	}
}

func benchLaunch(b *testing.B, program string, args ...string) {
	if firstProgram([]string{program}) == "" {
		b.Skip("not installed")
	}
	libraries, read := SystemLibraries()
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			if err := exec.Command(program, args...).Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, tier := range tiers {
		b.Run(tier.name, func(b *testing.B) {
			spec := Spec{Command: program, Args: args, Exec: libraries, Read: read, Namespaces: tier.mode, Limits: Limits{Timeout: time.Minute}}
			for b.Loop() {
				if r, err := Run(b.Context(), spec); err != nil || r.Status != sandbox.StatusOK {
					b.Fatal(err, r.Error)
				}
			}
		})
	}
	b.Run("bubblewrap", func(b *testing.B) {
		wrap, err := exec.LookPath("bwrap")
		if err != nil {
			b.Skip("not installed")
		}
		line := []string{"--unshare-all", "--die-with-parent", "--new-session", "--clearenv", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"}
		for _, path := range append(append([]string{program}, libraries...), read...) {
			line = append(line, "--ro-bind", path, path)
		}
		line = append(append(line, "--", program), args...)
		for b.Loop() {
			if out, err := exec.Command(wrap, line...).CombinedOutput(); err != nil {
				b.Fatalf("%v: %s", err, out)
			}
		}
	})
}
