package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// findPython gives the machine's python3: the interpreter itself, since what
// is on the PATH may be a slow wrapper around it.
func findPython(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "python3", "-I", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		return "", fmt.Errorf("find python3: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// process runs a program to its end and gives the wall time in milliseconds
// and what it printed.
func (b *bench) process(stdin []byte, program string, args ...string) (ms float64, out string, err error) {
	cmd := exec.CommandContext(b.ctx, program, args...)
	cmd.Stdin = bytes.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	start := time.Now()
	text, err := cmd.Output()
	ms = millis(time.Since(start))
	if err != nil {
		return 0, "", fmt.Errorf("%s: %w: %s", program, err, stderr.String())
	}
	return ms, string(text), nil
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
