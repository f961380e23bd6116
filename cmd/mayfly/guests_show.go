package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mayfly-run/mayfly/guests"
)

// guestsShowCommand says what code finds in a guest: the long form of what a
// model is told.
type guestsShowCommand struct {
	Name string `arg:"" help:"The guest: python or js."`
	JSON bool   `name:"json" help:"Print a JSON object."`
}

func (guestsShowCommand) Help() string {
	return `The first lines are what a model is told behind the description of a tool that runs code. A package of the tier "image" costs a call nothing to import; one of the tier "import" is imported when a call asks for it.

Example:

  mayfly guests show python

Exit codes: 0 done, 2 the command is wrong or there is no such guest, 4 something of Mayfly's own failed.`
}

// guestShown is what "guests show --json" prints.
type guestShown struct {
	Name        string           `json:"name"`
	Language    string           `json:"language"`
	Version     string           `json:"version"`
	Environment string           `json:"environment"`
	Packages    []guests.Package `json:"packages"`
	// Absent are modules that code often asks for in vain.
	Absent []string `json:"absent"`
	// Native and Frozen are the modules of the standard library that are written
	// in C and in the language itself.
	Native []string `json:"native_modules"`
	Frozen []string `json:"frozen_modules"`
}

func (c *guestsShowCommand) Run(p *process) error {
	environment, err := guests.Environment(c.Name)
	if errors.Is(err, guests.ErrUnknown) {
		return usagef("%v", err)
	}
	if err != nil {
		return err
	}
	infos, err := guests.All()
	if err != nil {
		return err
	}
	for _, info := range infos {
		if info.Name != c.Name {
			continue
		}
		shown := guestShown{
			info.Name, info.Language, info.Version, environment, append([]guests.Package{}, info.Packages...),
			append([]string{}, guests.Absent(c.Name)...), info.NativeModules, info.FrozenModules,
		}
		if c.JSON {
			return p.stdout.object(shown)
		}
		if err := p.stdout.all([]byte(strings.ReplaceAll(environment, ". ", ".\n") + "\n")); err != nil {
			return err
		}
		return c.packages(p, info.Packages)
	}
	return fmt.Errorf("%s: %w", c.Name, guests.ErrMissing)
}

func (guestsShowCommand) packages(p *process, packages []guests.Package) error {
	if len(packages) == 0 {
		return nil
	}
	var rows [][]string
	for _, p := range packages {
		rows = append(rows, []string{dash(strings.Join(p.Modules, ", ")), p.Name, p.Version, string(p.Tier), p.Licence, p.Why})
	}
	if err := p.stdout.all([]byte("\n")); err != nil {
		return err
	}
	return p.stdout.table([]string{"IMPORT", "PACKAGE", "VERSION", "TIER", "LICENCE", "WHAT FOR"}, rows)
}
