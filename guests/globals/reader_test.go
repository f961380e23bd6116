package globals

import (
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math"
	"math/big"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/mayfly-run/mayfly/sandbox"
)

// reader is a Python process that reads the form with code of its own.
type reader struct {
	in  io.Writer
	out io.Reader
}

func startReader(tb testing.TB) *reader {
	tb.Helper()
	path, err := exec.LookPath("python3")
	if err != nil {
		tb.Skip("no python3 here to read the form independently:", err)
	}
	cmd := exec.Command(path, "-I", "testdata/read_globals.py")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			tb.Error("the reader ended badly:", err)
		}
	})
	return &reader{in: in, out: out}
}

// read gives the canonical text of what data holds.
func (r *reader) read(tb testing.TB, data []byte) string {
	tb.Helper()
	message := binary.LittleEndian.AppendUint32(nil, uint32(len(data)))
	if _, err := r.in.Write(append(message, data...)); err != nil {
		tb.Fatal(err)
	}
	head := make([]byte, 4)
	if _, err := io.ReadFull(r.out, head); err != nil {
		tb.Fatal(err)
	}
	answer := make([]byte, binary.LittleEndian.Uint32(head))
	if _, err := io.ReadFull(r.out, answer); err != nil {
		tb.Fatal(err)
	}
	return string(answer)
}

// canonical is the text that the reader should give for v.
func canonical(v any) string {
	switch v := v.(type) {
	case nil:
		return "n"
	case bool:
		return map[bool]string{true: "t", false: "f"}[v]
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, uintptr, *big.Int:
		return fmt.Sprintf("i%d", v)
	case float64:
		return fmt.Sprintf("d%016x", math.Float64bits(v))
	case string:
		return fmt.Sprintf("s%x", v)
	case []byte:
		return fmt.Sprintf("b%x", v)
	case []any:
		var parts []string
		for _, item := range v {
			parts = append(parts, canonical(item))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case map[string]any:
		var parts []string
		for _, key := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, canonical(key)+"="+canonical(v[key]))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case ordered:
		var parts []string
		for i, key := range v.keys {
			parts = append(parts, canonical(key)+"="+canonical(v.values[i]))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case *sandbox.Table:
		var parts []string
		for _, row := range v.Rows {
			parts = append(parts, canonical(ordered{v.Columns, row}))
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	panic(fmt.Sprintf("no canonical text for %T", v))
}

// ordered is a dict whose keys are in an order of their own, as in JSON text.
type ordered struct {
	keys   []string
	values []any
}
