package rows

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// maxPage is how large one page may be when it is unpacked. Writers make pages of
// about a MiB.
const maxPage = 64 << 20

// readParquet reads all row groups, each column by column, and puts the records
// together again.
func (b *builder) readParquet(text string) error {
	if err := b.checkParquetFooter(text); err != nil {
		return damaged(b.opts, Parquet, err)
	}
	mem := &budget{left: 2 * b.opts.MaxBytes}
	props := parquet.NewReaderProperties(mem)
	props.MaxUncompressedPageSize = maxPage
	r, err := file.NewParquetReader(readerOf(text), file.WithReadProps(props))
	if err != nil {
		return damaged(b.opts, Parquet, err)
	}
	defer r.Close()
	if err := checkParquetWriter(r.MetaData()); err != nil {
		return damaged(b.opts, Parquet, err)
	}
	root, leaves, err := parquetTree(r.MetaData().Schema)
	if err != nil {
		return damaged(b.opts, Parquet, err)
	}
	var names []string
	for _, child := range root.children {
		names = append(names, child.name)
	}
	if err := b.columns(names); err != nil {
		return err
	}
	if err := b.expect(r.NumRows()); err != nil {
		return err
	}
	for i := range r.NumRowGroups() {
		group := r.RowGroup(i)
		if err := b.expect(group.NumRows() + int64(len(b.table.Rows))); err != nil {
			return err
		}
		for at, leaf := range leaves {
			chunk, err := group.MetaData().ColumnChunk(at)
			deltas := false
			if err == nil {
				deltas, err = b.checkParquetPages(text, chunk)
			}
			if err == nil && deltas {
				err = checkParquetDeltas(group, at, r.MetaData().Schema.Column(at))
			}
			if err != nil {
				return damaged(b.opts, Parquet, err)
			}
			column, err := group.Column(at)
			if err != nil {
				return damaged(b.opts, Parquet, err)
			}
			if err := b.readLeaf(leaf, column); err != nil {
				return b.in(leaf.path, err)
			}
		}
		if err := b.assemble(root, leaves, int(group.NumRows())); err != nil {
			return err
		}
	}
	return nil
}

// parquetNode is a part of a schema. Definition and repetition are the levels from
// which on the node is there, and repeats; see the format's description of nested
// encoding.
type parquetNode struct {
	name, path             string
	repetition             parquet.Repetition
	definition, repeatable int16
	shape                  parquetShape
	children               []*parquetNode

	// A leaf's type, and what was read of it in the row group.
	convert             func(*builder, any, *recentStrings) (any, error)
	recent              recentStrings
	definitions, repeat []int16
	values              []any
	level, value        int // the next ones
}

// parquetShape is how the values below a node are shown.
type parquetShape uint8

const (
	shapeLeaf   parquetShape = iota
	shapeRecord              // a dict
	shapeList                // a group around a repeated one: only its elements are shown
	shapeInner               // that repeated one, whose only field is the element
)

// parquetTree reads a schema, and its leaves in the order of columns.
func parquetTree(s *schema.Schema) (root *parquetNode, leaves []*parquetNode, err error) {
	root = &parquetNode{shape: shapeRecord}
	for i := range s.Root().NumFields() {
		child, err := newParquetNode(s.Root().Field(i), root, &leaves, 0)
		if err != nil {
			return nil, nil, err
		}
		root.children = append(root.children, child)
	}
	if len(leaves) != s.NumColumns() {
		return nil, nil, errors.New("the schema does not fit the columns")
	}
	return root, leaves, nil
}

// maxSchemaDepth is how deep a schema may nest: what a guest's JSON takes.
const maxSchemaDepth = 64

func newParquetNode(s schema.Node, parent *parquetNode, leaves *[]*parquetNode, depth int) (*parquetNode, error) {
	n := &parquetNode{
		name: s.Name(), path: s.Name(), repetition: s.RepetitionType(), definition: parent.definition, repeatable: parent.repeatable,
	}
	if parent.path != "" {
		n.path = parent.path + "." + n.name
	}
	if depth > maxSchemaDepth {
		return nil, fmt.Errorf("the schema nests deeper than %d", maxSchemaDepth)
	}
	switch n.repetition {
	case parquet.Repetitions.Optional:
		n.definition++
	case parquet.Repetitions.Repeated:
		n.definition++
		n.repeatable++
	}
	group, ok := s.(*schema.GroupNode)
	if !ok {
		convert, err := parquetConverter(s.(*schema.PrimitiveNode))
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", n.path, err)
		}
		n.convert = convert
		*leaves = append(*leaves, n)
		return n, nil
	}
	n.shape = shapeRecord
	if group.NumFields() == 0 {
		return nil, errors.New("a group without fields")
	}
	names := make(map[string]bool)
	for i := range group.NumFields() {
		child, err := newParquetNode(group.Field(i), n, leaves, depth+1)
		if err != nil {
			return nil, err
		}
		if names[child.name] {
			return nil, fmt.Errorf("group %q has two fields of one name", n.path)
		}
		names[child.name] = true
		n.children = append(n.children, child)
	}
	n.markList(group)
	return n, nil
}

// markList finds out whether a group stands for a list or a map, so that the
// groups that only hold it together are not shown.
func (n *parquetNode) markList(group *schema.GroupNode) {
	var list, dict bool
	switch group.LogicalType().(type) {
	case schema.ListLogicalType:
		list = true
	case schema.MapLogicalType:
		dict = true
	}
	if len(n.children) != 1 || n.children[0].repetition != parquet.Repetitions.Repeated || !list && !dict {
		return
	}
	n.shape = shapeList
	inner := n.children[0]
	// What writers called these before the format said which is which.
	old := inner.name == "array" || inner.name == n.name+"_tuple"
	if list && inner.shape == shapeRecord && len(inner.children) == 1 && !old {
		inner.shape = shapeInner
	}
}

// parquetBatch is how many levels are read at once.
const parquetBatch = 4096

// readLeaf reads a column of a row group.
func (b *builder) readLeaf(n *parquetNode, column file.ColumnChunkReader) error {
	n.definitions, n.repeat, n.values, n.level, n.value = nil, nil, nil, 0, 0
	read, err := batchReader(column)
	if err != nil {
		return err
	}
	definitions, repeat := make([]int16, parquetBatch), make([]int16, parquetBatch)
	for column.HasNext() {
		levels, values, err := read(definitions, repeat)
		if err != nil {
			return damaged(b.opts, Parquet, err)
		}
		if levels == 0 && len(values) == 0 {
			break
		}
		if err := b.count(int(levels)); err != nil {
			return err
		}
		if n.definition > 0 {
			n.definitions = append(n.definitions, definitions[:levels]...)
		}
		if n.repeatable > 0 {
			n.repeat = append(n.repeat, repeat[:levels]...)
		}
		for _, v := range values {
			converted, err := n.convert(b, v, &n.recent)
			if err != nil {
				return err
			}
			n.values = append(n.values, converted)
		}
	}
	if err := column.Err(); err != nil {
		return damaged(b.opts, Parquet, err)
	}
	return nil
}

// batchReader reads the next levels of a column, and the values that are there.
func batchReader(column file.ColumnChunkReader) (func(definitions, repeat []int16) (int64, []any, error), error) {
	switch r := column.(type) {
	case *file.BooleanColumnChunkReader:
		return batchesOf(r.ReadBatch), nil
	case *file.Int32ColumnChunkReader:
		return batchesOf(r.ReadBatch), nil
	case *file.Int64ColumnChunkReader:
		return batchesOf(r.ReadBatch), nil
	case *file.Int96ColumnChunkReader:
		return batchesOf(r.ReadBatch), nil
	case *file.Float32ColumnChunkReader:
		return batchesOf(r.ReadBatch), nil
	case *file.Float64ColumnChunkReader:
		return batchesOf(r.ReadBatch), nil
	case *file.ByteArrayColumnChunkReader:
		return batchesOf(r.ReadBatch), nil
	case *file.FixedLenByteArrayColumnChunkReader:
		return batchesOf(r.ReadBatch), nil
	}
	return nil, fmt.Errorf("values of type %s are not read", column.Type())
}

func batchesOf[T any](read func(int64, []T, []int16, []int16) (int64, int, error)) func([]int16, []int16) (int64, []any, error) {
	values := make([]T, parquetBatch)
	boxed := make([]any, 0, parquetBatch)
	return func(definitions, repeat []int16) (int64, []any, error) {
		levels, n, err := read(parquetBatch, values, definitions, repeat)
		if err != nil {
			return 0, nil, err
		}
		boxed = boxed[:0]
		for _, v := range values[:n] {
			boxed = append(boxed, v)
		}
		return levels, boxed, nil
	}
}

// parquetConverter gives what makes a cell of a column's values.
func parquetConverter(s *schema.PrimitiveNode) (func(*builder, any, *recentStrings) (any, error), error) {
	plain := func(f func(any) (any, error)) func(*builder, any, *recentStrings) (any, error) {
		return func(_ *builder, v any, _ *recentStrings) (any, error) { return f(v) }
	}
	logical := s.LogicalType()
	switch t := logical.(type) {
	case schema.IntervalLogicalType:
		return nil, errors.New("intervals are not read; convert them first")
	case schema.DecimalLogicalType:
		scale := int(t.Scale())
		return func(b *builder, v any, _ *recentStrings) (any, error) {
			n, err := unscaled(v)
			if err != nil {
				return nil, err
			}
			if err := b.weigh(n.BitLen() / 3); err != nil { // about its digits
				return nil, err
			}
			return decimalText(n, scale)
		}, nil
	case schema.DateLogicalType:
		return plain(func(v any) (any, error) { return dateText(int64(v.(int32))) }), nil
	case schema.TimestampLogicalType:
		per := parquetUnit(t.TimeUnit())
		return plain(func(v any) (any, error) { return timestampText(v.(int64), per, t.IsAdjustedToUTC()) }), nil
	case schema.TimeLogicalType:
		per := parquetUnit(t.TimeUnit())
		return plain(func(v any) (any, error) {
			if n, ok := v.(int32); ok {
				return clockText(int64(n), per)
			}
			return clockText(v.(int64), per)
		}), nil
	case schema.IntLogicalType:
		signed, bits := t.IsSigned(), t.BitWidth()
		return plain(func(v any) (any, error) {
			switch n := v.(type) {
			case int32:
				if !signed {
					return int64(uint32(n) & (1<<min(bits, 32) - 1)), nil
				}
				return int64(n), nil
			case int64:
				if !signed {
					return unsigned(uint64(n)), nil
				}
				return n, nil
			}
			return nil, errors.New("an integer that is stored as something else")
		}), nil
	case schema.StringLogicalType, schema.EnumLogicalType, schema.JSONLogicalType:
		return func(b *builder, v any, recent *recentStrings) (any, error) {
			if s, ok := v.(parquet.ByteArray); ok {
				return b.text(recent, string(s))
			}
			return nil, errors.New("text that is stored as something else")
		}, nil
	case schema.UUIDLogicalType:
		return plain(func(v any) (any, error) {
			if u, ok := v.(parquet.FixedLenByteArray); ok && len(u) == 16 {
				return uuidText(u), nil
			}
			return nil, errors.New("a UUID that has not 16 bytes")
		}), nil
	}
	return physical, nil
}

// physical converts values whose column says nothing more about them.
func physical(b *builder, v any, _ *recentStrings) (any, error) {
	switch v := v.(type) {
	case bool:
		return v, nil
	case int32:
		return int64(v), nil
	case int64:
		return v, nil
	case float32:
		return float64(v), nil
	case float64:
		return v, nil
	case parquet.Int96: // what writers of old use for a time, in UTC
		t := v.ToTime().UTC()
		if err := checkYear(t); err != nil {
			return nil, err
		}
		return t.Format("2006-01-02T15:04:05") + fraction(int64(t.Nanosecond())), nil
	case parquet.ByteArray:
		return b.binary(v)
	case parquet.FixedLenByteArray:
		return b.binary(v)
	}
	return nil, fmt.Errorf("a value of type %T", v)
}

func parquetUnit(u schema.TimeUnitType) int64 {
	switch u {
	case schema.TimeUnitMillis:
		return 1e3
	case schema.TimeUnitMicros:
		return 1e6
	}
	return 1e9
}

// unscaled is the whole number in a decimal.
func unscaled(v any) (*big.Int, error) {
	switch v := v.(type) {
	case int32:
		return big.NewInt(int64(v)), nil
	case int64:
		return big.NewInt(v), nil
	case parquet.ByteArray:
		return twosComplement(v)
	case parquet.FixedLenByteArray:
		return twosComplement(v)
	}
	return nil, errors.New("a decimal that is stored as something else")
}

// maxDecimalBytes is more than any decimal has: 64 would do for 153 digits.
const maxDecimalBytes = 256

func twosComplement(b []byte) (*big.Int, error) {
	if len(b) == 0 || len(b) > maxDecimalBytes {
		return nil, fmt.Errorf("a decimal of %d bytes", len(b))
	}
	n := new(big.Int).SetBytes(b)
	if b[0]&0x80 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return n, nil
}

// assemble makes the records of a row group and checks that they use up what was
// read.
func (b *builder) assemble(root *parquetNode, leaves []*parquetNode, rows int) error {
	width := len(root.children)
	for range rows {
		row := make([]any, 0, width)
		for _, child := range root.children {
			v, err := child.next()
			if err != nil {
				return b.in(child.path, err)
			}
			row = append(row, v)
		}
		b.table.Rows = append(b.table.Rows, row)
	}
	for _, leaf := range leaves {
		if leaf.value != len(leaf.values) || leaf.definition > 0 && leaf.level != len(leaf.definitions) {
			return damaged(b.opts, Parquet, errors.New("a column has more values than its records"))
		}
	}
	return nil
}

var errShort = errors.New("the column has fewer values than the file says")

// first is the first leaf below a node, whose levels say what is there.
func (n *parquetNode) first() *parquetNode {
	for n.shape != shapeLeaf {
		n = n.children[0]
	}
	return n
}

// defined is the definition level of the next value below n.
func (n *parquetNode) defined() (int16, error) {
	leaf := n.first()
	if leaf.definition == 0 {
		return 0, nil
	}
	if leaf.level >= len(leaf.definitions) {
		return 0, errShort
	}
	return leaf.definitions[leaf.level], nil
}

// skip takes the place of something that is not there from every leaf below n.
func (n *parquetNode) skip() error {
	if n.shape == shapeLeaf {
		if n.level >= len(n.definitions) {
			return errShort
		}
		n.level++
		return nil
	}
	for _, child := range n.children {
		if err := child.skip(); err != nil {
			return err
		}
	}
	return nil
}

// next reads the next value of a node, with all its repetitions.
func (n *parquetNode) next() (any, error) {
	defined, err := n.defined()
	if err != nil {
		return nil, err
	}
	if n.repetition != parquet.Repetitions.Repeated {
		if defined < n.definition {
			return nil, n.skip()
		}
		return n.one()
	}
	list := []any{}
	if defined < n.definition {
		return list, n.skip()
	}
	for {
		v, err := n.one()
		if err != nil {
			return nil, err
		}
		list = append(list, v)
		leaf := n.first()
		if leaf.level >= len(leaf.repeat) || leaf.repeat[leaf.level] < n.repeatable {
			return list, nil
		}
		if leaf.repeat[leaf.level] > n.repeatable {
			return nil, errors.New("a list begins in the middle")
		}
	}
}

// one reads one value of a node that is there.
func (n *parquetNode) one() (any, error) {
	switch n.shape {
	case shapeLeaf:
		if n.definition > 0 {
			if n.level >= len(n.definitions) {
				return nil, errShort
			}
			n.level++
		}
		if n.value >= len(n.values) {
			return nil, errShort
		}
		n.value++
		return n.values[n.value-1], nil
	case shapeList, shapeInner:
		return n.children[0].next()
	}
	record := make(map[string]any, len(n.children))
	for _, child := range n.children {
		v, err := child.next()
		if err != nil {
			return nil, err
		}
		record[child.name] = v
	}
	return record, nil
}
