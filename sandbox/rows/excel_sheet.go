package rows

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
)

// dateStyle says what the format of a cell makes of a number.
type dateStyle uint8

const (
	isNumber dateStyle = iota
	isDate
	isClock
	isMoment
)

// readStyles finds out which styles of cells show dates.
func (w *workbook) readStyles() error {
	var styles struct {
		Formats []struct {
			ID   int    `xml:"numFmtId,attr"`
			Code string `xml:"formatCode,attr"`
		} `xml:"numFmts>numFmt"`
		Cells []struct {
			Format int `xml:"numFmtId,attr"`
		} `xml:"cellXfs>xf"`
	}
	if _, err := w.document("xl/styles.xml", &styles); err != nil {
		return err
	}
	own := make(map[int]dateStyle)
	for _, f := range styles.Formats {
		own[f.ID] = styleOf(f.Code)
	}
	for _, c := range styles.Cells {
		style, ok := own[c.Format]
		if !ok {
			style = builtIn(c.Format)
		}
		w.dates = append(w.dates, style)
	}
	return nil
}

// builtIn are the formats that every workbook has.
func builtIn(id int) dateStyle {
	switch {
	case 14 <= id && id <= 17, 27 <= id && id <= 31, id == 36, 50 <= id && id <= 54, 57 <= id && id <= 58:
		return isDate
	case 18 <= id && id <= 21, 32 <= id && id <= 35, 45 <= id && id <= 47, 55 <= id && id <= 56:
		return isClock
	case id == 22:
		return isMoment
	}
	return isNumber
}

// styleOf reads a format's code: letters of dates, outside of quotes, colours and
// conditions. A month and a minute are one letter, so m decides nothing.
func styleOf(code string) dateStyle {
	first, _, _ := strings.Cut(code, ";") // of several, the one for positive numbers
	var date, clock bool
	for i := 0; i < len(first); i++ {
		switch c := first[i] | 0x20; {
		case first[i] == '"':
			if end := strings.IndexByte(first[i+1:], '"'); end >= 0 {
				i += end + 1
			}
		case first[i] == '\\' || first[i] == '_' || first[i] == '*':
			i++
		case first[i] == '[':
			end := strings.IndexByte(first[i:], ']')
			if end < 0 {
				return isNumber
			}
			if inner := strings.ToLower(first[i+1 : i+end]); inner != "" && strings.Trim(inner, "hms") == "" {
				return isNumber // a length of time, which may be longer than a day
			}
			i += end
		case c == 'y' || c == 'd':
			date = true
		case c == 'h' || c == 's':
			clock = true
		case strings.HasPrefix(strings.ToLower(first[i:]), "general"):
			return isNumber
		}
	}
	switch {
	case date && clock:
		return isMoment
	case date:
		return isDate
	case clock:
		return isClock
	}
	if strings.Contains(strings.ToLower(first), "mmm") {
		return isDate
	}
	return isNumber
}

// readSheet reads the rows of a sheet. The first with anything in it names the
// columns.
func (w *workbook) readSheet(name string) error {
	d, closer, err := w.open(name, math.MaxInt)
	if err != nil {
		return err
	}
	if d == nil {
		return errors.New("a sheet is not in it")
	}
	defer closer.Close()
	recents := []recentStrings(nil)
	for line := 1; ; line++ {
		row, err := w.nextRow(d)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if row.empty() {
			continue
		}
		if w.b.table.Columns == nil {
			if err := w.header(row); err != nil {
				return err
			}
			recents = make([]recentStrings, len(w.b.table.Columns))
			continue
		}
		if err := w.add(row, recents); err != nil {
			return err
		}
	}
	if w.b.table.Columns == nil {
		return &Error{Name: w.b.opts.Name, Code: Empty, Reason: "is empty; the first row must name the columns"}
	}
	return nil
}

// sheetRow has the cells of a row by column.
type sheetRow []any

func (r sheetRow) empty() bool {
	for _, v := range r {
		if v != nil {
			return false
		}
	}
	return true
}

func (w *workbook) header(row sheetRow) error {
	for len(row) > 0 && row[len(row)-1] == nil {
		row = row[:len(row)-1]
	}
	var names []string
	for i, v := range row {
		name := fmt.Sprint(v)
		if v == nil || name == "" {
			name = fmt.Sprintf("column_%d", i+1)
		}
		names = append(names, name)
	}
	return w.b.columns(names)
}

func (w *workbook) add(row sheetRow, recents []recentStrings) error {
	b := w.b
	width := len(b.table.Columns)
	if err := b.count(width); err != nil {
		return err
	}
	cells := make([]any, width)
	for i, v := range row {
		if i >= width {
			if v != nil {
				return &Error{Name: b.opts.Name, Code: Ragged, Reason: fmt.Sprintf("row %d of the table has a cell in column %d, but the header names %s", len(b.table.Rows)+1, i+1, plural(width, "column"))}
			}
			continue
		}
		if s, ok := v.(string); ok {
			boxed, err := b.text(&recents[i], s)
			if err != nil {
				return err
			}
			v = boxed
		}
		cells[i] = v
	}
	b.table.Rows = append(b.table.Rows, cells)
	return nil
}

// nextRow reads the next row; io.EOF after the last.
func (w *workbook) nextRow(d *xml.Decoder) (sheetRow, error) {
	for {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		if start, ok := t.(xml.StartElement); ok && start.Name.Local == "row" {
			break
		}
	}
	var row sheetRow
	next := 0
	for {
		t, err := d.Token()
		if err != nil {
			return nil, unexpected(err)
		}
		switch t := t.(type) {
		case xml.EndElement:
			if t.Name.Local == "row" {
				return row, nil
			}
		case xml.StartElement:
			if t.Name.Local != "c" {
				continue
			}
			at, err := columnOf(attribute(t, "r"), next)
			if err != nil {
				return nil, err
			}
			v, err := w.cell(d, t)
			if err != nil {
				return nil, unexpected(err)
			}
			next = max(next, at+1)
			if v == nil && at >= len(row) {
				continue // rows of one empty cell far to the right are a file of few bytes
			}
			for len(row) <= at {
				row = append(row, nil)
			}
			row[at] = v
		}
	}
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// columnOf reads the column of a place such as AB12; a cell that has none is the
// next.
func columnOf(place string, next int) (int, error) {
	if place == "" {
		if next >= MaxColumns {
			return 0, fmt.Errorf("a row has more than %d cells", MaxColumns)
		}
		return next, nil
	}
	column := 0
	for i := 0; i < len(place) && 'A' <= place[i]&^0x20 && place[i]&^0x20 <= 'Z'; i++ {
		column = column*26 + int(place[i]&^0x20-'A') + 1
		if column > MaxColumns {
			return 0, fmt.Errorf("a cell lies beyond column %d", MaxColumns)
		}
	}
	if column == 0 {
		return 0, errors.New("a cell has no column")
	}
	return column - 1, nil
}

// cell reads the value of a cell, up to the cell's end.
func (w *workbook) cell(d *xml.Decoder, start xml.StartElement) (any, error) {
	var value strings.Builder
	var inline *string
	inside := false
	for {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		switch t := t.(type) {
		case xml.StartElement:
			if t.Name.Local == "is" {
				text, err := richText(d)
				if err != nil {
					return nil, err
				}
				inline = &text
				continue
			}
			inside = t.Name.Local == "v"
		case xml.CharData:
			if inside {
				value.Write(t)
			}
		case xml.EndElement:
			inside = false
			if t.Name.Local == "c" {
				if inline != nil {
					return *inline, nil
				}
				return w.value(value.String(), attribute(start, "t"), attribute(start, "s"))
			}
		}
	}
}

// value reads what a cell holds by its type.
func (w *workbook) value(text, kind, style string) (any, error) {
	if text == "" && kind != "str" {
		return nil, nil
	}
	switch kind {
	case "s":
		i, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || i < 0 || i >= len(w.strings) {
			return nil, errors.New("a cell names a text that is not there")
		}
		return w.strings[i], nil
	case "str", "e": // an error, such as #N/A, stays what it reads as
		return unescape(text), nil
	case "d":
		return text, nil
	case "b":
		switch strings.TrimSpace(text) {
		case "1":
			return true, nil
		case "0":
			return false, nil
		}
		return nil, errors.New("a cell is neither true nor false")
	case "", "n":
		return w.number(strings.TrimSpace(text), style)
	}
	return nil, fmt.Errorf("a cell of the type %.20q", kind)
}

func (w *workbook) number(text, style string) (any, error) {
	shown := isNumber
	if style != "" {
		if i, err := strconv.Atoi(style); err == nil && 0 <= i && i < len(w.dates) {
			shown = w.dates[i]
		}
	}
	if shown == isNumber && isInteger(text) {
		return integer(text), nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, errors.New("a cell is not a number")
	}
	if shown == isNumber {
		return f, nil
	}
	return w.date(f, shown)
}

// date reads a number of days, and parts of a day to the millisecond.
func (w *workbook) date(days float64, shown dateStyle) (any, error) {
	if !(days >= 0 && days < 2_958_466) { // the end of 9999
		return days, nil // Excel shows ####
	}
	whole := math.Floor(days)
	millis := int64(math.Round((days - whole) * 86_400_000))
	day := int64(whole)
	if millis == 86_400_000 {
		day, millis = day+1, 0
	}
	if day == 0 && (shown == isClock || millis > 0) {
		return clockText(millis, 1000)
	}
	if w.old1900 && day == 60 {
		return nil, errors.New("a cell has the date 1900-02-29, which never was")
	}
	if w.old1900 && day < 60 {
		day++
	}
	t := time.Unix((day-w.from)*86400, millis*1e6).UTC()
	if shown == isDate && millis == 0 {
		return t.Format("2006-01-02"), nil
	}
	return t.Format("2006-01-02T15:04:05") + fraction(int64(t.Nanosecond())), nil
}
