package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"text/tabwriter"
	"time"
)

func writeResults(o options, results []result) error {
	text, err := json.MarshalIndent(results, "", "  ")
	if err != nil {
		return err
	}
	text = append(text, '\n')
	if err := os.WriteFile(filepath.Join(o.out, "verify.json"), text, 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(o.out, "verify.md"), []byte(markdown(results, time.Now())), 0o644); err != nil {
		return err
	}
	if o.json {
		_, err := os.Stdout.Write(text)
		return err
	}
	return printTable(os.Stdout, worstFirst(results))
}

func printTable(w io.Writer, results []result) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range results {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", r.Verdict, r.ID, r.Text, strings.Join(r.Details, "; "))
	}
	return t.Flush()
}

func markdown(results []result, now time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s/%s, %d processors\n\n| | claim | verdict | shown by |\n|---|---|---|---|\n",
		now.UTC().Format("2006-01-02"), goruntime.GOOS, goruntime.GOARCH, goruntime.NumCPU())
	for _, r := range results {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.ID, cell(r.Text), r.Verdict, cell(strings.Join(r.Details, "; ")))
	}
	return b.String()
}

func cell(s string) string { return strings.NewReplacer("|", `\|`, "\n", " ").Replace(s) }
