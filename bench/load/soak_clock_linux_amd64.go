package main

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// clock is the wall clock of one process. The machine's own is everybody's, and
// a time namespace has none, but a program asks the vDSO for the time: code that
// the kernel maps into each process. There clock_gettime is replaced, in this one
// process, by the system call and an offset.
type clock struct {
	mu     sync.Mutex
	memory *os.File // of the process
	at     int64    // of the offset, in seconds
	offset time.Duration
}

// clockGettime(id, &time) asks the kernel, and adds the offset to the seconds if
// id is 0, CLOCK_REALTIME. The offset follows it.
var clockGettime = []byte{
	0xb8, 0xe4, 0, 0, 0, //       mov  $228, %eax (clock_gettime)
	0x0f, 0x05, //                syscall
	0x85, 0xff, //                test %edi, %edi
	0x75, 0x0a, //                jne  end
	0x48, 0x8b, 0x0d, 6, 0, 0, 0, // mov offset(%rip), %rcx
	0x48, 0x01, 0x0e, //          add  %rcx, (%rsi)
	0xc3,       //                      end: ret
	0x66, 0x90, //                so that the offset is written in one piece
}

// startWithClock starts a program with a wall clock of its own.
func startWithClock(cmd *exec.Cmd) (*clock, error) {
	// Only the thread that started a process may let it go on.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Ptrace = true // it stops before its first instruction
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	pid := cmd.Process.Pid
	c, err := func() (*clock, error) {
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil {
			return nil, fmt.Errorf("wait for the process to stop: %w", err)
		}
		if !status.Stopped() {
			return nil, fmt.Errorf("the process ended at its start: %#x", status)
		}
		c, err := replaceClock(pid)
		return c, errors.Join(err, syscall.PtraceDetach(pid))
	}()
	if err != nil {
		_ = cmd.Process.Kill() // the first error counts
		_ = cmd.Wait()
		return nil, fmt.Errorf("give the process a clock of its own: %w", err)
	}
	return c, nil
}

func replaceClock(pid int) (_ *clock, err error) {
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return nil, err
	}
	var begin, end int64
	for line := range strings.Lines(string(maps)) {
		if strings.HasSuffix(line, "[vdso]\n") {
			if _, err := fmt.Sscanf(line, "%x-%x", &begin, &end); err != nil {
				return nil, err
			}
		}
	}
	if end == 0 {
		return nil, errors.New("it has no vDSO")
	}
	memory, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", pid), os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, memory.Close())
		}
	}()
	text := make([]byte, end-begin)
	if _, err := memory.ReadAt(text, begin); err != nil {
		return nil, err
	}
	file, err := elf.NewFile(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	symbols, err := file.DynamicSymbols()
	if err != nil {
		return nil, err
	}
	entry := int64(-1)
	for _, s := range symbols {
		if s.Name == "__vdso_clock_gettime" {
			entry = int64(s.Value)
		}
	}
	if entry < 0 {
		return nil, errors.New("its vDSO has no clock_gettime")
	}
	// What replaces it stands in the zeros that fill the last page.
	code := append(bytes.Clone(clockGettime), make([]byte, 8)...)
	room := int64(len(text)-len(code)) &^ 7
	if room < 0 || bytes.Count(text[room:], []byte{0}) != len(text[room:]) {
		return nil, errors.New("its vDSO has no room")
	}
	if _, err := memory.WriteAt(code, begin+room); err != nil {
		return nil, err
	}
	jump := binary.LittleEndian.AppendUint32([]byte{0xe9}, uint32(room-entry-5))
	if _, err := memory.WriteAt(jump, begin+entry); err != nil {
		return nil, err
	}
	return &clock{memory: memory, at: begin + room + int64(len(clockGettime))}, nil
}

// step moves the clock by whole seconds.
func (c *clock) step(by time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	offset := c.offset + by.Truncate(time.Second)
	if _, err := c.memory.WriteAt(binary.LittleEndian.AppendUint64(nil, uint64(int64(offset/time.Second))), c.at); err != nil {
		return err
	}
	c.offset = offset
	return nil
}

func (c *clock) close() error {
	if c == nil {
		return nil
	}
	return c.memory.Close()
}
