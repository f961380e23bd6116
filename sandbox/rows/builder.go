package rows

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mayfly-run/mayfly/sandbox"
)

// builder collects the table of a binary file and counts what it holds.
type builder struct {
	opts   Options
	format Format
	table  sandbox.Table
	cells  int
	bytes  int64
	chunks int64 // bytes of a Parquet file that belong to the columns so far
}

// columns sets the columns' names.
func (b *builder) columns(names []string) error {
	if len(names) == 0 {
		return &Error{Name: b.opts.Name, Code: Empty, Reason: "has no columns"}
	}
	if len(names) > MaxColumns {
		return &Error{Name: b.opts.Name, Code: TooLarge, Reason: fmt.Sprintf("has more than %d columns", MaxColumns)}
	}
	seen := make(map[string]int, len(names))
	for i, name := range names {
		if !utf8.ValidString(name) {
			return &Error{Name: b.opts.Name, Code: Encoding, Reason: fmt.Sprintf("column %d has a name that is not UTF-8", i+1)}
		}
		if first, ok := seen[name]; ok {
			return &Error{Name: b.opts.Name, Code: DuplicateName, Reason: fmt.Sprintf("column %d has the same name as column %d", i+1, first)}
		}
		seen[name] = i + 1
	}
	b.table.Columns = names
	return nil
}

// expect refuses a file that says it has more than it may, before anything of it
// is read.
func (b *builder) expect(rows int64) error {
	if rows < 0 {
		return damaged(b.opts, b.format, nil)
	}
	width := int64(max(1, len(b.table.Columns)))
	if rows > int64(b.opts.MaxCells)/width {
		return b.tooManyCells()
	}
	if rows > b.opts.MaxBytes/cellBytes/width {
		return tooLarge(b.opts, "unpacks to too many bytes")
	}
	return nil
}

func (b *builder) tooManyCells() error {
	return &Error{Name: b.opts.Name, Code: TooLarge, Reason: fmt.Sprintf("has more than %d values", b.opts.MaxCells)}
}

// cellBytes is what a value counts of MaxBytes, whatever it is: a column of nulls
// takes no bytes of a file, and as much memory as any other. In CSV it is this much
// at least.
const cellBytes = 2

// count takes n values from what a file may hold.
func (b *builder) count(n int) error {
	if b.cells += n; b.cells > b.opts.MaxCells {
		return b.tooManyCells()
	}
	return b.weigh(cellBytes * n)
}

// weigh takes the bytes of a text from what a file may hold. They count for each
// cell: a dictionary makes few bytes of a file many of a table.
func (b *builder) weigh(n int) error {
	if b.bytes += int64(n); b.bytes > b.opts.MaxBytes {
		return tooLarge(b.opts, "unpacks to too many bytes")
	}
	return nil
}

// text boxes a cell of text.
func (b *builder) text(recent *recentStrings, s string) (any, error) {
	if err := b.weigh(len(s)); err != nil {
		return nil, err
	}
	if !utf8.ValidString(s) {
		return nil, &Error{Name: b.opts.Name, Code: Encoding, Reason: "a text is not UTF-8; store it as binary instead"}
	}
	return recent.box(s), nil
}

func (b *builder) binary(s []byte) (any, error) {
	if err := b.weigh(len(s)); err != nil {
		return nil, err
	}
	return append([]byte{}, s...), nil
}

// unsigned gives a number of up to 64 bits without a sign.
func unsigned(n uint64) any {
	if n <= 1<<63-1 {
		return int64(n)
	}
	return new(big.Int).SetUint64(n)
}

// The texts of dates, times and decimals are those that the guests give them on
// the way out: ISO 8601, and all digits.

// dateText is the date that many days after 1970-01-01.
func dateText(days int64) (any, error) {
	const most = 3_000_000 // some 8,000 years
	if days < -most || days > most {
		return nil, errYear
	}
	t := time.Unix(days*86400, 0).UTC()
	if err := checkYear(t); err != nil {
		return nil, err
	}
	return t.Format("2006-01-02"), nil
}

var errYear = fmt.Errorf("a date is outside of the years 1 to 9999")

func checkYear(t time.Time) error {
	if y := t.Year(); y < 1 || y > 9999 {
		return errYear
	}
	return nil
}

// timestampText is a moment in units since 1970, of which a second has perSecond.
// zoned says that it is a moment in UTC, and not a time on some clock.
func timestampText(n, perSecond int64, zoned bool) (any, error) {
	sec, rest := floorDiv(n, perSecond)
	const most = 300_000_000_000 // some 9,500 years
	if sec < -most || sec > most {
		return nil, errYear
	}
	t := time.Unix(sec, rest*(1e9/perSecond)).UTC()
	if err := checkYear(t); err != nil {
		return nil, err
	}
	text := t.Format("2006-01-02T15:04:05") + fraction(int64(t.Nanosecond()))
	if zoned {
		text += "+00:00"
	}
	return text, nil
}

// clockText is a time of day in units since midnight.
func clockText(n, perSecond int64) (any, error) {
	sec, rest := floorDiv(n, perSecond)
	if sec < 0 || sec >= 86400 {
		return nil, fmt.Errorf("a time of day is outside of the day")
	}
	return fmt.Sprintf("%02d:%02d:%02d", sec/3600, sec/60%60, sec%60) + fraction(rest*(1e9/perSecond)), nil
}

func floorDiv(n, by int64) (quotient, rest int64) {
	quotient, rest = n/by, n%by
	if rest < 0 {
		quotient, rest = quotient-1, rest+by
	}
	return quotient, rest
}

// fraction is the part of a second with 3, 6 or 9 digits, empty if there is none.
func fraction(nanos int64) string {
	switch {
	case nanos == 0:
		return ""
	case nanos%1e6 == 0:
		return fmt.Sprintf(".%03d", nanos/1e6)
	case nanos%1e3 == 0:
		return fmt.Sprintf(".%06d", nanos/1e3)
	}
	return fmt.Sprintf(".%09d", nanos)
}

// shortFraction is a part of a second without zeros at the end.
func shortFraction(nanos int64) string {
	return strings.TrimRight(strings.TrimRight(fmt.Sprintf(".%09d", nanos), "0"), ".")
}

// maxScale is more than any decimal has.
const maxScale = 1000

// decimalText is a whole number divided by ten to the power of scale, with all of
// its digits.
func decimalText(n *big.Int, scale int) (any, error) {
	if scale < -maxScale || scale > maxScale {
		return nil, fmt.Errorf("a decimal has a scale of %d", scale)
	}
	digits := n.String()
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	if scale <= 0 {
		if digits != "0" {
			digits += strings.Repeat("0", -scale)
		}
		return sign + digits, nil
	}
	if len(digits) <= scale {
		digits = strings.Repeat("0", scale-len(digits)+1) + digits
	}
	return sign + digits[:len(digits)-scale] + "." + digits[len(digits)-scale:], nil
}

// uuidText is a UUID in its usual form.
func uuidText(b []byte) any {
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// in names the column of an error.
func (b *builder) in(column string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := err.(*Error); ok {
		return e
	}
	return &Error{Name: b.opts.Name, Code: Syntax, Reason: "column " + strconv.Quote(column) + ": " + err.Error(), Err: err}
}
