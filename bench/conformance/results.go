package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"sync"

	"github.com/go-json-experiment/json"
)

// subject is what was tested, by what. Results of another subject are of no
// use to a run that goes on.
type subject struct {
	Guest  string `json:"guest"`  // sha256 of the module
	Tests  string `json:"tests"`  // the name of the directory that they came from
	Runner string `json:"runner"` // sha256 of run.py and the limits
	Slow   string `json:"slow"`   // how long one test may take
}

// results is a file of units that have run, one a line behind a line with the
// subject, so that an interrupted run can go on.
type results struct {
	mu    sync.Mutex
	file  *os.File
	units map[string]*unit
}

// openResults reads what an earlier run has left, or starts a new file when
// there is none, or one of another subject, or fresh is set.
func openResults(path string, s subject, fresh bool) (r *results, err error) {
	r = &results{units: make(map[string]*unit)}
	if !fresh {
		if whole, err := r.read(path, s); err == nil {
			return r, r.goOn(path, whole)
		}
	}
	clear(r.units)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	if r.file, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o644); err != nil {
		return nil, err
	}
	return r, r.write(s)
}

var errOther = errors.New("results of something else")

// read takes the units of an earlier run, and gives how many bytes of the file
// are whole lines.
func (r *results) read(path string, s subject) (whole int64, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	first := true
	for line := range bytes.Lines(text) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break // the run was killed while it wrote
		}
		if first {
			first = false
			var was subject
			if err := json.Unmarshal(line, &was); err != nil || was != s {
				return 0, errOther
			}
		} else {
			u := new(unit)
			if err := json.Unmarshal(line, u); err != nil {
				return 0, err
			}
			r.units[u.Module] = u
		}
		whole += int64(len(line))
	}
	if first {
		return 0, errOther
	}
	return whole, nil
}

// goOn opens the file of an earlier run, to write behind its whole lines.
func (r *results) goOn(path string, whole int64) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	r.file = file
	return file.Truncate(whole)
}

// add keeps a unit.
func (r *results) add(u *unit) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.units[u.Module] = u
	return r.write(u)
}

func (r *results) write(line any) error {
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	_, err = r.file.Write(append(text, '\n'))
	return err
}
