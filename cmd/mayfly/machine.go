package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/mayfly-run/mayfly/guests"
)

// machineHealth is what the program finds where it runs.
type machineHealth struct {
	Version string        `json:"version"`
	OS      string        `json:"os"`
	Arch    string        `json:"arch"`
	CPUs    int           `json:"cpus"`
	Kernel  string        `json:"kernel,omitzero"`
	Guests  []guestHealth `json:"guests"`
	Cache   cacheHealth   `json:"cache"`
	// Native says whether native tools can run, Layers what confines them.
	Native nativeHealth  `json:"native"`
	Layers []layerHealth `json:"layers"`
}

type guestHealth struct {
	Name    string `json:"name"`
	Version string `json:"version,omitzero"`
	SHA256  string `json:"sha256,omitzero"`
	Problem string `json:"problem,omitzero"`
}

type cacheHealth struct {
	Dir     string `json:"dir,omitzero"`
	Usable  bool   `json:"usable"`
	Problem string `json:"problem,omitzero"`
}

func examineMachine(ctx context.Context, cacheDir string, probe prober) machineHealth {
	native, layers := probe(ctx)
	return machineHealth{
		Version: version, OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(),
		Kernel: kernelVersion(), Guests: examineGuests(), Cache: examineCache(cacheDir), Native: native, Layers: layers,
	}
}

func examineGuests() []guestHealth {
	found := []guestHealth{}
	infos, err := guests.All()
	for _, name := range guests.Names() {
		g := guestHealth{Name: name}
		for _, info := range infos {
			if info.Name == name {
				g.Version, g.SHA256 = info.Version, info.Module.SHA256
			}
		}
		switch {
		case err != nil:
			g.Problem = err.Error()
		case g.SHA256 == "":
			g.Problem = guests.ErrMissing.Error()
		}
		found = append(found, g)
	}
	return found
}

// examineCache finds out whether compiled interpreters can be kept in dir. It
// makes no directory: where there is none yet, it looks at the one above.
func examineCache(dir string) cacheHealth {
	c := cacheHealth{Dir: dir}
	if dir == "" {
		c.Problem = "there is no place for it; --cache-dir names one"
		return c
	}
	there := dir
	for {
		info, err := os.Stat(there)
		if err == nil && !info.IsDir() {
			c.Problem = there + " is not a directory"
			return c
		}
		if err == nil {
			if there == dir {
				err = ownDirectory(info)
			}
			if err != nil {
				c.Problem = there + ": " + err.Error()
				return c
			}
			break
		}
		if !os.IsNotExist(err) || there == filepath.Dir(there) {
			c.Problem = there + ": " + plainError(err).Error()
			return c
		}
		there = filepath.Dir(there)
	}
	probe, err := os.CreateTemp(there, ".mayfly-doctor-*")
	if err != nil {
		c.Problem = there + " cannot be written to: " + plainError(err).Error()
		return c
	}
	probe.Close()
	os.Remove(probe.Name())
	c.Usable = true
	return c
}

// fails reports whether calls cannot run here. Without a cache they can, only
// slower to start.
func (m machineHealth) fails() bool {
	for _, g := range m.Guests {
		if g.Problem != "" {
			return true
		}
	}
	return false
}

func (m machineHealth) text(b *strings.Builder) {
	fmt.Fprintf(b, "machine: mayfly %s on %s/%s, %s", m.Version, m.OS, m.Arch, count(m.CPUs, "CPU"))
	if m.Kernel != "" {
		fmt.Fprintf(b, ", kernel %s", oneLine(m.Kernel))
	}
	b.WriteString("\n")
	line := func(label, text string) { fmt.Fprintf(b, "  %-10s%s\n", label, oneLine(text)) }
	for _, g := range m.Guests {
		if g.Problem != "" {
			line(g.Name, "failure: "+g.Problem)
			continue
		}
		line(g.Name, fmt.Sprintf("%s, sha256 %s", g.Version, g.SHA256))
	}
	if m.Cache.Usable {
		line("cache", m.Cache.Dir)
	} else {
		line("cache", "not usable, so that every start takes seconds: "+m.Cache.Problem)
	}
	m.Native.text(m.Layers, line)
}
