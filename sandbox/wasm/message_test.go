package wasm

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
)

func TestParseSections(t *testing.T) {
	good := appendSection(nil, 1, 7, 0, 0, 0)
	good = appendSection(good, 3, []byte("hello, world")...)
	header := func(tag, size uint32, rest ...byte) []byte {
		b := binary.LittleEndian.AppendUint32(nil, tag)
		return append(binary.LittleEndian.AppendUint32(b, size), rest...)
	}
	for _, c := range []struct {
		name string
		msg  []byte
		want string // part of the error, "" for none
	}{
		{"empty", nil, ""},
		{"good", good, ""},
		{"short header", good[:4], "cut short"},
		{"tag zero", header(0, 0), "unknown section"},
		{"unknown tag", header(5, 0), "unknown section"},
		{"huge tag", header(1<<31, 0), "unknown section"},
		{"twice", append(bytes.Clone(good), good...), "twice"},
		{"too long", header(1, 9, make([]byte, 8)...), "are left"},
		{"length wraps", header(1, 0xffffffff, 1, 2, 3), "are left"},
		{"without padding at the end", header(1, 3, 1, 2, 3), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := parseSections(c.msg)
			if c.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want %q; sections %v", err, c.want, s)
			}
		})
	}
	s, err := parseSections(good)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := s.u32(1); n != 7 || err != nil || string(s[3]) != "hello, world" {
		t.Errorf("sections %v, %v", s, err)
	}
	if _, err := s.u32(3); err == nil {
		t.Error("a long section was read as a number")
	}
}

func FuzzParseSections(f *testing.F) {
	f.Add(appendSection(nil, 1, 0, 0, 0, 0))
	f.Add([]byte{1, 0, 0, 0, 255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, msg []byte) {
		s, err := parseSections(msg)
		if err != nil {
			return
		}
		var again []byte
		total := 0
		for tag, content := range s {
			if content != nil {
				again = appendSection(again, uint32(tag), content...)
				total += len(content)
			}
		}
		if total > len(msg) {
			t.Fatalf("%d bytes of content in a message of %d", total, len(msg))
		}
		s2, err := parseSections(again)
		if err != nil {
			t.Fatal(err)
		}
		for tag := range s {
			if !bytes.Equal(s[tag], s2[tag]) {
				t.Fatalf("section %d: %q became %q", tag, s[tag], s2[tag])
			}
		}
	})
}
