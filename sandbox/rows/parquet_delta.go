package rows

import (
	"errors"
	"math"

	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// Encodings of numbers as differences, by their numbers in the format.
const (
	encodingRLE         = 3
	encodingDeltaBinary = 5
	encodingDeltaLength = 6
	encodingDeltaBytes  = 7
)

// maxDeltaBlock is how many differences may be packed together. Writers have up to
// some thousands.
const maxDeltaBlock = 1 << 16

// checkParquetDeltas reads the pages of a column whose values are differences: the
// library makes room for a block of as many as a page says, and fills it, before it
// looks how many values there are.
func checkParquetDeltas(group *file.RowGroupReader, at int, column *schema.Column) error {
	pages, err := group.GetColumnPageReader(at)
	if err != nil {
		return err
	}
	defer pages.Close()
	for pages.Next() {
		if err := checkParquetDelta(pages.Page(), column); err != nil {
			return err
		}
	}
	return pages.Err()
}

func checkParquetDelta(page file.Page, column *schema.Column) error {
	encoding := page.Encoding()
	if page.Type() == file.PageTypeDictionaryPage || encoding < encodingDeltaBinary || encoding > encodingDeltaBytes {
		return nil
	}
	d := &deltaWalk{data: page.Data()}
	switch p := page.(type) {
	case *file.DataPageV1:
		if column.MaxRepetitionLevel() > 0 {
			d.levels(int(p.RepetitionLevelEncoding()))
		}
		if column.MaxDefinitionLevel() > 0 {
			d.levels(int(p.DefinitionLevelEncoding()))
		}
	case *file.DataPageV2:
		d.skip(uint64(p.RepetitionLevelByteLen()))
		d.skip(uint64(p.DefinitionLevelByteLen()))
	}
	d.numbers()
	if encoding == encodingDeltaBytes { // two times lengths: of what is shared, and of the rest
		d.numbers()
	}
	return d.err
}

// deltaWalk goes through packed differences without unpacking them.
type deltaWalk struct {
	data []byte
	err  error
}

var errDelta = errors.New("a page of differences is damaged")

func (d *deltaWalk) skip(n uint64) {
	if n > uint64(len(d.data)) {
		d.err, d.data = errDelta, nil
		return
	}
	d.data = d.data[n:]
}

func (d *deltaWalk) varint() uint64 {
	n := uint64(0)
	for i, c := range d.data {
		if i == 10 {
			break
		}
		n |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			d.data = d.data[i+1:]
			return n
		}
	}
	d.err, d.data = errDelta, nil
	return 0
}

// levels skips levels in front of the values of a page of the first version.
func (d *deltaWalk) levels(encoding int) {
	if encoding != encodingRLE || len(d.data) < 4 {
		d.err, d.data = errDelta, nil
		return
	}
	n := littleEndian(string(d.data[:4]))
	d.skip(4)
	d.skip(n)
}

// numbers skips numbers that are packed as differences.
func (d *deltaWalk) numbers() {
	block, minis, total := d.varint(), d.varint(), d.varint()
	d.varint() // the first number
	if d.err != nil {
		return
	}
	if block == 0 || block > maxDeltaBlock || minis == 0 || block%minis != 0 || total > math.MaxInt32 {
		d.err = errDelta
		return
	}
	each := int64(block / minis)
	for left := int64(total) - 1; left > 0 && d.err == nil; {
		d.varint() // the least difference
		widths := d.data
		d.skip(minis)
		for i := uint64(0); i < minis && left > 0 && d.err == nil; i++ {
			d.skip(uint64(widths[i]) * uint64(each) / 8)
			left -= each
		}
	}
}
