package guests

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/go-json-experiment/json"
)

// Info is what is known of a built guest: what it is and what went into it.
// The build writes it; its JSON form is the file beside the module.
type Info struct {
	// Name is the name of the guest's folder.
	Name string `json:"name"`
	// Language and Version are what the interpreter calls itself: "Python",
	// "3.13.5".
	Language string `json:"language"`
	Version  string `json:"version"`
	// Module is the WebAssembly binary, Compressed its embedded form (zstd).
	Module     Blob `json:"module"`
	Compressed Blob `json:"compressed"`
	// Functions is how many functions the module defines.
	Functions int `json:"functions"`
	// Build is the hash of everything that went into the guest.
	Build string `json:"build"`
	// Optimised is false for a build that left out wasm-opt, for development.
	Optimised bool `json:"optimised"`
	// Toolchain lists the programs that made it, with their versions.
	Toolchain []string `json:"toolchain"`
	// Components gives the version of everything that was compiled in.
	Components map[string]string `json:"components"`
	// Flags gives the compiler's and linker's flags by group.
	Flags map[string]string `json:"flags"`
	// NativeModules lists the modules of the standard library that are written
	// in C, FrozenModules those that are bytecode. A language whose library is
	// no modules has none.
	NativeModules []string `json:"native_modules"`
	FrozenModules []string `json:"frozen_modules"`
	// Packages are what can be imported besides the standard library, by name.
	// Without any it is empty.
	Packages []Package `json:"packages"`
	// TimeZones is how many names of time zones the guest knows; 0: UTC only.
	TimeZones int `json:"time_zones"`
	// Inputs are the pinned files that the build fetched.
	Inputs []Input `json:"inputs"`
}

// Blob is the size, in bytes, and the SHA-256 of a file, in hexadecimal.
type Blob struct {
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
}

// Input is a file that a build used.
type Input struct {
	// File is its path below the root of a Debian mirror.
	File   string `json:"file"`
	SHA256 string `json:"sha256"`
}

// maxModule is the largest module that is unpacked: far beyond any guest, and
// little enough not to hurt.
const maxModule = 256 << 20

func readInfo(files fs.FS, name string) (Info, error) {
	text, err := fs.ReadFile(files, "artefacts/"+name+".json")
	if errors.Is(err, fs.ErrNotExist) {
		return Info{}, fmt.Errorf("guests: %s: %w", name, ErrMissing)
	}
	if err != nil {
		return Info{}, fmt.Errorf("guests: %s: %w", name, err)
	}
	var info Info
	if err := json.Unmarshal(text, &info, json.RejectUnknownMembers(true)); err != nil {
		return Info{}, fmt.Errorf("guests: %s.json: %w; run `make guests` again", name, err)
	}
	if info.Name != name || info.Version == "" || info.Module.Bytes <= 0 || info.Module.Bytes > maxModule {
		return Info{}, fmt.Errorf("guests: %s.json does not describe %s; run `make guests` again", name, name)
	}
	return info, nil
}
