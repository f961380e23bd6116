package measure

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// systemPython is where a distribution has its own python3.
const systemPython = "/usr/bin/python3"

// FindPython gives the machine's python3: the distribution's own, or the
// interpreter itself behind whatever wrapper is on the PATH, since a wrapper
// would make the comparison flattering.
func FindPython(ctx context.Context) (string, error) {
	if _, err := os.Stat(systemPython); err == nil {
		return systemPython, nil
	}
	out, err := exec.CommandContext(ctx, "python3", "-I", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		return "", fmt.Errorf("find python3: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// Process runs a program to its end and gives the wall time in milliseconds
// and what it printed.
func Process(ctx context.Context, stdin []byte, program string, args ...string) (ms float64, out string, err error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdin = bytes.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	start := time.Now()
	text, err := cmd.Output()
	ms = Millis(time.Since(start))
	if err != nil {
		return 0, "", fmt.Errorf("%s: %w: %s", program, err, stderr.String())
	}
	return ms, string(text), nil
}
