package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unsafe"
)

// More ways to reach beyond the call.
func init() {
	acts["touch"] = func(a []string) any {
		return tried(syscall.UtimesNano(a[0], []syscall.Timespec{{Sec: 1}, {Sec: 1}}))
	}
	acts["attribute"] = func(a []string) any { return tried(syscall.Setxattr(a[0], "user.mayfly", []byte("changed"), 0)) }
	acts["enter"] = func(a []string) any { return tried(os.Chdir(a[0])) }
	acts["see process"] = func(a []string) any {
		entries, err := os.ReadDir("/proc")
		for _, e := range entries {
			if e.Name() == a[0] {
				return outcome{true, "seen"}
			}
		}
		return outcome{false, fmt.Sprintf("%d entries, %v", len(entries), err)}
	}
	acts["make device"] = func(a []string) any {
		path := filepath.Join(a[0], "device")
		err := syscall.Mknod(path, syscall.S_IFCHR|0o666, 1<<8|3)
		os.Remove(path)
		return tried(err)
	}
	acts["open device"] = func(a []string) any {
		f, err := os.OpenFile(a[0], os.O_RDONLY|syscall.O_NONBLOCK, 0)
		f.Close()
		return tried(err)
	}
	acts["open to write"] = func(a []string) any {
		f, err := os.OpenFile(a[0], os.O_WRONLY, 0)
		f.Close()
		return tried(err)
	}
	acts["map to execute"] = func(a []string) any {
		path := filepath.Join(a[0], "code")
		if err := os.WriteFile(path, make([]byte, 4096), 0o600); err != nil {
			return outcome{false, "setup: " + err.Error()}
		}
		defer os.Remove(path)
		f, err := os.Open(path)
		if err != nil {
			return outcome{false, "setup: " + err.Error()}
		}
		defer f.Close()
		_, err = syscall.Mmap(int(f.Fd()), 0, 4096, syscall.PROT_READ|syscall.PROT_EXEC, syscall.MAP_PRIVATE)
		return tried(err)
	}
	acts["become root"] = func([]string) any {
		_, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, 0, 0, 0)
		return ofErrno(errno)
	}
	acts["take capabilities"] = func([]string) any {
		header := [2]uint32{0x20080522, 0}
		data := [6]uint32{1 << 21, 1 << 21}
		_, _, errno := syscall.RawSyscall(syscall.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&data)), 0)
		return ofErrno(errno)
	}
	acts["priority"] = func([]string) any { return tried(syscall.Setpriority(syscall.PRIO_PROCESS, 0, -5)) }
	acts["real time"] = func([]string) any {
		priority := int32(1)
		_, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_SETSCHEDULER, 0, 1, uintptr(unsafe.Pointer(&priority)))
		return ofErrno(errno)
	}
	acts["pin memory"] = func([]string) any {
		b, err := syscall.Mmap(-1, 0, 16<<20, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
		if err == nil {
			err = syscall.Mlock(b)
		}
		return tried(err)
	}
	acts["race links"] = func(a []string) any { return raceLinks(a[0], a[1]) }
	acts["who runs"] = func([]string) any { return map[string]int{"uid": os.Getuid(), "euid": syscall.Geteuid()} }
	acts["signal by descriptor"] = func(a []string) any { return signalByDescriptor(number(a[0])) }
	acts["leave behind"] = func(a []string) any { return leaveBehind(a[0], uintptr(number(a[1]))) }
	acts["core size"] = func([]string) any {
		l := syscall.Rlimit{Cur: 1 << 30, Max: 1 << 30}
		_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &l) // must not work
		_ = syscall.Getrlimit(syscall.RLIMIT_CORE, &l)
		return l.Max
	}
}

// raceLinks reads a file that turns into a link to the target and back.
func raceLinks(dir, target string) outcome {
	path, file, link := filepath.Join(dir, "race"), filepath.Join(dir, "race file"), filepath.Join(dir, "race link")
	defer os.Remove(path)
	stop := make(chan struct{})
	go func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			os.WriteFile(file, []byte("mine"), 0o600)
			os.Rename(file, path)
			os.Symlink(target, link)
			os.Rename(link, path)
		}
	}()
	defer close(stop)
	mine := 0
	for range 20_000 {
		text, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(text), "sentinel") {
			return outcome{true, "read it"}
		}
		if err == nil {
			mine++
		}
	}
	return outcome{false, fmt.Sprintf("%d reads of the own file", mine)}
}

// signalByDescriptor lets the kernel kill somebody else, when something can be
// read.
func signalByDescriptor(pid int) outcome {
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return tried(err)
	}
	if _, _, errno := syscall.RawSyscall(syscall.SYS_FCNTL, uintptr(pair[0]), syscall.F_SETOWN, uintptr(pid)); errno != 0 {
		return ofErrno(errno)
	}
	const setSignal = 10 // F_SETSIG
	if _, _, errno := syscall.RawSyscall(syscall.SYS_FCNTL, uintptr(pair[0]), setSignal, uintptr(syscall.SIGKILL)); errno != 0 {
		return ofErrno(errno)
	}
	if _, _, errno := syscall.RawSyscall(syscall.SYS_FCNTL, uintptr(pair[0]), syscall.F_SETFL, syscall.O_ASYNC|syscall.O_NONBLOCK); errno != 0 {
		return ofErrno(errno)
	}
	_, err = syscall.Write(pair[1], []byte{1})
	return tried(err)
}

// leaveBehind makes something that lives on without a process.
func leaveBehind(kind string, key uintptr) outcome {
	var errno syscall.Errno
	const create = 0o1000 | 0o666
	switch kind {
	case "memory":
		_, _, errno = syscall.RawSyscall(syscall.SYS_SHMGET, key, 4096, create)
	case "semaphores":
		_, _, errno = syscall.RawSyscall(syscall.SYS_SEMGET, key, 1, create)
	case "messages":
		_, _, errno = syscall.RawSyscall(syscall.SYS_MSGGET, key, create, 0)
	}
	return ofErrno(errno)
}
