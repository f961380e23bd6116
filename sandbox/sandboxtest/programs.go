package sandboxtest

import "strings"

// Programs holds one text for each guest, by its name. A case says what it is
// about in each language that can do it at all:
//
//	py("while True: pass").js("for (;;);")
type Programs map[string]string

func py(lines ...string) Programs { return Programs{}.in("python", lines) }

func js(lines ...string) Programs { return Programs{}.in("js", lines) }

func (p Programs) js(lines ...string) Programs { return p.in("js", lines) }

func (p Programs) in(guest string, lines []string) Programs {
	p[guest] = strings.Join(lines, "\n")
	return p
}

func pyError(name string) Programs { return py(name) }

func jsError(name string) Programs { return js(name) }
