package rows

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

// arrowType is a type's number in a schema.
type arrowType int

// The types, as the format numbers them.
const (
	arrowNull        arrowType = 1
	arrowInt         arrowType = 2
	arrowFloat       arrowType = 3
	arrowBinary      arrowType = 4
	arrowText        arrowType = 5
	arrowBool        arrowType = 6
	arrowDecimal     arrowType = 7
	arrowDate        arrowType = 8
	arrowTime        arrowType = 9
	arrowTimestamp   arrowType = 10
	arrowList        arrowType = 12
	arrowStruct      arrowType = 13
	arrowFixedBinary arrowType = 15
	arrowFixedList   arrowType = 16
	arrowMap         arrowType = 17
	arrowDuration    arrowType = 18
	arrowLargeBinary arrowType = 19
	arrowLargeText   arrowType = 20
	arrowLargeList   arrowType = 21
	arrowBinaryView  arrowType = 23
	arrowTextView    arrowType = 24
)

// arrowRefused are the types that have no counterpart in a guest.
var arrowRefused = map[arrowType]string{11: "intervals", 14: "unions", 22: "run-end encoded values", 25: "list views", 26: "list views"}

// arrowField is a column, or a part of one.
type arrowField struct {
	name       string
	kind       arrowType
	width      int // bytes of a value, bits of a bool; 0: it varies
	signed     bool
	per        int64 // units of a second
	scale      int   // of a decimal
	zoned      bool  // a moment in UTC
	children   []*arrowField
	dictionary *arrowDictionary // values are numbers of it
	recent     recentStrings
}

// schema reads the columns.
func (a *arrowReader) schema(f *flatbuffer, t flatTable) error {
	if t.int16(0, 0) != 0 {
		return a.refuse("is big-endian Arrow IPC, which is not read; write it as little-endian")
	}
	fields := t.vector(1, 4)
	if fields.n > MaxColumns { // before there is room for them
		return &Error{Name: a.b.opts.Name, Code: TooLarge, Reason: fmt.Sprintf("has more than %d columns", MaxColumns)}
	}
	var names []string
	for i := range fields.n {
		field, err := a.field(fields.table(i), 0)
		if f.bad {
			break
		}
		if err != nil {
			return err
		}
		a.fields, names = append(a.fields, field), append(names, field.name)
	}
	if f.bad {
		return errors.New("the schema is damaged")
	}
	return a.b.columns(names)
}

// field reads one column. Tables can refer to one another as they like, so that
// both depth and number are bounded.
func (a *arrowReader) field(t flatTable, depth int) (*arrowField, error) {
	if depth > maxSchemaDepth {
		return nil, a.refuse("has a schema that nests deeper than %d", maxSchemaDepth)
	}
	if a.fieldsLeft--; a.fieldsLeft < 0 {
		return nil, &Error{Name: a.b.opts.Name, Code: TooLarge, Reason: fmt.Sprintf("has more than %d columns, with the parts of columns", MaxColumns)}
	}
	f := &arrowField{name: t.string(0), kind: arrowType(t.byte(2))}
	if !utf8.ValidString(f.name) && depth > 0 {
		return nil, &Error{Name: a.b.opts.Name, Code: Encoding, Reason: "a field has a name that is not UTF-8"}
	}
	if err := f.readType(t.table(3)); err != nil {
		return nil, a.b.in(f.name, err)
	}
	children := t.vector(5, 4)
	names := make(map[string]bool)
	for i := range children.n {
		child, err := a.field(children.table(i), depth+1)
		if err != nil {
			return nil, err
		}
		if names[child.name] && f.kind == arrowStruct {
			return nil, a.b.in(f.name, errors.New("a struct has two fields of one name"))
		}
		names[child.name] = true
		f.children = append(f.children, child)
		if t.f.bad {
			break
		}
	}
	if err := f.checkChildren(); err != nil {
		return nil, a.b.in(f.name, err)
	}
	if !t.has(4) {
		return f, nil
	}
	f, err := a.dictionaryField(f, t.table(4))
	return f, a.b.in(f.name, err)
}

// dictionaryField makes a field one of numbers, whose values are in a dictionary.
func (a *arrowReader) dictionaryField(values *arrowField, t flatTable) (*arrowField, error) {
	if len(values.children) > 0 {
		return values, errors.New("dictionaries of nested values are not read; write it without them")
	}
	f := &arrowField{name: values.name, kind: arrowInt, width: 4, signed: true}
	if t.has(1) {
		if err := f.readType(t.table(1)); err != nil {
			return f, err
		}
	}
	id := t.int64(0)
	dict := a.dictionaries[id]
	if dict == nil {
		dict = &arrowDictionary{field: values}
		a.dictionaries[id] = dict
	}
	was, is := dict.field, values
	if was.kind != is.kind || was.width != is.width || was.signed != is.signed || was.per != is.per || was.scale != is.scale || was.zoned != is.zoned {
		return f, errors.New("two columns have one dictionary, with values of two types")
	}
	f.dictionary = dict
	return f, nil
}

func (f *arrowField) checkChildren() error {
	want := 0
	switch f.kind {
	case arrowStruct:
		return nil
	case arrowList, arrowLargeList, arrowFixedList, arrowMap:
		want = 1
	}
	if len(f.children) != want {
		return fmt.Errorf("it has %d parts, not %d", len(f.children), want)
	}
	return nil
}

// arrowUnits are how many of each unit of time a second has.
var arrowUnits = []int64{1, 1e3, 1e6, 1e9}

// readType reads what the type of a field says.
func (f *arrowField) readType(t flatTable) error {
	fixed := func(width int, widths ...int) error {
		if slices.Contains(widths, width) {
			f.width = width / 8
			return nil
		}
		return fmt.Errorf("its values have %d bits", width)
	}
	unit := func(unit int) error {
		if unit < 0 || unit >= len(arrowUnits) {
			return fmt.Errorf("its unit of time is %d", unit)
		}
		f.per = arrowUnits[unit]
		return nil
	}
	switch f.kind {
	case arrowNull, arrowBinary, arrowText, arrowBool, arrowList, arrowStruct, arrowLargeBinary, arrowLargeText, arrowLargeList, arrowBinaryView, arrowTextView, arrowMap:
		return nil
	case arrowInt:
		f.signed = t.bool(1)
		return fixed(t.int32(0, 0), 8, 16, 32, 64)
	case arrowFloat:
		precision := t.int16(0, 0)
		if precision < 0 || precision > 2 {
			return fmt.Errorf("its precision is %d", precision)
		}
		f.width = 2 << precision
		return nil
	case arrowDecimal:
		f.scale = t.int32(1, 0)
		return fixed(t.int32(2, 128), 32, 64, 128, 256)
	case arrowDate:
		if t.int16(0, 1) == 0 {
			return fixed(32, 32) // days
		}
		f.per = 1e3
		return fixed(64, 64)
	case arrowTime:
		if err := unit(t.int16(0, 1)); err != nil {
			return err
		}
		return fixed(t.int32(1, 32), 32, 64)
	case arrowTimestamp:
		f.zoned = t.string(1) != ""
		f.width = 8
		return unit(t.int16(0, 0))
	case arrowDuration:
		f.width = 8
		return unit(t.int16(0, 1))
	case arrowFixedBinary, arrowFixedList:
		f.width = t.int32(0, 0)
		if f.width < 0 {
			return fmt.Errorf("its width is %d", f.width)
		}
		return nil
	}
	if what := arrowRefused[f.kind]; what != "" {
		return fmt.Errorf("%s are not read; convert them first", what)
	}
	return fmt.Errorf("values of the type with the number %d are not read", f.kind)
}
