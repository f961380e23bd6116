package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mayfly-run/mayfly/guests"
	"github.com/mayfly-run/mayfly/internal/variant"
	"github.com/mayfly-run/mayfly/sandbox/wasm"
)

func TestExpectationsFile(t *testing.T) {
	expected, err := parseExpectations(expectations)
	if err != nil {
		t.Fatal(err)
	}
	for k, reason := range expected {
		if len(reason) < 10 {
			t.Errorf("%s: %q is no reason", k, reason)
		}
	}
}

func TestParseExpectations(t *testing.T) {
	got, err := parseExpectations("# comment\n\ntest_a:: # all of it\ntest_a::C.test (x) # no net\ntest_b::D.t # why # not\n")
	want := map[key]string{{"test_a", ""}: "all of it", {"test_a", "C.test (x)"}: "no net", {"test_b", "D.t"}: "why # not"}
	if err != nil || !cmp.Equal(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
	for name, text := range map[string]string{
		"no reason":     "test_a::C.t\n",
		"empty reason":  "test_a::C.t #  \n",
		"no module":     "::C.t # why\n",
		"no separator":  "test_a # why\n",
		"twice":         "test_a::C.t # why\ntest_a::C.t # why\n",
		"not in order":  "test_b::C.t # why\ntest_a::C.t # why\n",
		"other comment": "test_a::C.t // why\n",
	} {
		if _, err := parseExpectations(text); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

func TestCompare(t *testing.T) {
	units := []*unit{
		{Module: "test_a", Outcome: passed, Tests: []test{
			{"C.good", passed, ""}, {"C.known", failed, "as ever"}, {"C.new", failed, "oops"}, {"C.fixed", passed, ""}, {"C.out", skipped, "not here"},
		}},
		{Module: "test_broken", Outcome: failed, Reason: "import"},
		{Module: "test_known", Outcome: failed, Reason: "import"},
		{Module: "test_nothing", Outcome: skipped, Reason: "requires subprocess"},
	}
	expected := map[key]string{
		{"test_a", "C.known"}: "r", {"test_a", "C.fixed"}: "r", {"test_a", "C.out"}: "r", {"test_a", "C.gone"}: "r",
		{"test_known", ""}: "r", {"test_nothing", ""}: "r", {"test_not_run", "C.x"}: "r",
	}
	want := []difference{
		{"test_a::C.fixed", passed, "r"},
		{"test_a::C.gone", "gone", "r"},
		{"test_a::C.new", failed, "oops"},
		{"test_a::C.out", skipped, "r"},
		{"test_broken::", failed, "import"},
		{"test_nothing::", skipped, "r"},
	}
	if diff := cmp.Diff(want, compare(units, expected)); diff != "" {
		t.Error(diff)
	}
	if got := sum(units); got.Run != 6 || got.Passed != 2 || got.Failed != 4 || got.Skipped != 1 || got.ModulesFailed != 2 || got.ModulesSkipped != 1 {
		t.Errorf("totals %+v", got)
	}
}

func TestShards(t *testing.T) {
	modules := []string{"test_a", "test_b", "test_p.test_x", "test_p.test_y", "test_q"}
	var all []string
	for i := range 3 {
		part, err := choose(modules, nil, shard{i + 1, 3})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, part...)
	}
	slices.Sort(all)
	if !cmp.Equal(all, modules) {
		t.Errorf("all shards together are %v", all)
	}
	got, err := choose(modules, []string{"test_p", "test_b", "test_p.test_x"}, shard{1, 1})
	if want := []string{"test_b", "test_p.test_x", "test_p.test_y"}; err != nil || !cmp.Equal(got, want) {
		t.Errorf("chosen are %v, %v", got, err)
	}
	if _, err := choose(modules, []string{"test_c"}, shard{1, 1}); err == nil {
		t.Error("a module that is not there is taken")
	}
	for _, bad := range []string{"", "0/2", "3/2", "1/0", "1", "1/2/3", "a/b", "-1/2", "1/2 "} {
		if err := new(shard).Set(bad); err == nil {
			t.Errorf("shard %q is taken", bad)
		}
	}
}

func TestResultsGoOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "results.jsonl")
	s := subject{Guest: "g", Tests: "t", Runner: "r", Slow: "1m"}
	open := func(s subject, fresh bool) *results {
		t.Helper()
		r, err := openResults(path, s, fresh)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.file.Close() })
		return r
	}
	first := &unit{Module: "test_a", Outcome: passed, Tests: []test{{"C.x", failed, "line\nline"}}, Instances: 2, Seconds: 1.5}
	second := &unit{Module: "test_b", Outcome: skipped, Reason: "no"}
	r := open(s, false)
	for _, u := range []*unit{first, second} {
		if err := r.add(u); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(map[string]*unit{"test_a": first, "test_b": second}, open(s, false).units); diff != "" {
		t.Error(diff)
	}
	// What a killed run has left unfinished does not count.
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	file.WriteString(`{"module":"test_c","outc`)
	file.Close()
	if diff := cmp.Diff(map[string]*unit{"test_a": first, "test_b": second}, open(s, false).units); diff != "" {
		t.Error(diff)
	}
	if err := open(s, false).add(&unit{Module: "test_c", Outcome: passed}); err != nil {
		t.Fatal(err)
	}
	if got := open(s, false).units; len(got) != 3 {
		t.Errorf("after a cut line and one more unit there are %d", len(got))
	}
	other := s
	other.Guest = "another"
	if got := open(other, false).units; len(got) != 0 {
		t.Errorf("another guest inherits %d units", len(got))
	}
	open(s, false).add(first)
	if got := open(s, true).units; len(got) != 0 {
		t.Errorf("a fresh run inherits %d units", len(got))
	}
}

// library is what the runner needs of CPython's test package.
var library = fstest.MapFS{
	"Lib/test/__init__.py":                    {},
	"Lib/test/support/__init__.py":            {Data: []byte("def record_original_stdout(stream): pass\n")},
	"Lib/test/support/os_helper.py":           {Data: []byte("FS_NONASCII = 'æ'\n")},
	"Lib/test/test_outcomes.py":               {Data: []byte(outcomes)},
	"Lib/test/test_deaths.py":                 {Data: []byte(deaths)},
	"Lib/test/test_slow.py":                   {Data: []byte(slowOne)},
	"Lib/test/test_absent.py":                 {Data: []byte("import unittest\nraise unittest.SkipTest('not here')\n")},
	"Lib/test/test_broken.py":                 {Data: []byte("import no_such_module\n")},
	"Lib/test/test_fatal.py":                  {Data: []byte("bytearray(3 * 2 ** 29)\n")},
	"Lib/test/test_fixtures.py":               {Data: []byte(fixtures)},
	"Lib/test/test_package/__init__.py":       {Data: []byte("import os, unittest\ndef load_tests(loader, tests, pattern):\n    return loader.discover(os.path.dirname(__file__), top_level_dir='/mnt/Lib')\n")},
	"Lib/test/test_package/test_in_there.py":  {Data: []byte("import unittest\nclass T(unittest.TestCase):\n    def test_it(self): self.assertTrue(__file__.startswith('/mnt/Lib/test/'))\n")},
	"Lib/test/test_package/data/not_a_test":   {Data: []byte("data")},
	"Lib/test/test_asyncio/__init__.py":       {},
	"Lib/test/test_asyncio/test_something.py": {},
}

const outcomes = `
import doctest, sys, unittest

class T(unittest.TestCase):
    def test_error(self): raise KeyError("key")
    def test_exit(self): sys.exit(3)
    @unittest.expectedFailure
    def test_expected(self): self.fail()
    def test_fail(self): self.assertEqual(1, 2)
    def test_mixed(self):
        for i in range(4):
            with self.subTest(i=i):
                self.assertLess(i, 2)
    def test_pass(self): print("x" * 100)
    @unittest.skip("reason one")
    def test_skip(self): pass
    def test_skip_inside(self): self.skipTest("reason two")
    def test_skipped_parts(self):
        with self.subTest(): self.skipTest("reason three")
    def test_surrogate(self): self.fail("\udc80")
    @unittest.expectedFailure
    def test_unexpected(self): pass

def twice():
    """
    >>> 1 + 1
    2
    """

def load_tests(loader, tests, pattern):
    tests.addTest(doctest.DocTestSuite())
    tests.addTest(T("test_pass"))
    return tests
`

const deaths = `
import unittest

class T(unittest.TestCase):
    def test_1(self): pass
    def test_2_memory(self):
        with self.assertRaises(MemoryError): bytearray(3 * 2 ** 29)
    def test_3_abort(self):
        import faulthandler
        faulthandler._sigabrt()
    def test_4(self): pass
    def test_5_abort(self): self.test_3_abort()
    def test_6(self): pass
`

const slowOne = `
import unittest

class T(unittest.TestCase):
    def test_it(self):
        while True: pass
`

const fixtures = `
import unittest

class Bad(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise OSError("no set-up")
    def test_a(self): pass
    def test_b(self): pass

class Later(unittest.TestCase):
    @classmethod
    def tearDownClass(cls): raise OSError("no tear-down")
    def test_a(self): pass

class Off(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise unittest.SkipTest("not today")
    def test_a(self): pass
`

func TestGuest(t *testing.T) {
	guest, err := guests.Python()
	if err != nil {
		t.Skip("the guest is not built: ", err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	engine, err := wasm.New(t.Context(), wasm.Config{
		Guest: guest, CacheDir: filepath.Join(cache, "mayfly"), Variant: variant.Variant{Files: library},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	tests := []struct {
		module    string
		slow      time.Duration
		outcome   string
		reason    string // a part of it
		instances int
		want      []test // their reasons: a part
	}{
		{"test_outcomes", time.Hour, passed, "", 1, []test{
			{"T.test_error", failed, "KeyError: 'key'"},
			{"T.test_exit", failed, "SystemExit: 3"},
			{"T.test_expected", passed, ""},
			{"T.test_fail", failed, "AssertionError: 1 != 2"},
			{"T.test_mixed", failed, "2 not less than 2"},
			{"T.test_pass", passed, ""},
			{"T.test_skip", skipped, "reason one"},
			{"T.test_skip_inside", skipped, "reason two"},
			{"T.test_skipped_parts", skipped, "reason three"},
			{"T.test_surrogate", failed, `\udc80`},
			{"T.test_unexpected", failed, "unexpected success"},
			{"twice", passed, ""},
			{"T.test_pass (2)", passed, ""},
		}},
		{"test_deaths", time.Hour, passed, "", 3, []test{
			{"T.test_1", passed, ""},
			{"T.test_2_memory", passed, ""},
			{"T.test_3_abort", failed, "the instance ended"},
			{"T.test_4", passed, ""},
			{"T.test_5_abort", failed, "the instance ended"},
			{"T.test_6", passed, ""},
		}},
		{"test_absent", time.Hour, skipped, "not here", 1, nil},
		{"test_broken", time.Hour, failed, "ModuleNotFoundError: No module named 'no_such_module'", 1, nil},
		{"test_fatal", time.Hour, failed, "MemoryError", 1, nil},
		{"test_fixtures", time.Hour, passed, "", 1, []test{
			{"Later.test_a", passed, ""},
			{"Bad.test_a", failed, "no set-up"},
			{"Bad.test_b", failed, "no set-up"},
			{"Off.test_a", skipped, "not today"},
			{"tearDownClass (test.test_fixtures.Later)", failed, "no tear-down"},
		}},
		{"test_slow", 15 * time.Second, passed, "", 2, []test{{"T.test_it", failed, "no end within 15s"}}},
		{"test_package", time.Hour, passed, "", 1, []test{{"test_in_there.T.test_it", passed, ""}}},
	}
	for _, tt := range tests {
		t.Run(tt.module, func(t *testing.T) {
			if tt.slow < time.Hour && testing.Short() {
				t.Skip("waits for a limit of its own")
			}
			u, err := runUnit(context.Background(), engine, tt.module, tt.slow)
			if err != nil {
				t.Fatal(err)
			}
			if u.Outcome != tt.outcome || !strings.Contains(u.Reason, tt.reason) || u.Instances != tt.instances {
				t.Errorf("the unit %s after %d instances: %s; want %s after %d: …%s…", u.Outcome, u.Instances, u.Reason, tt.outcome, tt.instances, tt.reason)
			}
			for i, got := range u.Tests {
				if i < len(tt.want) && strings.Contains(got.Reason, tt.want[i].Reason) {
					u.Tests[i].Reason = tt.want[i].Reason
				}
			}
			if diff := cmp.Diff(tt.want, u.Tests); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestModules(t *testing.T) {
	got, err := modulesIn(library, "Lib/test", "")
	slices.Sort(got)
	want := []string{"test_absent", "test_asyncio.test_something", "test_broken", "test_deaths", "test_fatal", "test_fixtures", "test_outcomes", "test_package", "test_slow"}
	if err != nil || !cmp.Equal(got, want) {
		t.Errorf("modules %v, %v, want %v", got, err, want)
	}
	if _, err := testModules(library); err == nil {
		t.Error("a handful of modules is taken for all of CPython's")
	}
}
