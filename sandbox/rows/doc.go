// Package rows reads tabular files for a call: JSON, JSON Lines, CSV and TSV
// become a [sandbox.Table], or JSON text where the rows are no table; so do Parquet,
// Arrow IPC and Excel workbooks, and any of these packed with gzip or zstd.
//
// It guarantees that no value changes on the way. Integers keep all their
// digits; a decimal number becomes a float only if the float gives the same
// digits back; what is ambiguous (two columns of one name, a row that is too
// short, bytes that are no UTF-8) is refused with its file, line and column
// instead of being guessed at. Sizes are bounded before anything is allocated
// for them.
//
// # Formats
//
// The format is Options.Format; else what the name's ending says (.json;
// .jsonl, .ndjson; .csv; .tsv, .tab; .parquet; .xlsx, .xlsm; .arrow, .arrows, .feather,
// .ipc); else it is sniffed: text that begins with
// "[" is JSON, with "{" JSON Lines; of what is left, a tab in the first line
// means TSV, and everything else is CSV. A UTF-8 byte order mark is skipped.
//
// JSON is one array. JSON Lines is one value per line, blank lines skipped. In
// both, rows that are objects of plain values with the same names in the same
// order become a Table; any other array (rows with different names, nested
// values, arrays, plain values) is handed over as JSON text, so that the guest
// sees exactly what a JSON parser of its own would make of it. Refused are
// repeated names, invalid UTF-8, numbers that no float64 holds (1e400), and
// integers of more than 4,300 digits.
//
// CSV is RFC 4180 with any of LF, CRLF and CR as the line end. The first record
// names the columns; a column without a name is called "column_N", counted from
// 1. Blank lines are skipped (a single empty cell is written ""). The separator
// is the comma, or the semicolon if the first line has semicolons and no comma.
// TSV is the same with tabs; there a quote inside an unquoted cell is plain
// text, where CSV refuses it. Cells are never trimmed.
//
// # Types of CSV and TSV columns
//
// The type is the column's, decided over all its cells; quotes make no
// difference and an empty cell is null in every column.
//
//   - true and false, in any case: bool.
//   - 0 and digits without a leading zero, with an optional minus sign: integer
//     of any size.
//   - those and decimals such as -12.50, at least one of them a decimal: float.
//     Only if each of them survives: an integer beyond 2^53 or a decimal with
//     more digits than a float keeps makes the column text.
//   - anything else: string. That includes 007, +49…, 1_000, 1,000, 0x10, 1e5,
//     .5, nan, inf, dates, and numbers with spaces around them.
//
// # Parquet, Arrow and Excel
//
// Columns keep their types: integers of up to 64 bits exactly, with and without a
// sign; floats; text, which must be UTF-8; binary as bytes; lists and structs as
// lists and dicts, maps as lists of dicts with key and value. Dates, times of day
// and timestamps (to the nanosecond, with +00:00 if they are moments in UTC) become
// ISO 8601 text, decimals text with all their digits. Intervals and encrypted files
// are refused.
//
// Arrow IPC is read as a file (.arrow, .feather of version 2) and as a stream, plain
// or with buffers packed by lz4 or zstd. Columns become what they become from
// Parquet; what dictionaries hold takes the place of the numbers that refer to it,
// and lengths of time become ISO 8601 text. Refused are big-endian files, versions
// before V4, unions, intervals, list views, run-end encoded values, dictionaries of
// nested values, and dictionaries that a file has behind the rows that need them.
//
// Of a workbook one sheet is read. Its first row with anything in it names the
// columns; empty rows are skipped; numbers that are shown as dates become dates.
// An error such as #N/A is text. Formulas count as what they gave last.
//
// # Packed files
//
// gzip and zstd are taken off by what a file begins with, once. What is unpacked
// is bounded like what is read.
//
// Options.Strings switches all of that off: every cell is a string, an empty
// one the empty string.
package rows
