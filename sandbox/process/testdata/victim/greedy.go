package main

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// What a call takes as a whole, spread over many processes.
func init() {
	acts["spin"] = func(args []string) any {
		spinning(number(args[0]))
		for {
		}
	}
	acts["spin threads"] = func([]string) any {
		for range 4 {
			go func() {
				for {
				}
			}()
		}
		for {
		}
	}
	acts["work"] = func(args []string) any {
		for end := time.Now().Add(time.Duration(number(args[0])) * time.Millisecond); time.Now().Before(end); {
		}
		return nil
	}
	// hold: children, and how many bytes each of them has. Answers how many
	// have them all at once.
	acts["hold"] = func(args []string) any {
		n := 0
		var pipes []*os.File
		for range number(args[0]) {
			r, w, err := os.Pipe()
			if err != nil {
				return n
			}
			cmd := exec.Command(os.Args[0], "holder", args[1])
			cmd.Stdout = w
			if cmd.Start() != nil {
				break
			}
			w.Close()
			pipes = append(pipes, r)
		}
		for _, r := range pipes {
			if k, _ := r.Read(make([]byte, 1)); k == 1 {
				n++
			}
		}
		return n
	}
	acts["holder"] = func(args []string) any {
		touch(number(args[0]), syscall.MAP_PRIVATE)
		os.Stdout.Write([]byte{1})
		forever()
		return nil
	}
	// share: memory that no limit of a single process counts.
	acts["share"] = func(args []string) any {
		if err := touch(number(args[0]), syscall.MAP_SHARED); err != nil {
			return tried(err)
		}
		return tried(nil)
	}
	acts["fill many"] = func(args []string) any {
		total := 0
		for i := range number(args[1]) {
			total += fill(args[0]+"/f"+strconv.Itoa(i), number(args[2]))
		}
		return total
	}
	acts["make files"] = func(args []string) any {
		n := 0
		for n < number(args[1]) {
			f, err := os.OpenFile(args[0]+"/e"+strconv.Itoa(n), os.O_WRONLY|os.O_CREATE, 0o600)
			if err != nil {
				break
			}
			f.Close()
			n++
		}
		return n
	}
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err)
	}
	return n
}

func spinning(children int) {
	for range children {
		cmd := exec.Command(os.Args[0], "spin", "0")
		if err := cmd.Start(); err != nil {
			panic(err)
		}
	}
}

// touch takes memory and writes to every page of it.
func touch(size, kind int) error {
	b, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, kind|syscall.MAP_ANON)
	if err != nil {
		return err
	}
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
	return nil
}
