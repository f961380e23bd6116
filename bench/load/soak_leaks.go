package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// belongings are what a server has while it does nothing.
type belongings struct {
	descriptors, goroutines, threads, processes int
	mounts, groups, files                       int
}

// settled waits until the server has nothing to do, and counts what it has.
func (s *soaked) settled(ctx context.Context) (belongings, error) {
	var last belongings
	same := 0
	for begin := time.Now(); time.Since(begin) < time.Minute && same < 3; {
		wait(ctx, time.Second)
		if ctx.Err() != nil {
			return last, ctx.Err()
		}
		now, err := s.counted(ctx)
		if err != nil {
			return last, err
		}
		if same++; now != last {
			same = 0
		}
		last = now
	}
	return last, nil
}

func (s *soaked) counted(ctx context.Context) (b belongings, err error) {
	v, err := s.sample(ctx)
	if err != nil {
		return b, err
	}
	b.descriptors, b.goroutines, b.threads, b.processes = v.descriptors, int(v.goroutines), v.threads, v.processes
	mounts, err := os.ReadFile(fmt.Sprintf("/proc/%d/mountinfo", s.pid))
	if err != nil {
		return b, err
	}
	b.mounts = strings.Count(string(mounts), "\n")
	if b.groups, err = count("/sys/fs/cgroup", func(d fs.DirEntry) bool { return d.IsDir() && strings.Contains(d.Name(), fmt.Sprint(s.pid)) }); err != nil {
		return b, err
	}
	for _, dir := range []string{s.harness, s.path("tmp")} {
		n, err := count(dir, func(d fs.DirEntry) bool { return true })
		if err != nil {
			return b, err
		}
		b.files += n
	}
	return b, nil
}

// count counts what is below a directory. What goes away meanwhile is not there.
func count(dir string, is func(fs.DirEntry) bool) (n int, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && is(d) {
			n++
		}
		return err
	})
	return n, err
}

// leaks compares what the server has at the end with what it had at the start.
func (s *soaked) leaks(before, after belongings) {
	for _, l := range []struct {
		what          string
		before, after int
		// slack is what a server may have more of: the runtime keeps threads, and
		// connections are closed when it suits it.
		slack int
	}{
		{"descriptors", before.descriptors, after.descriptors, 16},
		{"goroutines", before.goroutines, after.goroutines, 32},
		{"threads", before.threads, after.threads, 32},
		{"processes", before.processes, after.processes, 0},
		{"mounts", before.mounts, after.mounts, 0},
		{"control groups", before.groups, after.groups, 0},
		{"files of the server", before.files, after.files, 0},
	} {
		s.must(l.what+" at the end against the start", "", float64(l.after), float64(l.before), l.after <= l.before+l.slack)
	}
}

// outcomes adds how the calls ended.
func (s *soaked) outcomes() {
	t := s.counts
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range t.examples {
		s.say("%s", e)
	}
	s.figure("calls that ended well", "", float64(len(t.took)))
	s.figure("calls that failed while something was wrong", "", float64(t.excused))
	s.figure("calls that were given up", "", float64(t.cancelled))
	s.figure("payments that the service hung up on", "", float64(s.service.hungUp))
	s.figure("callers told that nobody knows", "", float64(t.unsureN))
	s.must("calls that ended well, of at least one", "", float64(len(t.took)), 0, len(t.took) > 0)
	s.must("wrong answers", "", float64(t.wrongN), 0, t.wrongN == 0)
	s.must("calls without an answer", "", float64(t.lostN), 0, t.lostN == 0)
	s.must("calls that failed while nothing was wrong", "", float64(t.failedN), 0, t.failedN == 0)
}
