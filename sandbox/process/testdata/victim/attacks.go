package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

func init() {
	acts["read"] = func(a []string) any { return read(a[0]) }
	acts["write"] = func(a []string) any { return write(a[0]) }
	acts["list"] = func(a []string) any { _, err := os.ReadDir(a[0]); return tried(err) }
	acts["stat"] = func(a []string) any { _, err := os.Stat(a[0]); return tried(err) }
	acts["chmod"] = func(a []string) any { return tried(os.Chmod(a[0], 0o666)) }
	acts["truncate"] = func(a []string) any { return tried(os.Truncate(a[0], 0)) }
	acts["remove"] = func(a []string) any { return tried(os.Remove(a[0])) }
	acts["read by link"] = func(a []string) any { return readByLink(a[0], a[1]) }
	acts["hard link"] = func(a []string) any { return tried(os.Link(a[0], filepath.Join(a[1], "hard"))) }
	acts["rename out"] = func(a []string) any { return renameOut(a[0], a[1]) }
	acts["execute own"] = func(a []string) any { return executeOwn(a[0]) }
	acts["execute"] = func(a []string) any { return tried(exec.Command(a[0], a[1:]...).Run()) }
	acts["read descriptor"] = func([]string) any { return readDescriptor() }
	acts["read environment"] = func(a []string) any { return read("/proc/" + a[0] + "/environ") }
	acts["variable"] = func(a []string) any { return outcome{os.Getenv(a[0]) != "", "looked"} }

	acts["dial"] = func(a []string) any { return dial(a[0], a[1]) }
	acts["listen"] = func(a []string) any { return listen(a[0], a[1]) }
	acts["datagram"] = func(a []string) any { return datagram(a[0], a[1]) }
	acts["pair datagram"] = func(a []string) any { return pairDatagram(a[0]) }

	acts["signal"] = func(a []string) any { return signal0(a[0]) }
	acts["signal parent"] = func([]string) any { return signal0(strconv.Itoa(os.Getppid())) }
	acts["signal thread"] = func(a []string) any {
		pid, _ := strconv.Atoi(a[0])
		_, _, errno := syscall.RawSyscall(syscall.SYS_TGKILL, uintptr(pid), uintptr(pid), 0)
		return ofErrno(errno)
	}
	acts["nice"] = func(a []string) any {
		pid, _ := strconv.Atoi(a[0])
		return tried(syscall.Setpriority(syscall.PRIO_PROCESS, pid, 19))
	}
	acts["shared memory"] = func(a []string) any {
		id, _ := strconv.Atoi(a[0])
		at, _, errno := syscall.RawSyscall(syscall.SYS_SHMAT, uintptr(id), 0, 0o10000)
		if errno != 0 {
			return tried(errno)
		}
		// Read through the kernel: the address is none of Go's.
		r, w, err := os.Pipe()
		if err != nil {
			return outcome{false, "setup: " + err.Error()}
		}
		n, _, errno := syscall.RawSyscall(syscall.SYS_WRITE, w.Fd(), at, 8)
		if errno != 0 || n != 8 {
			return outcome{false, "nothing to read"}
		}
		buf := make([]byte, 8)
		r.Read(buf)
		return outcome{string(buf) == "sentinel", "read"}
	}
	acts["watch"] = func(a []string) any {
		fd, err := syscall.InotifyInit1(0)
		if err == nil {
			_, err = syscall.InotifyAddWatch(fd, a[0], syscall.IN_CREATE)
		}
		return tried(err)
	}
	acts["fork"] = func([]string) any { return tried(exec.Command(os.Args[0], "silent").Run()) }
	acts["syscall"] = func(a []string) any { return call(a) }
	acts["int80"] = func([]string) any { return int80() }

	acts["descriptors"] = func([]string) any {
		n := 0
		for {
			if _, err := syscall.Dup(2); err != nil {
				return n
			}
			if n++; n > 100_000 {
				return n
			}
		}
	}
	acts["processes"] = func([]string) any {
		n := 0
		for n < 400 {
			cmd := exec.Command(os.Args[0], "hang")
			if cmd.Start() != nil {
				break
			}
			n++
		}
		return n
	}
	acts["file size"] = func(a []string) any { return fill(filepath.Join(a[0], "large"), 16<<20) }
	acts["files"] = func(a []string) any {
		total := 0
		for i := range 64 {
			n := fill(filepath.Join(a[0], strconv.Itoa(i)), 1<<20)
			total += n
			if n < 1<<20 {
				break
			}
		}
		return total
	}
	acts["memory"] = func(a []string) any {
		size, _ := strconv.Atoi(a[0])
		b, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
		if err == nil {
			b[0] = 1
		}
		return tried(err)
	}
}

func read(path string) outcome {
	text, err := os.ReadFile(path)
	if err == nil && !strings.Contains(string(text), "sentinel") {
		return outcome{false, fmt.Sprintf("read %d bytes, no sentinel", len(text))}
	}
	return tried(err)
}

func write(path string) outcome {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err == nil {
		_, err = f.WriteString("changed")
		f.Close()
	}
	return tried(err)
}

func readByLink(dir, target string) outcome {
	link := filepath.Join(dir, "link")
	if err := os.Symlink(target, link); err != nil {
		return tried(err)
	}
	defer os.Remove(link)
	return read(link)
}

func renameOut(dir, target string) outcome {
	from := filepath.Join(dir, "mine")
	if err := os.WriteFile(from, nil, 0o600); err != nil {
		return outcome{false, "setup: " + err.Error()}
	}
	defer os.Remove(from)
	return tried(os.Rename(from, target))
}

func executeOwn(dir string) outcome {
	text, err := os.ReadFile(os.Args[0])
	if err != nil {
		return outcome{false, "setup: " + err.Error()}
	}
	own := filepath.Join(dir, "own")
	if err := os.WriteFile(own, text, 0o700); err != nil {
		return outcome{false, "setup: " + err.Error()}
	}
	defer os.Remove(own)
	return tried(exec.Command(own, "silent").Run())
}

func readDescriptor() outcome {
	for fd := 4; fd < 1024; fd++ {
		buf := make([]byte, 64)
		if n, err := syscall.Pread(fd, buf, 0); err == nil && strings.Contains(string(buf[:n]), "sentinel") {
			return outcome{true, fmt.Sprint("descriptor ", fd)}
		}
	}
	return outcome{false, "none has it"}
}

func dial(network, address string) outcome {
	conn, err := net.DialTimeout(network, address, time.Second)
	if err != nil {
		return tried(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Second))
	buf := make([]byte, 16)
	n, err := conn.Read(buf)
	if err == nil && string(buf[:n]) != "sentinel" {
		err = errors.New("somebody else answers")
	}
	return tried(err)
}

func listen(network, address string) outcome {
	l, err := net.Listen(network, address)
	if err == nil {
		l.Close()
	}
	return tried(err)
}

// datagram counts as sent when the kernel took it.
func datagram(network, address string) outcome {
	conn, err := net.Dial(network, address)
	if err == nil {
		_, err = conn.Write([]byte("changed"))
		conn.Close()
	}
	return tried(err)
}

func pairDatagram(path string) outcome {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_DGRAM, 0)
	if err != nil {
		return tried(err)
	}
	return tried(syscall.Sendto(fds[0], []byte("changed"), 0, &syscall.SockaddrUnix{Name: path}))
}

func signal0(pid string) outcome {
	n, err := strconv.Atoi(pid)
	if err != nil || n <= 0 {
		return outcome{false, "there is nobody to signal"}
	}
	return tried(syscall.Kill(n, 0))
}

func ofErrno(errno syscall.Errno) outcome {
	if errno != 0 {
		return tried(errno)
	}
	return tried(nil)
}

// refusals are the answers that mean that the kernel did not even look, or had
// nobody to do it to.
var refusals = map[syscall.Errno]bool{syscall.EPERM: true, syscall.EACCES: true, syscall.ENOSYS: true, syscall.EAFNOSUPPORT: true, syscall.ESRCH: true}

// call makes one system call. An argument that starts with @ is the address of
// zeroed memory.
func call(args []string) outcome {
	var words [7]uintptr
	for i, arg := range args {
		if arg == "@" {
			words[i] = uintptr(unsafe.Pointer(&room[0]))
		} else if n, err := strconv.ParseInt(arg, 0, 64); err == nil {
			words[i] = uintptr(n)
		} else {
			panic(err)
		}
	}
	_, _, errno := syscall.RawSyscall6(words[0], words[1], words[2], words[3], words[4], words[5], words[6])
	name := "none"
	if errno != 0 {
		name = errnoName(errno)
	}
	return outcome{!refusals[errno], name}
}

var room [4096]byte

func errnoName(errno syscall.Errno) string {
	for name, n := range map[string]syscall.Errno{"EPERM": syscall.EPERM, "EACCES": syscall.EACCES, "ENOSYS": syscall.ENOSYS, "EAFNOSUPPORT": syscall.EAFNOSUPPORT} {
		if n == errno {
			return name
		}
	}
	return errno.Error()
}

func fill(path string, size int) int {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		os.Stderr.WriteString(err.Error())
		return 0
	}
	defer f.Close()
	signal.Ignore(syscall.SIGXFSZ)
	total, block := 0, make([]byte, 64<<10)
	for total < size {
		n, err := f.Write(block)
		total += n
		if err != nil {
			break
		}
	}
	return total
}
