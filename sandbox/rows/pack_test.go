package rows

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
)

func zipped(t testing.TB, text string) string {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func zstandard(t testing.TB, text string) string {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(w.EncodeAll([]byte(text), nil))
}

func TestPacked(t *testing.T) {
	const csv, lines = "a;b\n1;x\n", "{\"a\":1,\"b\":\"x\"}\n"
	want := table(names("a", "b"), []any{int64(1), "x"})
	for _, c := range []struct {
		name, text string
		opts       Options
		format     Format
	}{
		{"gzip", zipped(t, csv), Options{}, CSV},
		{"gzip, by its name", zipped(t, lines), Options{Name: "x.jsonl.gz"}, JSONLines},
		{"gzip, in parts", zipped(t, "a;b\n") + zipped(t, "1;x\n"), Options{}, CSV},
		{"zstd", zstandard(t, csv), Options{Name: "X.CSV.ZST"}, CSV},
		{"zstd, without a name", zstandard(t, lines), Options{}, JSONLines},
		{"zstd under a wrong name", zstandard(t, csv), Options{Name: "x.csv"}, CSV},
		{"with a byte order mark", zipped(t, "\ufeff"+csv), Options{}, CSV},
	} {
		got, err := Read(strings.NewReader(c.text), c.opts)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if diff := cmp.Diff(want, got.Table, cmpRows); diff != "" || got.Format != c.format {
			t.Errorf("%s is %s:\n%s", c.name, got.Format, diff)
		}
	}
}

func TestPackedRefusals(t *testing.T) {
	bomb := "a\n" + strings.Repeat("0\n", 4<<20)
	zeros := zipped(t, bomb)
	if int64(len(zeros)) > 1<<20 {
		t.Fatalf("the bomb has %d bytes", len(zeros))
	}
	if _, err := Read(strings.NewReader(zeros), Options{MaxBytes: 16 << 20}); err != nil {
		t.Fatal(err) // the control: with room it is a table
	}
	for _, c := range []struct {
		name, text string
		code       Code
	}{
		{"a gzip bomb", zeros, TooLarge},
		{"a zstd bomb", zstandard(t, bomb), TooLarge},
		{"packed twice", zipped(t, zipped(t, "a\n1\n")), Encoding},
		{"packed twice, both ways", zstandard(t, zipped(t, "a\n1\n")), Encoding},
		{"gzip that is cut", zipped(t, "a,b\n1,2\n")[:15], Syntax},
		{"only the start of gzip", gzipMagic, Syntax},
		{"gzip with a wrong sum", zipped(t, "a\n1\n")[:20] + "12345678", Syntax},
		{"only the start of zstd", zstdMagic, Syntax},
		{"zstd that wants a window of 2 GiB", zstdMagic + "\x00\xa8" + strings.Repeat("\x00", 20), Syntax},
	} {
		got, err := Read(strings.NewReader(c.text), Options{MaxBytes: 1 << 20})
		if e, ok := errors.AsType[*Error](err); !ok || e.Code != c.code {
			t.Errorf("%s: %d rows, %v; want %s", c.name, got.Len, err, c.code)
		}
	}
}

// endless is a CSV file of any size that takes no memory, and counts what is read
// of it.
type endless struct{ read, most int64 }

func (e *endless) Read(p []byte) (int, error) {
	if e.read >= e.most {
		return 0, io.EOF
	}
	n := 0
	for n < len(p) && e.read < e.most {
		p[n] = "a,b\n"[e.read%4]
		if e.read >= 4 {
			p[n] = "1,2\n"[e.read%4]
		}
		n++
		e.read++
	}
	return n, nil
}

// TestAGigabyteIsRefused: a stream is read to the limit and no further.
func TestAGigabyteIsRefused(t *testing.T) {
	const limit = 8 << 20
	e := &endless{most: 1 << 30}
	_, err := Read(e, Options{Format: CSV, MaxBytes: limit})
	if got, ok := errors.AsType[*Error](err); !ok || got.Code != TooLarge {
		t.Errorf("a gigabyte: %v", err)
	}
	if e.read > limit+(1<<20) {
		t.Errorf("%d bytes were read of it, the limit is %d", e.read, int64(limit))
	}
	got, err := Read(&endless{most: 1 << 20}, Options{Format: CSV, MaxBytes: limit})
	if err != nil || got.Len != 1<<18-1 {
		t.Errorf("a megabyte: %d rows, %v", got.Len, err)
	}
}
