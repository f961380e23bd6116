package globals

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mayfly-run/mayfly/sandbox"
)

// The tags of the form; GLOBALS.md explains them. each guest's globals.c has the same list.
const (
	tagNone = iota
	tagTrue
	tagFalse
	tagInt
	tagBigInt
	tagFloat
	tagASCII
	tagUTF8
	tagBytes
	tagList
	tagDict
	tagKeepASCII
	tagKeepUTF8
	tagKept

	tagSmallInt = 0x80
)

const (
	formatVersion = 1
	headerSize    = 8
	// dictSize is the tag and the shape's number, which is filled in last.
	dictSize = 5
	maxSize  = math.MaxInt32
)

// Encode writes globals as one section of a request. The kinds of values are
// those that [sandbox.Spec] lists; maxDepth is how many lists and dicts may lie
// within each other in one argument (a table counts as two). checkName says
// what is wrong with a name that the guest's language cannot have for a global
// variable of the caller's own: "has a name that …".
//
// It fails with *[sandbox.ArgumentError] for such a name and for a value that
// has no form. The same globals always give the same bytes.
func Encode(globals map[string]any, maxDepth int, checkName func(name string) error) ([]byte, error) {
	e := encoder{maxDepth: maxDepth, buf: make([]byte, headerSize, 1024)}
	names := slices.Sorted(maps.Keys(globals))
	object := e.beginDict()
	for _, name := range names {
		if err := checkName(name); err != nil {
			return nil, argumentError(at(name, err))
		}
		object.key(name)
		if err := e.value(globals[name], 0); err != nil {
			return nil, argumentError(at(name, err))
		}
	}
	e.endDict(object)

	binary.LittleEndian.PutUint32(e.buf, formatVersion)
	binary.LittleEndian.PutUint32(e.buf[4:], uint32(len(e.buf)-headerSize))
	e.buf = e.shapes.append(e.buf)
	if len(e.buf) > maxSize {
		return nil, &sandbox.ArgumentError{Path: "", Reason: "all arguments together are over 2 GiB"}
	}
	return e.buf, nil
}

// encoder holds what is written so far. A refused argument ends it.
type encoder struct {
	buf      []byte
	maxDepth int
	shapes   shapeTable
	slots    slotTable
	lastKeys []string
}

// placed is an error on its way up, with the path so far, innermost part last.
type placed struct {
	parts  []string // in reverse
	reason error
}

func (p *placed) Error() string { return p.reason.Error() }
func (p *placed) Unwrap() error { return p.reason }

// at adds the place that err comes from.
func at(part string, err error) error {
	p, ok := errors.AsType[*placed](err)
	if !ok {
		p = &placed{reason: err}
	}
	p.parts = append(p.parts, part)
	return p
}

func argumentError(err error) error {
	p, _ := errors.AsType[*placed](err)
	var path strings.Builder
	for _, part := range slices.Backward(p.parts) {
		path.WriteByte('/')
		path.WriteString(strings.NewReplacer("~", "~0", "/", "~1").Replace(strings.ToValidUTF8(part, "\uFFFD")))
	}
	return &sandbox.ArgumentError{Path: path.String(), Reason: p.reason.Error()}
}

var (
	errUTF8  = errors.New("is not valid UTF-8; pass []byte for raw bytes")
	errRange = errors.New("is a number too large for a float; write it as an integer or a string")
)

func errDepth(limit int) error {
	return fmt.Errorf("nests deeper than %d levels", limit)
}

func (e *encoder) value(v any, depth int) error {
	switch v := v.(type) {
	case nil:
		e.buf = append(e.buf, tagNone)
	case bool:
		if v {
			e.buf = append(e.buf, tagTrue)
		} else {
			e.buf = append(e.buf, tagFalse)
		}
	case int:
		e.int(int64(v))
	case int8:
		e.int(int64(v))
	case int16:
		e.int(int64(v))
	case int32:
		e.int(int64(v))
	case int64:
		e.int(v)
	case uint:
		e.uint(uint64(v))
	case uint8:
		e.uint(uint64(v))
	case uint16:
		e.uint(uint64(v))
	case uint32:
		e.uint(uint64(v))
	case uint64:
		e.uint(v)
	case uintptr:
		e.uint(uint64(v))
	case *big.Int:
		if v == nil {
			return errors.New("is a nil *big.Int")
		}
		e.bigInt(v)
	case float64:
		e.float(v)
	case string:
		return e.string(v)
	case []byte:
		e.buf = append(e.buf, tagBytes)
		e.buf = binary.AppendUvarint(e.buf, uint64(len(v)))
		e.buf = append(e.buf, v...)
	case []any:
		return e.list(v, depth)
	case map[string]any:
		return e.dict(v, depth)
	case *sandbox.Table:
		return e.table(v, depth)
	case sandbox.RawJSON:
		return e.json(v, depth)
	default:
		return fmt.Errorf("has the Go type %T, which no argument can have", v)
	}
	return nil
}

func (e *encoder) int(v int64) {
	if v >= 0 && v < 128 {
		e.buf = append(e.buf, tagSmallInt|byte(v))
		return
	}
	e.buf = append(e.buf, tagInt)
	e.buf = binary.AppendVarint(e.buf, v) // zigzag
}

func (e *encoder) uint(v uint64) {
	if v <= math.MaxInt64 {
		e.int(int64(v))
		return
	}
	e.bigInt(new(big.Int).SetUint64(v))
}

// bigInt writes two's complement, least significant byte first.
func (e *encoder) bigInt(v *big.Int) {
	if v.IsInt64() {
		e.int(v.Int64())
		return
	}
	magnitude := v
	if v.Sign() < 0 {
		magnitude = new(big.Int).Not(v) // ^v = -v-1, so that ^bytes gives v
	}
	size := magnitude.BitLen()/8 + 1 // a spare bit for the sign
	digits := magnitude.FillBytes(make([]byte, size))
	slices.Reverse(digits)
	if v.Sign() < 0 {
		for i := range digits {
			digits[i] = ^digits[i]
		}
	}
	e.buf = append(e.buf, tagBigInt)
	e.buf = binary.AppendUvarint(e.buf, uint64(size))
	e.buf = append(e.buf, digits...)
}

func (e *encoder) float(v float64) {
	e.buf = append(e.buf, tagFloat)
	e.buf = binary.LittleEndian.AppendUint64(e.buf, math.Float64bits(v))
}

func (e *encoder) string(s string) error {
	ascii := isASCII(s)
	if !ascii && !utf8.ValidString(s) {
		return errUTF8
	}
	if keeps(len(s)) {
		slot, kept := e.slots.find(s)
		if e.stringHead(ascii, len(s), slot, kept); kept {
			return nil
		}
	} else {
		e.longHead(ascii, len(s))
	}
	e.buf = append(e.buf, s...)
	return nil
}

// stringBytes is string for valid UTF-8 that is about to be overwritten.
func (e *encoder) stringBytes(s []byte) {
	ascii := isASCII(s)
	if keeps(len(s)) {
		slot, kept := e.slots.findBytes(s)
		if e.stringHead(ascii, len(s), slot, kept); kept {
			return
		}
	} else {
		e.longHead(ascii, len(s))
	}
	e.buf = append(e.buf, s...)
}

// keeps reports whether a string of n bytes is worth a slot.
func keeps(n int) bool { return n > 1 && n <= maxKept }

func (e *encoder) stringHead(ascii bool, n int, slot uint16, kept bool) {
	tag := byte(tagKeepUTF8)
	if kept {
		e.buf = append(e.buf, tagKept, byte(slot), byte(slot>>8))
		return
	}
	if ascii {
		tag = tagKeepASCII
	}
	e.buf = append(e.buf, tag, byte(slot), byte(slot>>8))
	e.buf = binary.AppendUvarint(e.buf, uint64(n))
}

func (e *encoder) longHead(ascii bool, n int) {
	tag := byte(tagUTF8)
	if ascii {
		tag = tagASCII
	}
	e.buf = append(e.buf, tag)
	e.buf = binary.AppendUvarint(e.buf, uint64(n))
}

func isASCII[S string | []byte](s S) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func (e *encoder) list(v []any, depth int) error {
	if depth >= e.maxDepth {
		return errDepth(e.maxDepth)
	}
	e.buf = append(e.buf, tagList)
	e.buf = binary.AppendUvarint(e.buf, uint64(len(v)))
	for i, item := range v {
		if err := e.value(item, depth+1); err != nil {
			return at(strconv.Itoa(i), err)
		}
	}
	return nil
}

func (e *encoder) dict(v map[string]any, depth int) error {
	if depth >= e.maxDepth {
		return errDepth(e.maxDepth)
	}
	object := e.beginDict()
	for _, key := range e.sortedKeys(v) {
		if !utf8.ValidString(key) {
			return at(key, errors.New("is named by a string that is not valid UTF-8"))
		}
		object.key(key)
		if err := e.value(v[key], depth+1); err != nil {
			return at(key, err)
		}
	}
	e.endDict(object)
	return nil
}

// sortedKeys gives the keys of m in order. Sorting is most of the work, so it
// is skipped where m has just the keys of the map before.
func (e *encoder) sortedKeys(m map[string]any) []string {
	same := len(m) == len(e.lastKeys)
	for i := 0; same && i < len(e.lastKeys); i++ {
		_, same = m[e.lastKeys[i]]
	}
	if !same {
		e.lastKeys = slices.Sorted(maps.Keys(m))
	}
	return e.lastKeys
}

func (e *encoder) table(t *sandbox.Table, depth int) error {
	if t == nil {
		return errors.New("is a nil *Table")
	}
	if depth+1 >= e.maxDepth {
		return errDepth(e.maxDepth)
	}
	seen := make(map[string]bool, len(t.Columns))
	for _, column := range t.Columns {
		if !utf8.ValidString(column) {
			return errors.New("has a column whose name is not valid UTF-8")
		}
		if seen[column] {
			return errors.New("has two columns of the same name")
		}
		seen[column] = true
	}
	e.buf = append(e.buf, tagList)
	e.buf = binary.AppendUvarint(e.buf, uint64(len(t.Rows)))
	if len(t.Rows) == 0 {
		return nil
	}
	shape := e.shapes.number(t.Columns, len(t.Rows))
	for i, row := range t.Rows {
		if len(row) != len(t.Columns) {
			return at(strconv.Itoa(i), fmt.Errorf("has %d values for %d columns", len(row), len(t.Columns)))
		}
		e.buf = binary.LittleEndian.AppendUint32(append(e.buf, tagDict), shape)
		for k, value := range row {
			if err := e.value(value, depth+2); err != nil {
				return at(strconv.Itoa(i), at(t.Columns[k], err))
			}
		}
	}
	return nil
}
