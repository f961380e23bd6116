// Command corpus prints how well the sanitizers find what is in the labelled
// corpus, kind by kind, and fails if one falls below its recorded bound.
//
//	go run ./bench/corpus [-v]
//
// With -v it also lists what was missed and what was found wrongly.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/mayfly-run/mayfly/governor/output/corpus"
)

func main() {
	verbose := flag.Bool("v", false, "list every mistake")
	flag.Parse()
	if err := run(*verbose); err != nil {
		fmt.Fprintln(os.Stderr, "corpus:", err)
		os.Exit(1)
	}
}

func run(verbose bool) error {
	report, err := corpus.Measure()
	if err != nil {
		return err
	}
	if err := report.Write(os.Stdout); err != nil {
		return err
	}
	if verbose {
		for _, m := range report.Mistakes {
			fmt.Println(m)
		}
	}
	below, err := report.Check()
	if err != nil {
		return err
	}
	for _, b := range below {
		fmt.Fprintln(os.Stderr, b)
	}
	if len(below) > 0 {
		return fmt.Errorf("%d results are below what is recorded in governor/output/corpus/testdata/bounds.json", len(below))
	}
	return nil
}
