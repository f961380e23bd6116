package typescript

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/go-json-experiment/json"

	"github.com/mayfly-run/mayfly/sandbox"
)

// Program is a TypeScript program whose types have been taken out.
type Program struct {
	// Code is the JavaScript.
	Code string

	name     string
	source   []string // lines, as the user wrote them
	mappings []mapping
}

// Strip takes the types out of a source. name is what errors call it. If the
// source is not TypeScript the error is an *[Error].
func Strip(name, source string) (*Program, error) {
	source = strings.TrimPrefix(source, "\ufeff")
	result := api.Transform(source, api.TransformOptions{
		Loader:         api.LoaderTS,
		Target:         api.ESNext,
		Sourcefile:     name,
		Sourcemap:      api.SourceMapExternal,
		SourcesContent: api.SourcesContentExclude,
		TreeShaking:    api.TreeShakingFalse, // the last expression is the value, whether it does something or not
		LogLevel:       api.LogLevelSilent,
	})
	p := &Program{Code: string(result.Code), name: name, source: splitLines(source)}
	if len(result.Errors) > 0 {
		return nil, &Error{*p.syntaxError(result.Errors[0])}
	}
	var sourceMap struct {
		Mappings string         `json:"mappings"`
		Rest     map[string]any `json:",unknown"`
	}
	if err := json.Unmarshal(result.Map, &sourceMap); err != nil {
		return nil, fmt.Errorf("read the source map: %w", err)
	}
	var err error
	if p.mappings, err = readMappings(sourceMap.Mappings); err != nil {
		return nil, fmt.Errorf("read the source map: %w", err)
	}
	return p, nil
}

// Error says why a source is not TypeScript, as the guest would have said it of
// JavaScript.
type Error struct{ Sandbox sandbox.Error }

func (e *Error) Error() string { return e.Sandbox.Type + ": " + e.Sandbox.Message }

// AsError gives the *[Error] in err's chain, nil if there is none.
func AsError(err error) *Error {
	e, _ := errors.AsType[*Error](err)
	return e
}

func (p *Program) syntaxError(m api.Message) *sandbox.Error {
	e := &sandbox.Error{Type: "SyntaxError", Message: m.Text}
	at := ""
	if m.Location != nil {
		e.Line = m.Location.Line
		e.Source = strings.TrimRight(p.line(e.Line), " \t")
		// esbuild counts bytes from 0.
		line := p.line(e.Line)
		column := 1 + utf8.RuneCountInString(line[:min(m.Location.Column, len(line))])
		e.Traceback = p.excerpt(e.Line, column)
		at = fmt.Sprintf("\n    at %s:%d:%d", p.name, e.Line, column)
	}
	e.Traceback += e.Type + ": " + e.Message + at + "\n"
	return e
}

// line gives a line of the source, "" where there is none.
func (p *Program) line(number int) string {
	if number < 1 || number > len(p.source) {
		return ""
	}
	return p.source[number-1]
}

// excerpt is the head of a traceback: a line, and a mark below a column.
func (p *Program) excerpt(line, column int) string {
	var mark strings.Builder
	for i, r := range []rune(p.line(line)) {
		if i+1 >= column {
			break
		}
		if r != '\t' {
			r = ' '
		}
		mark.WriteRune(r)
	}
	return fmt.Sprintf("%s:%d\n%s\n%s^\n\n", p.name, line, p.line(line), mark.String())
}

func splitLines(text string) []string {
	return strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), "\n")
}
