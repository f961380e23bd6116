package main

import "time"

// stopAfter is the deadline of a loop without end. It is long enough for every
// peer to have started by then.
const stopAfter = 1000

var endless = map[string]string{python: "while True: pass", javaScript: "for (;;) {}"}

// stubborn catches whatever can be caught.
var stubborn = map[string]string{
	python: `while True:
    try:
        while True:
            pass
    except BaseException:
        pass
`,
	javaScript: "for (;;) { try { for (;;) {} } catch {} finally { continue; } }",
}

// stop measures how late code is dead that does not end.
func stop(b *bench) error {
	for _, r := range []struct {
		name string
		code map[string]string
	}{
		{"from the deadline to the end of a loop", endless},
		{"the same, of a loop that catches everything", stubborn},
	} {
		_, err := b.alternate(row{Name: r.name, Unit: "ms", Best: "least"}, b.peers,
			full(b, sampling{2, 4, 5 * time.Second}, sampling{1, 1, 0}), func(p *peer) (float64, error) {
				a, err := b.ask(p, request{Op: "run", Body: r.code[p.language], Expr: "1", TimeoutMS: stopAfter, Memory: 64 << 20})
				if err == nil && a.Status != "timeout" {
					err = cannot(a)
				}
				return a.RunMS - stopAfter, err
			})
		if err != nil {
			return err
		}
	}
	return nil
}

// cannot says how code went on past its deadline.
func cannot(a answer) error {
	if a.How != "" {
		return inWords("cannot: " + a.How)
	}
	return inWords("cannot: " + a.Status)
}

// inWords is the error of a measurement whose result is words.
type inWords string

func (w inWords) Error() string { return string(w) }
