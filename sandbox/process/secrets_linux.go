//go:build amd64 || arm64

package process

import (
	"errors"
	"os"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"
)

// secretsFile gives a sealed memory file with the secrets of a call as a JSON
// object, to be read from its start; nil if there are none. It has no name
// anywhere, and what reads it has it through its descriptor alone.
func (s *Spec) secretsFile() (*os.File, error) {
	if len(s.Secrets) == 0 {
		return nil, nil
	}
	values := make(map[string]string, len(s.Secrets))
	for name, value := range s.Secrets {
		values[name] = string(value)
	}
	text, err := json.Marshal(values, json.Deterministic(true))
	if err != nil {
		return nil, errors.New("the secrets cannot be written as JSON") // its own words would hold a value
	}
	return sealed("secrets", text)
}

// sealed makes a memory file that nobody can change any more.
func sealed(name string, text []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	f := os.NewFile(uintptr(fd), name)
	_, err = f.WriteAt(text, 0)
	if err == nil {
		const seals = unix.F_SEAL_SEAL | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE
		_, err = unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, seals)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
