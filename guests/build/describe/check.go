package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// The sections of a module that are looked at.
const (
	sectionCustom   = 0
	sectionImport   = 2
	sectionFunction = 3
	sectionGlobal   = 6
	sectionExport   = 7
	sectionStart    = 8
)

const (
	kindFunction   = 0
	kindGlobal     = 3
	exportedGlobal = "__stack_pointer"
)

var hostImports = []string{"host_call", "host_read"}

// reader reads a module. The first fault stays, and everything after it is
// zero.
type reader struct {
	rest []byte
	err  error
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.rest = nil
}

func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		r.fail(errors.New("the module is cut short"))
		return nil
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *reader) byte() byte {
	if b := r.take(1); len(b) == 1 {
		return b[0]
	}
	return 0
}

// number reads a LEB128 number; a signed one is as long as an unsigned one.
func (r *reader) number() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.fail(errors.New("the module has a number that does not end"))
		return 0
	}
	r.take(uint64(n))
	return v
}

func (r *reader) name() string { return string(r.take(r.number())) }

// constant skips an expression of one instruction.
func (r *reader) constant() {
	switch op := r.byte(); op {
	case 0x41, 0x42, 0x23, 0xD2: // i32.const, i64.const, global.get, ref.func
		r.number()
	case 0x43:
		r.take(4)
	case 0x44:
		r.take(8)
	case 0xD0:
		r.byte()
	default:
		r.fail(fmt.Errorf("a constant expression with opcode %#x", op))
	}
	if end := r.byte(); end != 0x0B {
		r.fail(errors.New("a constant expression of more than one instruction"))
	}
}

// check gives the number of functions of a module that is as the engine wants
// it, with exactly these exports.
func check(module []byte, exports []string) (functions int, err error) {
	header := []byte("\x00asm\x01\x00\x00\x00")
	if !bytes.HasPrefix(module, header) {
		return 0, errors.New("not a WebAssembly module of version 1")
	}
	var sections [16][]byte
	r := &reader{rest: module[len(header):]}
	for len(r.rest) > 0 {
		id := r.byte()
		content := r.take(r.number())
		if int(id) >= len(sections) {
			return 0, fmt.Errorf("unknown section %d", id)
		}
		if id == sectionCustom {
			// Names slow the engine down.
			custom := &reader{rest: content}
			if custom.name() == "name" {
				return 0, errors.New("the module still has a name section")
			}
			continue
		}
		sections[id] = content
	}
	if r.err != nil {
		return 0, r.err
	}
	if sections[sectionStart] != nil {
		return 0, errors.New("the module has a start function")
	}
	if err := checkImports(sections[sectionImport]); err != nil {
		return 0, err
	}
	if err := checkExports(sections[sectionExport], sections[sectionGlobal], exports); err != nil {
		return 0, err
	}
	r = &reader{rest: sections[sectionFunction]}
	count := r.number()
	return int(count), r.err
}

func checkImports(section []byte) error {
	r := &reader{rest: section}
	for range r.number() {
		module, name, kind := r.name(), r.name(), r.byte()
		r.number()
		if r.err != nil {
			return r.err
		}
		if kind != kindFunction {
			return fmt.Errorf("an import that is no function: %s.%s", module, name)
		}
		if module != "wasi_snapshot_preview1" && !(module == "mayfly" && slices.Contains(hostImports, name)) {
			return fmt.Errorf("an import that the engine does not have: %s.%s", module, name)
		}
	}
	return r.err
}

func checkExports(exportSection, globalSection []byte, want []string) error {
	r := &reader{rest: exportSection}
	var names []string
	stackPointer := ^uint64(0)
	for range r.number() {
		name, kind, index := r.name(), r.byte(), r.number()
		if r.err != nil {
			return r.err
		}
		names = append(names, name)
		if name == exportedGlobal && kind == kindGlobal {
			stackPointer = index
		}
	}
	slices.Sort(names)
	if !slices.Equal(names, want) {
		return fmt.Errorf("the exports are %q, exports.txt has %q", names, want)
	}
	r = &reader{rest: globalSection}
	for i := range r.number() {
		r.byte()
		if mutable := r.byte() != 0; mutable && i != stackPointer {
			return errors.New("there are mutable globals besides " + exportedGlobal)
		}
		r.constant()
		if r.err != nil {
			return r.err
		}
	}
	return r.err
}
