package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/mayfly-run/mayfly/guests/js/typescript"
	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/sandbox"
)

// langFlag is a language by its name. Empty: not given.
type langFlag string

const (
	langPython     langFlag = "python"
	langJavaScript langFlag = "js"
	langTypeScript langFlag = "ts"
)

func (f *langFlag) UnmarshalText(text []byte) error {
	switch l := langFlag(text); l {
	case langPython, langJavaScript, langTypeScript:
		*f = l
		return nil
	}
	return fmt.Errorf("%q is not a language that runs here: python, js or ts; the default goes by the script's ending", text)
}

// endings say what a script is written in.
var endings = map[string]langFlag{
	".py": langPython,
	".js": langJavaScript, ".mjs": langJavaScript,
	".ts": langTypeScript, ".mts": langTypeScript,
}

// language is what the code is written in: as the flag says, else as the
// script's name does.
func (c *execCommand) language() langFlag {
	if c.Lang != "" {
		return c.Lang
	}
	if l, ok := endings[filepath.Ext(c.Script)]; ok {
		return l
	}
	return langPython
}

// runs is the language that the sandbox is given.
func (f langFlag) runs() runtime.Language {
	if f == langPython {
		return runtime.Python
	}
	return runtime.JavaScript
}

// compile makes of the code what the sandbox runs. For TypeScript that is
// another text, and restore takes an error of that back to the user's.
//
// A source that is no TypeScript is a result: the call ends as it would have
// for JavaScript, only sooner.
func (c *execCommand) compile(ctx context.Context, language langFlag, spec *sandbox.Spec) (restore func(*sandbox.Error) *sandbox.Error, failed *sandbox.Result, err error) {
	same := func(e *sandbox.Error) *sandbox.Error { return e }
	if language != langTypeScript {
		return same, nil, nil
	}
	if spec.Name == "" {
		spec.Name = "main.ts"
	}
	type stripped struct {
		program *typescript.Program
		err     error
	}
	done := make(chan stripped, 1)
	name, code := spec.Name, spec.Code
	go func() { // nothing can stop it but the end of this process
		p, err := typescript.Strip(name, code)
		done <- stripped{p, err}
	}()
	timeout := spec.Limits.WithDefaults().Timeout
	select {
	case s := <-done:
		if e := typescript.AsError(s.err); e != nil {
			return same, &sandbox.Result{Status: sandbox.StatusError, Error: &e.Sandbox}, nil
		}
		if s.err != nil {
			return same, nil, s.err
		}
		spec.Code = s.program.Code
		return s.program.Restore, nil, nil
	case <-time.After(timeout):
		return same, &sandbox.Result{Status: sandbox.StatusTimeout, Error: &sandbox.Error{
			Type: string(sandbox.StatusTimeout), Message: fmt.Sprintf("taking the types out took longer than the timeout of %v", timeout),
		}}, nil
	case <-ctx.Done():
		return same, nil, errors.Join(context.Cause(ctx), ctx.Err())
	}
}
