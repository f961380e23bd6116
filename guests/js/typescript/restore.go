package typescript

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/mayfly-run/mayfly/sandbox"
)

// A frame of the guest's traceback ends with a place, and its excerpt begins
// with one: see errors.c of the shim.
var (
	frame   = regexp.MustCompile(`^(    at (?:.* \()?)(.*):([0-9]+):([0-9]+)(\)?)$`)
	excerpt = regexp.MustCompile(`^.*:[0-9]+\n.*\n[ \t]*\^\n\n`)
)

// Restore gives an error of the JavaScript as one of the source: its line, its
// text, and the places in its traceback.
func (p *Program) Restore(e *sandbox.Error) *sandbox.Error {
	if e == nil {
		return nil
	}
	restored := *e
	text := e.Traceback
	head := excerpt.FindString(text)
	lines := strings.Split(text[len(head):], "\n")
	at, column := 0, 0
	for i, line := range lines {
		m := frame.FindStringSubmatch(line)
		if m == nil || m[2] != p.name {
			continue
		}
		generated, _ := strconv.Atoi(m[3])
		col, _ := strconv.Atoi(m[4])
		sourceLine, sourceColumn, ok := p.place(generated, col)
		if !ok {
			continue
		}
		if at == 0 {
			at, column = sourceLine, sourceColumn
		}
		lines[i] = fmt.Sprintf("%s%s:%d:%d%s", m[1], p.name, sourceLine, sourceColumn, m[5])
	}
	if at == 0 && e.Line > 0 {
		at, column, _ = p.place(e.Line, 1)
	}
	if at > 0 {
		restored.Line = at
		restored.Source = strings.TrimRight(p.line(at), " \t")
		if head != "" {
			head = p.excerpt(at, column)
		}
	}
	restored.Traceback = head + strings.Join(lines, "\n")
	return &restored
}
