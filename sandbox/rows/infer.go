package rows

import "strconv"

// kinds is the set of cell kinds that a column holds.
type kinds uint8

const (
	sawBool kinds = 1 << iota
	sawInteger
	sawLongInteger // an integer that a float64 would round
	sawDecimal
	sawText
)

// kindOf classifies one cell; an empty one has no kind.
func kindOf(cell string) kinds {
	if cell == "" {
		return 0
	}
	switch c := cell[0]; {
	case c == '-' || '0' <= c && c <= '9':
		switch {
		case isInteger(cell):
			if exactAsFloat(cell) {
				return sawInteger
			}
			return sawInteger | sawLongInteger
		case isDecimal(cell):
			return sawDecimal
		}
	case c == 't' || c == 'T' || c == 'f' || c == 'F':
		if _, ok := boolean(cell); ok {
			return sawBool
		}
	}
	return sawText
}

// boolean reads true and false in any case.
func boolean(cell string) (value, ok bool) {
	switch len(cell) {
	case 4:
		return true, lower(cell[0]) == 't' && lower(cell[1]) == 'r' && lower(cell[2]) == 'u' && lower(cell[3]) == 'e'
	case 5:
		return false, lower(cell[0]) == 'f' && lower(cell[1]) == 'a' && lower(cell[2]) == 'l' && lower(cell[3]) == 's' && lower(cell[4]) == 'e'
	}
	return false, false
}

func lower(c byte) byte { return c | 0x20 }

// column converts the cells of one column.
type column struct {
	kind   columnKind
	recent recentStrings
}

type columnKind uint8

const (
	textColumn    columnKind = iota // empty cells are null
	stringsColumn                   // empty cells are empty strings
	boolColumn
	integerColumn
	floatColumn
)

// kind decides the type of a column that holds cells of these kinds.
func (k kinds) column() columnKind {
	switch k {
	case sawBool:
		return boolColumn
	case sawInteger, sawInteger | sawLongInteger:
		return integerColumn
	case sawDecimal, sawDecimal | sawInteger:
		return floatColumn
	}
	return textColumn
}

// value converts a cell. Preconditions: the column's kind was decided with
// this cell among the others.
func (c *column) value(cell string) any {
	if cell == "" && c.kind != stringsColumn {
		return nil
	}
	switch c.kind {
	case boolColumn:
		v, _ := boolean(cell)
		return v
	case integerColumn:
		return integer(cell)
	case floatColumn:
		f, _ := strconv.ParseFloat(cell, 64)
		return f
	}
	return c.recent.box(cell)
}
