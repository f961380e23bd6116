package main

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// split are the packages whose modules CPython's own runner takes one by one;
// any other package is one unit, as its __init__ may choose what is run.
var split = map[string]bool{
	"test_asyncio": true, "test_concurrent_futures": true, "test_doctests": true, "test_future_stmt": true,
	"test_gdb": true, "test_inspect": true, "test_pydoc": true, "test_multiprocessing_fork": true,
	"test_multiprocessing_forkserver": true, "test_multiprocessing_spawn": true,
}

// testModules lists the modules of Lib/test that hold tests, in the order of
// their names.
func testModules(files fs.FS) ([]string, error) {
	modules, err := modulesIn(files, "Lib/test", "")
	if err != nil {
		return nil, err
	}
	if len(modules) < 100 {
		return nil, fmt.Errorf("there are only %d test modules; this is not CPython's Lib/test", len(modules))
	}
	slices.Sort(modules)
	return modules, nil
}

func modulesIn(files fs.FS, dir, prefix string) (modules []string, err error) {
	entries, err := fs.ReadDir(files, dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		base, isPython := strings.CutSuffix(e.Name(), ".py")
		if !strings.HasPrefix(base, "test_") || (!isPython && !e.IsDir()) {
			continue
		}
		name := prefix + base
		if !split[name] {
			modules = append(modules, name)
			continue
		}
		inner, err := modulesIn(files, path.Join(dir, base), name+".")
		if err != nil {
			return nil, err
		}
		modules = append(modules, inner...)
	}
	return modules, nil
}

// choose gives the modules of one shard that are wanted: those in only, or all
// if it is empty. A name in only may also be that of a package.
func choose(modules, only []string, s shard) ([]string, error) {
	if len(only) > 0 {
		all := modules
		modules = nil
		for _, want := range only {
			fit := slices.DeleteFunc(slices.Clone(all), func(m string) bool { return m != want && !strings.HasPrefix(m, want+".") })
			if len(fit) == 0 {
				return nil, fmt.Errorf("there is no test module %s", want)
			}
			modules = append(modules, fit...)
		}
		slices.Sort(modules)
		modules = slices.Compact(modules)
	}
	var mine []string
	for i, m := range modules {
		if i%s.of == s.index-1 {
			mine = append(mine, m)
		}
	}
	return mine, nil
}

// shard is one of a number of equal parts of the modules, counted from 1.
type shard struct{ index, of int }

func (s shard) String() string { return fmt.Sprintf("%d/%d", s.index, s.of) }

// Set implements flag.Value.
func (s *shard) Set(text string) error {
	var got shard
	if n, err := fmt.Sscanf(text, "%d/%d", &got.index, &got.of); n != 2 || err != nil || got.String() != text ||
		got.index < 1 || got.index > got.of {
		return fmt.Errorf("want INDEX/COUNT with an index from 1, such as 2/4")
	}
	*s = got
	return nil
}
