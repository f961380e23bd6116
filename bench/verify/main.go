// Command verify shows every claim of the project on this machine: it runs the
// tests and the measurements once, looks up what each claim rests on, and prints
// one table.
//
//	go run ./bench/verify [flags]
//
// claims.tsv lists the claims; a claim rests on tests, on a figure, or on a
// command. A claim whose tests are gone, or were all skipped, does not hold.
//
// Exit status: 0 if every claim holds or is listed as open, 1 if one does not, 2 for wrong usage, 3
// if none failed but some were not looked at, because a step was left out.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

const example = `
Example: everything but the slow steps

  go run ./bench/verify --skip race,guests-verify
`

type options struct {
	out   string
	page  string
	only  *regexp.Regexp
	skip  []string
	reuse bool
	list  bool
	json  bool
}

func main() {
	flags := flag.NewFlagSet("verify", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "Usage: go run ./bench/verify [flags]")
		flags.PrintDefaults()
		fmt.Fprint(flags.Output(), example)
	}
	out := flags.String("out", "bench/out/verify", "directory for the output of the steps, verify.md and verify.json")
	only := flags.String("only", "", "look only at claims whose ID matches this regular expression")
	skip := flags.String("skip", "", "comma-separated steps to leave out: "+strings.Join(stepNames(), ", "))
	reuse := flags.Bool("reuse", false, "take the output of steps that an earlier run left in --out and that ended well")
	list := flags.Bool("list", false, "print the claims and what they rest on, and run nothing")
	security := flags.String("security", "", "write the claims S.* into this page, and run nothing")
	asJSON := flags.Bool("json", false, "print the results as JSON")
	if err := flags.Parse(os.Args[1:]); err == flag.ErrHelp {
		os.Exit(0)
	} else if err != nil {
		os.Exit(2)
	}
	o := options{out: *out, page: *security, reuse: *reuse, list: *list, json: *asJSON}
	err := func() (err error) {
		if flags.NArg() > 0 {
			return fmt.Errorf("unexpected argument %q", flags.Arg(0))
		}
		if o.only, err = regexp.Compile(*only); err != nil {
			return fmt.Errorf("--only: %w", err)
		}
		if *skip == "" {
			return nil
		}
		o.skip = strings.Split(*skip, ",")
		for _, s := range o.skip {
			if !slices.Contains(stepNames(), s) {
				return fmt.Errorf("--skip: no step %q; there are %s", s, strings.Join(stepNames(), ", "))
			}
		}
		return nil
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "verify:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code, err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "verify:", err)
		code = 1
	}
	os.Exit(code)
}

func run(ctx context.Context, o options) (int, error) {
	claims, err := readClaims()
	if err != nil {
		return 0, err
	}
	claims = slices.DeleteFunc(claims, func(c claim) bool { return !o.only.MatchString(c.ID) })
	if len(claims) == 0 {
		return 0, fmt.Errorf("--only %s matches no claim", o.only)
	}
	if o.page != "" {
		return 0, writeSecurity(o.page, claims)
	}
	if o.list {
		return 0, listClaims(os.Stdout, claims, o.json)
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return 0, err
	}
	var results []result
	if found, err := runSteps(ctx, o, claims); err != nil {
		return 0, err
	} else {
		for _, c := range claims {
			results = append(results, found.judge(c))
		}
	}
	if err := writeResults(o, results); err != nil {
		return 0, err
	}
	failed, unknown := count(results, fails), count(results, notRun)
	fmt.Fprintf(os.Stderr, "%d claims hold, %d do not, %d were not looked at, %d are open; see %s\n",
		count(results, holds), failed, unknown, count(results, open), filepath.Join(o.out, "verify.md"))
	switch {
	case failed > 0:
		return 1, nil
	case unknown > 0:
		return 3, nil
	}
	return 0, nil
}
