// Command mayfly runs model-written code, each call in an interpreter of its
// own that is gone afterwards.
//
// Standard output carries what was asked for, standard error everything else.
// Exit codes: 0 the call was fine, 1 the code raised, 2 the command or its
// input is wrong, 3 a limit ended the call, 4 something of Mayfly's own failed,
// 5 the governor blocked the call, 6 a person must approve it first, 7 it may
// or may not have taken effect; 128 plus the signal's number if a signal ended
// it.
package main

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"github.com/mayfly-run/mayfly/runtime"
)

func main() {
	if code, ours := runtime.Main(); ours {
		os.Exit(code)
	}
	os.Exit(run(os.Args[1:], newProcess(openSandbox)))
}

// process is what the program shares with its surroundings.
type process struct {
	stdin          *os.File
	stdout, stderr output
	open           opener
	native         prober
}

// newProcess takes over the streams of this process. A reader that went away
// must not kill a call half way: writing to it is an ordinary error instead.
func newProcess(open opener) *process {
	signal.Ignore(syscall.SIGPIPE)
	return &process{
		stdin:  os.Stdin,
		stdout: output{os.Stdout, term.IsTerminal(int(os.Stdout.Fd()))},
		stderr: output{os.Stderr, term.IsTerminal(int(os.Stderr.Fd()))},
		open:   open,
		native: examineNative,
	}
}
