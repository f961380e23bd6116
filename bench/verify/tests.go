package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// testEnd is how one test or subtest ended: pass, fail or skip.
type testEnd struct {
	pkg, name, action string
}

// readTests reads what go test -json prints. A package that failed without a
// test, such as one that does not build, counts as a failed test without a name.
func readTests(r io.Reader) ([]testEnd, error) {
	var ends []testEnd
	failed := map[string]bool{}
	for d := json.NewDecoder(r); ; {
		var e struct{ Action, Package, ImportPath, Test string }
		if err := d.Decode(&e); errors.Is(err, io.EOF) {
			return ends, nil
		} else if err != nil {
			return nil, fmt.Errorf("output of go test -json: %w", err)
		}
		switch e.Action {
		case "pass", "fail", "skip":
		default:
			continue
		}
		if e.Test == "" && (e.Action != "fail" || failed[e.Package]) {
			continue
		}
		failed[e.Package] = failed[e.Package] || e.Action == "fail"
		ends = append(ends, testEnd{pkg: strings.TrimPrefix(e.Package, modulePath+"/"), name: e.Test, action: e.Action})
	}
}

const modulePath = "github.com/mayfly-run/mayfly"
