package main

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

// A family of processes that does not want to die. Every member has the mark
// among its arguments, so that whoever looks for survivors finds them.
func init() {
	acts["tree"] = func(args []string) any {
		mark, then := args[0], args[1]
		for _, kind := range args[2:] {
			for range 3 {
				spawn("member", mark, kind, "parent").Wait()
			}
		}
		if then == "hang" {
			signal.Ignore(syscall.SIGTERM)
			forever()
		}
		return len(args)
	}
	acts["member"] = func(args []string) any {
		mark, kind, generation := args[0], args[1], args[2]
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGPIPE)
		if generation == "parent" {
			spawn("member", mark, kind, "child") // an orphan as soon as this one ends
			os.Exit(0)
		}
		switch kind {
		case "stopped":
			syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		case "respawn":
			time.Sleep(5 * time.Millisecond)
			spawn("member", mark, kind, "child")
			os.Exit(0)
		case "group":
			syscall.Setpgid(0, 0)
		case "reaper":
			syscall.RawSyscall(syscall.SYS_PRCTL, 36, 1, 0) // PR_SET_CHILD_SUBREAPER
			spawn("member", mark, "group", "parent")
		}
		forever()
		return nil
	}
}

// spawn starts this program again, in a session of its own, with all streams.
func spawn(args ...string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	cmd := exec.Command(self, args...)
	cmd.Args[0] = os.Args[0]
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{os.NewFile(3, "value")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		// Without the streams, or not at all.
		cmd = exec.Command(os.Args[0], args...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			os.Stderr.WriteString("spawn: " + err.Error() + "\n")
		}
	}
	return cmd
}

func forever() {
	for {
		time.Sleep(time.Hour)
	}
}
