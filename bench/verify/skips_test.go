package main

import (
	"strings"
	"testing"
)

func TestSkipsAreListed(t *testing.T) {
	if _, err := readSkips(skipsText); err != nil {
		t.Fatal(err)
	}
	c, err := parseClaim("x\ty\tskips")
	if err != nil {
		t.Fatal(err)
	}
	listed := testEnd{"runtime", "TestCrashChild", "skip"}
	for _, tt := range []struct {
		name  string
		ended map[string]error
		tests []testEnd
		want  verdict
	}{
		{"not run", nil, nil, notRun},
		{"listed", map[string]error{"test": nil}, []testEnd{listed}, holds},
		{"of another package", map[string]error{"test": nil}, []testEnd{listed, {"guests", "TestCrashChild", "skip"}}, fails},
		{"not listed", map[string]error{"test": nil}, []testEnd{{"guests", "TestEmbedded", "skip"}}, fails},
	} {
		f := &evidenceFound{ended: tt.ended, tests: tt.tests}
		if got := f.judge(c); got.Verdict != tt.want {
			t.Errorf("%s: %s %v, want %s", tt.name, got.Verdict, got.Details, tt.want)
		}
	}
}

func TestReadSkips(t *testing.T) {
	for text, want := range map[string]string{
		"a\tb":         "skips.tsv:1",
		"#\na\t(\tc":   "skips.tsv:2",
		"a\tb\t":       "reason",
		"a\t^T\twhy\n": "",
	} {
		_, err := readSkips(text)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
