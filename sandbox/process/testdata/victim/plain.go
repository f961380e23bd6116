package main

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"os/user"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// acts are what the program can do, by name.
var acts = map[string]func(args []string) any{}

func init() {
	acts["echo"] = func([]string) any {
		text, err := io.ReadAll(os.Stdin)
		if err != nil {
			panic(err)
		}
		return map[string]string{"input": string(text)}
	}
	acts["state"] = func([]string) any { return state() }
	acts["confined"] = func(args []string) any {
		nnp, _, _ := syscall.RawSyscall6(syscall.SYS_PRCTL, 39, 0, 0, 0, 0, 0)    // PR_GET_NO_NEW_PRIVS
		filter, _, _ := syscall.RawSyscall6(syscall.SYS_PRCTL, 21, 0, 0, 0, 0, 0) // PR_GET_SECCOMP
		_, err := os.ReadFile("/bin/sh")
		_, granted := os.ReadFile(args[0])
		return map[string]bool{"NoNewPrivs": nnp == 1, "Filter": filter == 2, "Landlock": err != nil && granted == nil, "Root": os.Getuid() == 0}
	}
	acts["exit"] = func([]string) any { os.Exit(7); return nil }
	acts["prints"] = func([]string) any {
		fmt.Println("on standard output")
		fmt.Fprintln(os.Stderr, "on standard error")
		return 42
	}
	acts["silent"] = func([]string) any { os.Exit(0); return nil }
	acts["invalid"] = func([]string) any {
		os.NewFile(3, "value").Write([]byte(`{"a":1,"a":2}`))
		os.Exit(0)
		return nil
	}
	acts["flood"] = func(args []string) any {
		f := os.NewFile(map[string]uintptr{"value": 3, "stdout": 1, "stderr": 2}[args[0]], args[0])
		for {
			f.Write([]byte(strings.Repeat("x", 1<<16)))
		}
	}
	acts["hang"] = func([]string) any {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		forever()
		return nil
	}
	acts["killed"] = func([]string) any {
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		forever()
		return nil
	}
	acts["workers"] = func([]string) any {
		work, sums := make(chan int), make(chan int)
		for range 8 {
			go func() {
				sum := 0
				for n := range work {
					sum += n
				}
				sums <- sum
			}()
		}
		for n := range 100 {
			work <- n
		}
		close(work)
		sum := 0
		for range 8 {
			sum += <-sums
		}
		name := "mayfly-unknown"
		if u, err := user.LookupId(strconv.Itoa(os.Getuid())); err == nil {
			name = u.Username
		}
		return map[string]any{"sum": sum, "user": name}
	}
	acts["count"] = func(args []string) any {
		text, err := os.ReadFile(args[0])
		if err != nil {
			panic(err)
		}
		return strings.Repeat(args[1], strings.Count(string(text), args[1]))
	}
	acts["threads"] = func([]string) any {
		var wg sync.WaitGroup
		sum := make(chan int, 64)
		for i := range 64 {
			wg.Go(func() {
				r, w, err := os.Pipe()
				if err != nil {
					panic(err)
				}
				syscall.Write(int(w.Fd()), []byte{1})
				buf := make([]byte, 1)
				syscall.Read(int(r.Fd()), buf) // a thread for each
				sum <- i
			})
		}
		wg.Wait()
		return len(sum)
	}
}

// state is what a program can see of itself.
func state() map[string]any {
	var open []int
	for fd := range 1024 {
		if _, _, errno := syscall.RawSyscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_GETFD, 0); errno == 0 {
			open = append(open, fd)
		}
	}
	status, _ := os.ReadFile("/proc/self/status")
	wanted := map[string]any{}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch name {
		case "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp", "Groups":
			wanted[name] = strings.TrimSpace(value)
		}
	}
	wanted["open"] = open
	wanted["env"] = os.Environ()
	wanted["uid"], wanted["gid"] = os.Getuid(), os.Getgid()
	wanted["session"], _, _ = syscall.RawSyscall(syscall.SYS_GETSID, 0, 0, 0)
	wanted["pid"] = os.Getpid()
	wd, _ := os.Getwd()
	wanted["dir"] = wd
	return wanted
}
