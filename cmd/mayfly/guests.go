package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mayfly-run/mayfly/guests"
)

type guestsCommand struct {
	List guestsListCommand `cmd:"" default:"withargs" help:"Show all of them. That is also what \"mayfly guests\" does."`
	Show guestsShowCommand `cmd:"" help:"Show what code finds in one."`
}

// guestsListCommand shows what is embedded.
type guestsListCommand struct {
	JSON    bool `name:"json" help:"Print a JSON object with everything that is known, also each module and input."`
	NoImage bool `help:"Leave out the image, which takes a start of the interpreter to know."`
	cacheFlag
}

func (guestsListCommand) Help() string {
	return `The image is the memory of an interpreter that has just started; every call gets a copy of it. Finding it out prepares the interpreter as a first call would.

Example:

  mayfly guests --json --no-image

Exit codes: 0 done, 2 the command is wrong, 4 something of Mayfly's own failed.`
}

// guestsJSON is what "guests --json" prints.
type guestsJSON struct {
	Guests []guestJSON `json:"guests"`
}

type guestJSON struct {
	guests.Info `json:",inline"`
	Image       *guests.Blob `json:"image,omitzero"`
	Engine      string       `json:"engine_version,omitzero"`
}

func (c *guestsListCommand) Run(p *process) error {
	ctx, stop := withSignals(context.Background())
	defer stop()
	infos, err := guests.All()
	if err != nil {
		return err
	}
	all := guestsJSON{Guests: []guestJSON{}}
	for _, info := range infos {
		g := guestJSON{Info: info}
		if !c.NoImage {
			if err := c.addImage(ctx, p, &g); err != nil {
				if cause := context.Cause(ctx); cause != nil {
					return cause
				}
				return err
			}
		}
		all.Guests = append(all.Guests, g)
	}
	if c.JSON {
		return p.stdout.object(all)
	}
	for _, g := range all.Guests {
		if err := p.stdout.all([]byte(g.text())); err != nil {
			return err
		}
	}
	if len(all.Guests) == 0 {
		p.stderr.note("%v", guests.ErrMissing)
	}
	return nil
}

// addImage starts the guest and adds what its image is.
func (c *guestsListCommand) addImage(ctx context.Context, p *process, g *guestJSON) error {
	progress := newProgress(p.stderr)
	box, err := p.open(ctx, openConfig{guest: g.Name, cacheDir: c.dir(progress), progress: progress.say})
	progress.end()
	if err != nil {
		return err
	}
	g.Image = &guests.Blob{SHA256: box.imageDigest, Bytes: int64(box.imageBytes)}
	g.Engine = box.engineVersion
	if err := box.Close(); err != nil {
		return fmt.Errorf("close sandbox: %w", err)
	}
	return nil
}

// text is the short form for people.
func (g guestJSON) text() string {
	var b strings.Builder
	line := func(label, format string, args ...any) {
		fmt.Fprintf(&b, "  %-12s"+format+"\n", append([]any{label}, args...)...)
	}
	fmt.Fprintf(&b, "%s: %s %s\n", g.Name, g.Language, g.Version)
	line("module", "%s, %d functions, sha256 %s", mib(g.Module.Bytes), g.Functions, g.Module.SHA256)
	line("embedded as", "%s, sha256 %s", mib(g.Compressed.Bytes), g.Compressed.SHA256)
	if g.Image != nil {
		line("image", "%s, sha256 %s", mib(g.Image.Bytes), g.Image.SHA256)
		line("engine", "%s", g.Engine)
	}
	line("build", "%s", g.Build)
	if !g.Optimised {
		line("", "made without the optimiser, for development")
	}
	var components []string
	for _, name := range slices.Sorted(maps.Keys(g.Components)) {
		components = append(components, name+" "+g.Components[name])
	}
	line("contains", "%s", strings.Join(components, ", "))
	if len(g.Packages) > 0 {
		line("packages", "%d; \"mayfly guests show %s\" lists them", len(g.Packages), g.Name)
	}
	if len(g.NativeModules)+len(g.FrozenModules) > 0 {
		line("library", "%d modules in C, %d in %s, %d time zones", len(g.NativeModules), len(g.FrozenModules), g.Language, g.TimeZones)
	}
	return b.String()
}

func mib(bytes int64) string { return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20)) }
