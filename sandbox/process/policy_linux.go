//go:build amd64 || arm64

package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"
)

// policy is what the host tells the spawner: everything about the call but its
// input. It travels in a sealed memory file, so that neither side can change it
// after the other has looked.
type policy struct {
	Command string
	Args    []string // with the program's name
	Env     []string
	Dir     string

	Places []place // what is granted
	Links  []link  // that lead to it
	// Boxes are the directories, without links and in order, that are written
	// within WriteBytes together.
	Boxes      []string
	WriteBytes int64

	Network   Network
	UnixConns bool // AF_UNIX may be used
	Process   bool

	// Extra is how many descriptors beyond the usual four the program gets, from
	// fdExtra on. They come with the request.
	Extra int
	// Groups is how many descriptors come with the request for the control group
	// of the call: its directory if the program is Born in it, which version 2 can
	// do, else files that the program's process writes itself into.
	Groups int
	Born   bool

	// Spaces: the keeper is started in namespaces of its own.
	Spaces bool
	// ABI is the version of Landlock whose rights are handled.
	ABI int
	// Drop: become UID and GID, give up every capability and the means to
	// gain one. Needs root.
	Drop     bool
	UID, GID int

	Memory, FileBytes, TempBytes int64
	Processes                    int64 // 0: not bounded
	Descriptors                  int64
	CPUSeconds                   int64 // of one process; 0: not bounded
}

// rights are ways to use a path.
type rights uint8

const (
	mayRead rights = 1 << iota
	mayWrite
	mayExec
	mayConnect
)

// maxPolicy bounds what the spawner reads: arguments, environment and paths.
const maxPolicy = 16 << 20

// file writes the policy into a sealed memory file.
func (p *policy) file() (*os.File, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	if len(text) > maxPolicy {
		return nil, fmt.Errorf("the policy has %d bytes, more than %d", len(text), maxPolicy)
	}
	return sealed("policy", text)
}

// readPolicy is the other end of file.
func readPolicy(fd int) (*policy, error) {
	text := make([]byte, 64<<10)
	total := 0
	for {
		n, err := unix.Pread(fd, text[total:], int64(total))
		if err != nil {
			return nil, os.NewSyscallError("pread", err)
		}
		if total += n; n == 0 {
			break
		}
		if total == len(text) {
			if total > maxPolicy {
				return nil, fmt.Errorf("it has more than %d bytes", maxPolicy)
			}
			text = append(text, make([]byte, len(text))...)
		}
	}
	p := new(policy)
	if err := json.Unmarshal(text[:total], p, json.RejectUnknownMembers(true)); err != nil {
		return nil, err
	}
	return p, nil
}

// check refuses what the kernel would take for something else: a number below
// zero for no limit at all, a zero byte for the end of a text.
func (p *policy) check() error {
	for _, n := range []int64{
		p.Memory, p.FileBytes, p.TempBytes, p.WriteBytes, p.Processes, p.Descriptors, p.CPUSeconds, int64(p.UID), int64(p.GID), int64(p.ABI),
	} {
		if n < 0 {
			return errors.New("a number is below zero")
		}
	}
	if p.Network > NetworkProxy {
		return errors.New("the network is not a known one")
	}
	paths := slices.Clone(p.Boxes)
	for _, at := range p.Places {
		paths = append(paths, at.Path)
	}
	texts := slices.Concat([]string{p.Command, p.Dir}, p.Args, p.Env)
	for _, l := range p.Links {
		paths, texts = append(paths, l.Path), append(texts, l.Target)
	}
	// They are put behind that of the new root: another form would lead elsewhere.
	for _, path := range paths {
		if !filepath.IsAbs(path) || filepath.Clean(path) != path {
			return errors.New("a path is not absolute, or not in its shortest form")
		}
	}
	texts = append(texts, paths...)
	for _, text := range texts {
		if strings.ContainsRune(text, 0) {
			return errors.New("a text holds a zero byte")
		}
	}
	return nil
}
