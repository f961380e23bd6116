package guests

import (
	"encoding/binary"
	"testing"
)

// exports gives the names that a WebAssembly module exports.
func exports(t *testing.T, module []byte) []string {
	t.Helper()
	section := exportSection(t, module[8:])
	var names []string
	count, section := number(t, section)
	for range count {
		var length uint64
		length, section = number(t, section)
		names = append(names, string(section[:length]))
		_, section = number(t, section[length+1:]) // a byte for the kind, then the index
	}
	return names
}

func exportSection(t *testing.T, rest []byte) []byte {
	t.Helper()
	const export = 7
	for len(rest) > 0 {
		id := rest[0]
		var size uint64
		size, rest = number(t, rest[1:])
		if id == export {
			return rest[:size]
		}
		rest = rest[size:]
	}
	t.Fatal("the module exports nothing")
	return nil
}

func number(t *testing.T, b []byte) (uint64, []byte) {
	t.Helper()
	v, n := binary.Uvarint(b)
	if n <= 0 {
		t.Fatal("the module ends in the middle of a number")
	}
	return v, b[n:]
}
