package wasm

import (
	"encoding/binary"
	"fmt"
)

// Section tags of the guest ABI; ARCHITECTURE.md gives the layout.
const (
	abiVersion = 2

	configABI = 1

	infoABI      = 1
	infoLanguage = 2
	infoVersion  = 3
	infoScratch  = 4

	requestCode    = 1
	requestName    = 2
	requestGlobals = 3
	requestOptions = 4

	responseKind    = 1
	responseValue   = 2
	responseError   = 3
	responseDropped = 4
)

// Response kinds.
const (
	kindValue = iota
	kindRaised
	kindNoJSON
	kindNoMemory
)

// Request option flags.
const optionHostCalls = 1 << 0

const maxSections = 4

// sectionSize is the room that a section with n bytes of content takes.
func sectionSize(n int) int { return 8 + (n+7)&^7 }

func appendSection(b []byte, tag uint32, content ...byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, tag)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(content)))
	b = append(b, content...)
	for len(b)%8 != 0 {
		b = append(b, 0)
	}
	return b
}

// sections holds the content of each section of a message by its tag.
type sections [maxSections + 1][]byte

// parseSections splits a message. The contents alias msg. Everything in msg is
// the guest's: sizes are checked, unknown and repeated tags are refused.
func parseSections(msg []byte) (sections, error) {
	var s sections
	for at := 0; at < len(msg); {
		if len(msg)-at < 8 {
			return s, fmt.Errorf("section header at byte %d is cut short", at)
		}
		tag := binary.LittleEndian.Uint32(msg[at:])
		size := uint64(binary.LittleEndian.Uint32(msg[at+4:]))
		at += 8
		switch {
		case tag == 0 || tag > maxSections:
			return s, fmt.Errorf("unknown section %d", tag)
		case s[tag] != nil:
			return s, fmt.Errorf("section %d is there twice", tag)
		case size > uint64(len(msg)-at):
			return s, fmt.Errorf("section %d has %d bytes, %d are left", tag, size, len(msg)-at)
		}
		s[tag] = msg[at : at+int(size) : at+int(size)]
		at = min(at+int((size+7)&^7), len(msg))
	}
	return s, nil
}

// u32 reads a section that is one number.
func (s *sections) u32(tag int) (uint32, error) {
	if len(s[tag]) != 4 {
		return 0, fmt.Errorf("section %d is not one u32", tag)
	}
	return binary.LittleEndian.Uint32(s[tag]), nil
}
