package rows

import (
	"path/filepath"
	"strings"
)

// Format is a file format of rows.
type Format string

// The formats.
const (
	JSON      Format = "json"
	JSONLines Format = "jsonl"
	CSV       Format = "csv"
	TSV       Format = "tsv"
	Parquet   Format = "parquet"
	Excel     Format = "xlsx"
	Arrow     Format = "arrow" // IPC, as a file or as a stream; Feather of version 2
)

// FormatNames lists the formats for messages.
const FormatNames = "json, jsonl, csv, tsv, parquet, xlsx, arrow"

// formatOf finds the format by the name's ending, else by the text.
func formatOf(name, text string) Format {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".json":
		return JSON
	case ".jsonl", ".ndjson":
		return JSONLines
	case ".csv":
		return CSV
	case ".tsv", ".tab":
		return TSV
	case ".parquet":
		return Parquet
	case ".xlsx", ".xlsm":
		return Excel
	case ".arrow", ".arrows", ".feather", ".ipc":
		return Arrow
	}
	if f := binaryFormat(text); f != "" {
		return f
	}
	start := strings.TrimLeft(text, " \t\r\n")
	switch {
	case strings.HasPrefix(start, "["):
		return JSON
	case strings.HasPrefix(start, "{"):
		return JSONLines
	case strings.ContainsRune(firstLine(text), '\t'):
		return TSV
	}
	return CSV
}

// csvSeparator is the comma, or the semicolon that spreadsheets write where
// the comma is the decimal mark.
func csvSeparator(text string) byte {
	line := firstLine(text)
	if strings.Contains(line, ";") && !strings.Contains(line, ",") {
		return ';'
	}
	return ','
}

// firstLine is the first line that is not blank.
func firstLine(text string) string {
	text = strings.TrimLeft(text, "\r\n")
	if i := strings.IndexAny(text, "\r\n"); i >= 0 {
		return text[:i]
	}
	return text
}
