package rows

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/parquet/metadata"
)

const parquetMark = "PAR1"

// Fields of the format's structs, by their numbers.
var (
	parquetSchemaChildren = []int16{2, 5} // of FileMetaData: schema, num_children
	parquetPageUnpacked   = []int16{2}    // of PageHeader: uncompressed_page_size
	parquetPagePacked     = []int16{3}    // compressed_page_size
	parquetPageValues     = []int16{5, 1} // data_page_header, num_values
	parquetPageValuesDict = []int16{7, 1} // dictionary_page_header, num_values
	parquetPageValues2    = []int16{8, 1} // data_page_header_v2, num_values
	parquetPageEncoding   = []int16{5, 2} // data_page_header, encoding
	parquetPageEncoding2  = []int16{8, 4} // data_page_header_v2, encoding
)

// maxParquetParts is how many columns a schema may have, with the parts of columns
// and the groups around them.
const maxParquetParts = 4 * MaxColumns

// structBytes is about what a struct of the metadata takes in memory at most.
const structBytes = 128

// checkParquetFooter walks through the metadata of a file before the library makes
// room for what it claims.
func (b *builder) checkParquetFooter(text string) error {
	const behind = 4 + len(parquetMark)
	if len(text) < len(parquetMark)+behind || !strings.HasSuffix(text, parquetMark) {
		return errors.New("the footer is missing or encrypted")
	}
	end := len(text) - behind
	size := int(littleEndian(text[end : end+4]))
	if size > end-len(parquetMark) {
		return errors.New("the footer is longer than the file")
	}
	parts := int64(0)
	w := &thriftWalk{text: text[end-size : end], structs: int(max(4096, b.opts.MaxBytes/structBytes)), number: func(path []int16, n int64) {
		if slices.Equal(path, parquetSchemaChildren) {
			if n < 0 || n > maxParquetParts {
				n = maxParquetParts + 1
			}
			parts = min(parts+n, maxParquetParts+1)
		}
	}}
	err := w.message()
	if errors.Is(err, errThriftMuch) {
		return &Error{Name: b.opts.Name, Code: TooLarge, Reason: "has metadata with too many columns and row groups; write it with fewer, larger row groups", Err: err}
	}
	if err == nil && parts > maxParquetParts {
		err = &Error{Name: b.opts.Name, Code: TooLarge, Reason: fmt.Sprintf("has a schema that claims more than %d columns and parts of columns", maxParquetParts)}
	}
	return err
}

// checkParquetWriter refuses what the library reads beyond its columns, since writers
// of old counted wrong.
func checkParquetWriter(m *metadata.FileMetaData) error {
	if m.WriterVersion().LessThan(metadata.Parquet816FixedVersion) {
		return errors.New("it was written by a version of parquet-mr from before 1.2.9; write it again")
	}
	return nil
}

// checkParquetPages walks through the headers of a column's pages: the library makes
// room for as many values as they claim. It reports whether values are differences.
func (b *builder) checkParquetPages(text string, chunk *metadata.ColumnChunkMetaData) (deltas bool, err error) {
	from, n := chunk.DataPageOffset(), chunk.TotalCompressedSize()
	if d := chunk.DictionaryPageOffset(); chunk.HasDictionaryPage() && d > 0 {
		if d > from {
			return false, errors.New("a dictionary lies behind its values")
		}
		from = d
	}
	if from < 0 || n < 0 || from > int64(len(text)) || n > int64(len(text))-from {
		return false, errors.New("a column lies outside of the file")
	}
	// Every column could be the same pages: few bytes of a file, each read again
	// thousands of times.
	if b.chunks += n; b.chunks > int64(len(text)) {
		return false, errors.New("its columns lie in one another")
	}
	for pages := text[from : from+n]; len(pages) > 0; {
		p, err := newParquetPage(pages)
		if err != nil {
			return false, err
		}
		if p.values < 0 || p.values > int64(b.opts.MaxCells) {
			return false, b.tooManyCells()
		}
		if p.unpacked < 0 || p.unpacked > maxPage || p.packed < 0 || p.packed > int64(len(pages)-p.header) {
			return false, errors.New("a page is longer than its column, or than a page may be")
		}
		deltas = deltas || p.deltas
		pages = pages[p.header+int(p.packed):]
	}
	return deltas, nil
}

// parquetPage is what the header of a page says.
type parquetPage struct {
	unpacked, packed, values int64
	header                   int // bytes of the header itself
	deltas                   bool
}

func newParquetPage(text string) (parquetPage, error) {
	var p parquetPage
	const structs = 64 // a header has three or so
	w := &thriftWalk{text: text, structs: structs, number: func(path []int16, n int64) {
		switch {
		case slices.Equal(path, parquetPageUnpacked):
			p.unpacked = n
		case slices.Equal(path, parquetPagePacked):
			p.packed = n
		case slices.Equal(path, parquetPageEncoding), slices.Equal(path, parquetPageEncoding2):
			p.deltas = p.deltas || n >= encodingDeltaBinary && n <= encodingDeltaBytes
		case slices.Equal(path, parquetPageValues), slices.Equal(path, parquetPageValues2), slices.Equal(path, parquetPageValuesDict):
			if p.values >= 0 && (n < 0 || n > p.values) { // the most of them, or one that is impossible
				p.values = n
			}
		}
	}}
	err := w.message()
	p.header = w.at
	return p, err
}
