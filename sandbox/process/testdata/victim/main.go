// Command victim is what the tests run in confinement: a hostile program, and
// some that are only clumsy. Its first argument says which; the outcome is JSON
// on descriptor 3, or on standard output where that is not open.
package main

import (
	"encoding/json"
	"fmt"
	"os"
)

// outcome is what became of an attack.
type outcome struct {
	// Worked: the attack did what it was made for.
	Worked bool `json:"worked"`
	// Detail is what was seen.
	Detail string `json:"detail"`
}

func main() {
	if len(os.Args) < 2 {
		os.Exit(64)
	}
	act, ok := acts[os.Args[1]]
	if !ok {
		fmt.Fprintln(os.Stderr, "no such act")
		os.Exit(64)
	}
	answer(act(os.Args[2:]))
}

// answer writes the outcome.
func answer(v any) {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	value := os.NewFile(3, "value")
	if _, err := value.Write(text); err != nil {
		os.Stdout.Write(text)
	}
}

// tried turns an error into an outcome: the attack worked if there is none.
func tried(err error) outcome {
	if err != nil {
		return outcome{false, err.Error()}
	}
	return outcome{true, "no error"}
}
