package httpapi

import (
	"bytes"
	"io"
	"net/http"
	"strings"

	"github.com/mayfly-run/mayfly/sandbox"
	"github.com/mayfly-run/mayfly/sandbox/rows"
)

// tableText is a file of rows.
type tableText struct {
	// Name is what errors call the file; its ending may tell the format.
	Name   string      `json:"name"`
	Format rows.Format `json:"format"` // empty: found out
	Text   string      `json:"text"`
	// Data is in place of Text what is no text, in base64: Parquet, Arrow IPC, an Excel
	// workbook, or any of the formats packed with gzip or zstd. What the tables of
	// a request unpack to may be as long as a request.
	Data []byte `json:"data"`
	// Sheet is the sheet of an Excel workbook; empty: the first.
	Sheet string `json:"sheet"`
}

// globals are the variables for the code.
func (q *request) globals(in execRequest) (map[string]any, *refused) {
	globals := make(map[string]any, len(in.Globals)+len(in.Tables))
	for name, value := range in.Globals {
		globals[name] = sandbox.RawJSON(value)
	}
	share := q.unpackShare(in.Tables)
	for name, table := range in.Tables {
		where := "/tables/" + jsonPointerEscape.Replace(name)
		if _, taken := globals[name]; taken {
			return nil, refuse(http.StatusBadRequest, "bad_request", where, "a global has this name too")
		}
		value, refused := q.table(table, where, share)
		if refused != nil {
			return nil, refused
		}
		globals[name] = value
	}
	return globals, nil
}

var jsonPointerEscape = strings.NewReplacer("~", "~0", "/", "~1")

// What a table takes in memory at most: for each value, and for each byte of what it
// is read from.
const (
	cellMemory = 64
	byteMemory = 3
)

// tableMemory is how much a table of so many bytes and values can take.
func tableMemory(bytes, cells int64) int64 { return byteMemory*bytes + cellMemory*cells }

// cellsOf is how many values a text has at most. Between two of them there is at
// least one of these.
func cellsOf(text string) (n int64) {
	for i := range len(text) {
		switch text[i] {
		case ',', ';', '\t', '|', '\n', '\r', ':', '[', '{', ']', '}':
			n++
		}
	}
	return n + 1
}

// bytesPerCell is how many bytes there must be for each value of what is unpacked.
const bytesPerCell = 4

// unpackShare is how much each table with data may unpack to: together as much as
// a request may have, and no more than there would be room for if this request were
// the only one.
func (q *request) unpackShare(tables map[string]tableText) int64 {
	packed := int64(0)
	for _, t := range tables {
		if t.Data != nil {
			packed++
		}
	}
	room := (q.s.work.Of(q.caller.id()).Most() - q.held.Bytes()) * bytesPerCell / tableMemory(bytesPerCell, 1)
	return max(1, min(q.s.config.MaxBody, room)/max(1, packed))
}

// table reads one table.
func (q *request) table(t tableText, where string, share int64) (any, *refused) {
	if len(t.Name) > maxText || len(t.Sheet) > maxText {
		return nil, refuse(http.StatusBadRequest, "bad_request", where, "a name is too long")
	}
	if t.Text != "" && t.Data != nil {
		return nil, refuse(http.StatusBadRequest, "bad_request", where, "a table is given as text or as data, not both")
	}
	switch t.Format {
	case "", rows.JSON, rows.JSONLines, rows.CSV, rows.TSV, rows.Parquet, rows.Arrow, rows.Excel:
	default:
		return nil, refuse(http.StatusBadRequest, "bad_request", where+"/format", "the format is one of %s", rows.FormatNames)
	}
	options := rows.Options{Name: t.Name, Format: t.Format, Sheet: t.Sheet}
	input, from := io.Reader(strings.NewReader(t.Text)), "text"
	// It takes its room before anything is read, and gives back what it did not need.
	room := tableMemory(int64(len(t.Text)), cellsOf(t.Text))
	if t.Data != nil {
		// A small body can unpack to much, of which there is no telling before. Those
		// that do wait for each other: all at once would have no room.
		leave, ok := q.s.unpacking.Enter(q.r.Context())
		if !ok {
			return nil, q.noRoom()
		}
		defer leave()
		input, from = bytes.NewReader(t.Data), "data"
		options.MaxBytes, options.MaxCells = share, int(max(1, share/bytesPerCell))
		room = tableMemory(options.MaxBytes, int64(options.MaxCells))
	}
	if refused := q.hold(room); refused != nil {
		return nil, refused
	}
	if options.Name == "" {
		options.Name = from
	}
	read, err := rows.Read(input, options)
	q.held.Give(room - min(room, sizeOf(read)))
	if err != nil {
		return nil, refuse(http.StatusUnprocessableEntity, "bad_table", where+"/"+from, "%v", err)
	}
	if t.Sheet != "" && read.Format != rows.Excel {
		return nil, refuse(http.StatusBadRequest, "bad_request", where+"/sheet", "a sheet is of an Excel workbook, and this is %s", read.Format)
	}
	if read.Table != nil {
		return read.Table, nil
	}
	return read.JSON, nil
}

// sizeOf is how much rows take in memory, about.
func sizeOf(r rows.Rows) int64 {
	if r.Table == nil {
		return int64(len(r.JSON))
	}
	size := cellMemory * int64(r.Len) * int64(len(r.Table.Columns))
	for _, row := range r.Table.Rows {
		for _, value := range row {
			if text, ok := value.(string); ok {
				size += int64(len(text))
			}
		}
	}
	return size
}
