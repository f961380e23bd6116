package rows

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
)

// arrowDecoder takes the columns out of one body, in the order of the schema.
type arrowDecoder struct {
	a               *arrowReader
	f               *flatbuffer
	body            string
	rows            int64
	nodes           flatVector // of columns and their parts: how many values, how many nulls
	buffers         flatVector
	views           flatVector // how many buffers of text each column of views has
	packed          arrowPacked
	node, buf, view int
	used            int64 // bytes of the body that belong to the buffers so far
}

func (a *arrowReader) decoder(f *flatbuffer, t flatTable, body string) (*arrowDecoder, error) {
	d := &arrowDecoder{
		a: a, f: f, body: body, rows: t.int64(0), nodes: t.vector(1, 16), buffers: t.vector(2, 16), views: t.vector(4, 8),
	}
	if t.has(3) {
		c := t.table(3)
		codec, method := c.byte(0), c.byte(1)
		if codec > 1 || method != 0 {
			return nil, a.refuse("is packed in a way that is not read; use lz4 or zstd")
		}
		d.packed = arrowPacked(codec + 1)
	}
	if t.f == nil || f.bad {
		return nil, errors.New("a message is damaged")
	}
	return d, nil
}

// done checks that everything was used.
func (d *arrowDecoder) done() error {
	if d.f.bad || d.node != d.nodes.n || d.buf != d.buffers.n || d.view != d.views.n {
		return errors.New("a batch does not fit the schema")
	}
	return nil
}

// buffer gives the next buffer.
func (d *arrowDecoder) buffer() (string, error) {
	if d.buf >= d.buffers.n {
		return "", errors.New("a batch has too few buffers")
	}
	at, n := d.buffers.int64(d.buf, 0), d.buffers.int64(d.buf, 8)
	d.buf++
	if n == 0 {
		return "", nil
	}
	if at < 0 || n < 0 || at > int64(len(d.body)) || n > int64(len(d.body))-at {
		return "", errors.New("a buffer lies outside of its body")
	}
	// All could be the same bytes, which would be read again for each.
	if d.used += n; d.used > int64(len(d.body)) {
		return "", errors.New("buffers lie in one another")
	}
	return d.a.unpack(d.body[at:at+n], d.packed)
}

// fixed gives the next buffer, which must have as many bytes as n values need.
func (d *arrowDecoder) fixed(n, width int) (string, error) {
	s, err := d.buffer()
	if err == nil && int64(len(s)) < int64(n)*int64(width) {
		err = errShort
	}
	return s, err
}

// arrowColumn is a column of one batch. What it has was checked for its length, not
// for what it says.
type arrowColumn struct {
	field    *arrowField
	n        int
	valid    string // a bit for each value; empty: none is null
	data     string
	offsets  string
	offset64 bool
	views    []string
	children []*arrowColumn
}

// column reads the next column.
func (d *arrowDecoder) column(f *arrowField) (*arrowColumn, error) {
	if d.node >= d.nodes.n {
		return nil, errors.New("a batch has too few columns")
	}
	n, nulls := d.nodes.int64(d.node, 0), d.nodes.int64(d.node, 8)
	d.node++
	if n < 0 || n > math.MaxInt32 || nulls < 0 || nulls > n {
		return nil, errors.New("it has an impossible number of values")
	}
	c := &arrowColumn{field: f, n: int(n)}
	if f.kind == arrowNull {
		return c, nil
	}
	if err := d.validity(c, int(nulls)); err != nil {
		return nil, err
	}
	if err := d.content(c); err != nil {
		return nil, err
	}
	for _, part := range f.children {
		child, err := d.column(part)
		if err != nil {
			return nil, err
		}
		c.children = append(c.children, child)
	}
	return c, c.checkParts()
}

// validity reads which values are null. The number of nulls is said twice, and must
// be the same.
func (d *arrowDecoder) validity(c *arrowColumn, nulls int) error {
	s, err := d.buffer()
	if err != nil {
		return err
	}
	if s == "" && nulls == 0 {
		return nil
	}
	if len(s) < (c.n+7)/8 {
		return errShort
	}
	set := 0
	for i := range c.n / 8 {
		set += bits.OnesCount8(s[i])
	}
	if rest := c.n % 8; rest != 0 {
		set += bits.OnesCount8(s[c.n/8] & (1<<rest - 1))
	}
	if c.n-set != nulls {
		return errors.New("its nulls are not as many as it says")
	}
	if nulls > 0 {
		c.valid = s
	}
	return nil
}

func (d *arrowDecoder) content(c *arrowColumn) (err error) {
	switch c.field.kind {
	case arrowBool:
		c.data, err = d.buffer()
		if err == nil && len(c.data) < (c.n+7)/8 {
			err = errShort
		}
	case arrowBinary, arrowText, arrowLargeBinary, arrowLargeText:
		c.offset64 = c.field.kind == arrowLargeBinary || c.field.kind == arrowLargeText
		if err = d.offsets(c); err == nil {
			c.data, err = d.buffer()
		}
	case arrowList, arrowMap, arrowLargeList:
		c.offset64 = c.field.kind == arrowLargeList
		err = d.offsets(c)
	case arrowBinaryView, arrowTextView:
		return d.viewed(c)
	case arrowStruct, arrowFixedList:
	default:
		c.data, err = d.fixed(c.n, c.field.width)
	}
	return err
}

// offsets reads where each value begins and, one more, where the last ends.
func (d *arrowDecoder) offsets(c *arrowColumn) (err error) {
	width := 4
	if c.offset64 {
		width = 8
	}
	if c.n == 0 {
		c.offsets, err = d.buffer() // may be empty
		return err
	}
	c.offsets, err = d.fixed(c.n+1, width)
	return err
}

// viewed reads a column of views, which has as many buffers as it says.
func (d *arrowDecoder) viewed(c *arrowColumn) (err error) {
	if c.data, err = d.fixed(c.n, 16); err != nil {
		return err
	}
	if d.view >= d.views.n {
		return errors.New("it does not say how many buffers it has")
	}
	n := d.views.int64(d.view, 0)
	d.view++
	if n < 0 || n > int64(d.buffers.n-d.buf) {
		return errors.New("a batch has too few buffers")
	}
	for range n {
		s, err := d.buffer()
		if err != nil {
			return err
		}
		c.views = append(c.views, s)
	}
	return nil
}

// checkParts compares the length of parts with that of the whole.
func (c *arrowColumn) checkParts() error {
	for _, child := range c.children {
		if c.field.kind == arrowStruct && child.n < c.n || c.field.kind == arrowFixedList && int64(child.n) < int64(c.n)*int64(c.field.width) {
			return errShort
		}
	}
	return nil
}

// span is where the value i begins and ends in what it is a part of.
func (c *arrowColumn) span(i, of int) (start, end int, err error) {
	from, to := int64(0), int64(0)
	if c.offset64 {
		from, to = int64(littleEndian(c.offsets[8*i:8*i+8])), int64(littleEndian(c.offsets[8*i+8:8*i+16]))
	} else {
		from, to = int64(int32(littleEndian(c.offsets[4*i:4*i+4]))), int64(int32(littleEndian(c.offsets[4*i+4:4*i+8])))
	}
	if from < 0 || to < from || to > int64(of) {
		return 0, 0, errors.New("a value lies outside of its buffer")
	}
	return int(from), int(to), nil
}

// value gives one value, with all that is in it. Preconditions: 0 <= i < c.n.
func (c *arrowColumn) value(b *builder, i int) (any, error) {
	if err := b.count(1); err != nil {
		return nil, err
	}
	f := c.field
	if f.kind == arrowNull || c.valid != "" && c.valid[i/8]>>(i%8)&1 == 0 {
		return nil, nil
	}
	if f.dictionary != nil {
		return c.fromDictionary(b, i)
	}
	switch f.kind {
	case arrowBool:
		return c.data[i/8]>>(i%8)&1 != 0, nil
	case arrowBinary, arrowText, arrowLargeBinary, arrowLargeText:
		from, to, err := c.span(i, len(c.data))
		if err != nil {
			return nil, err
		}
		if f.kind == arrowText || f.kind == arrowLargeText {
			return b.text(&f.recent, c.data[from:to])
		}
		return b.binary([]byte(c.data[from:to]))
	case arrowBinaryView, arrowTextView:
		s, err := c.viewed(i)
		if err != nil {
			return nil, err
		}
		if f.kind == arrowTextView {
			return b.text(&f.recent, s)
		}
		return b.binary([]byte(s))
	case arrowList, arrowLargeList, arrowMap, arrowFixedList:
		return c.list(b, i)
	case arrowStruct:
		record := make(map[string]any, len(c.children))
		for _, child := range c.children {
			v, err := child.value(b, i)
			if err != nil {
				return nil, err
			}
			record[child.field.name] = v
		}
		return record, nil
	}
	return c.fixedValue(b, c.data[i*f.width:(i+1)*f.width])
}

// fixedValue gives a value of a type whose values have all the same size.
func (c *arrowColumn) fixedValue(b *builder, s string) (any, error) {
	f := c.field
	if f.kind == arrowFixedBinary {
		return b.binary([]byte(s))
	}
	if f.kind == arrowDecimal {
		big := make([]byte, len(s)) // the other way around
		for i := range len(s) {
			big[len(s)-1-i] = s[i]
		}
		n, err := twosComplement(big)
		if err != nil {
			return nil, err
		}
		if err := b.weigh(n.BitLen() / 3); err != nil { // about its digits
			return nil, err
		}
		return decimalText(n, f.scale)
	}
	bitsOf := littleEndian(s)
	n := int64(bitsOf<<(64-8*f.width)) >> (64 - 8*f.width)
	switch f.kind {
	case arrowInt:
		if !f.signed {
			return unsigned(bitsOf), nil
		}
		return n, nil
	case arrowFloat:
		switch f.width {
		case 2:
			return halfFloat(uint16(bitsOf)), nil
		case 4:
			return float64(math.Float32frombits(uint32(bitsOf))), nil
		}
		return math.Float64frombits(bitsOf), nil
	case arrowDate:
		if f.width == 8 {
			n, _ = floorDiv(n, 86_400*f.per)
		}
		return dateText(n)
	case arrowTimestamp:
		return timestampText(n, f.per, f.zoned)
	case arrowTime:
		return clockText(n, f.per)
	case arrowDuration:
		return durationText(n, f.per), nil
	}
	return nil, fmt.Errorf("a value of the type with the number %d", f.kind)
}

// halfFloat is a float of 16 bits: a sign, 5 bits of exponent, 10 of fraction.
func halfFloat(h uint16) float64 {
	exponent, fraction := int(h>>10&31), float64(h&1023)
	var v float64
	switch exponent {
	case 0:
		v = math.Ldexp(fraction, -24)
	case 31:
		if v = math.Inf(1); fraction != 0 {
			v = math.NaN()
		}
	default:
		v = math.Ldexp(1024+fraction, exponent-25)
	}
	if h>>15 != 0 {
		v = math.Copysign(v, -1)
	}
	return v
}

// viewed gives the text of a view: up to twelve bytes are in the view itself.
func (c *arrowColumn) viewed(i int) (string, error) {
	view := c.data[16*i : 16*i+16]
	n := int(int32(littleEndian(view[:4])))
	if n < 0 {
		return "", errors.New("a text of a negative length")
	}
	if n <= 12 {
		return view[4 : 4+n], nil
	}
	at, from := int(int32(littleEndian(view[8:12]))), int(int32(littleEndian(view[12:])))
	if at < 0 || at >= len(c.views) || from < 0 || from > len(c.views[at]) || n > len(c.views[at])-from {
		return "", errors.New("a value lies outside of its buffer")
	}
	s := c.views[at][from : from+n]
	if s[:4] != view[4:8] {
		return "", errors.New("a text does not begin as its view says")
	}
	return s, nil
}

func (c *arrowColumn) list(b *builder, i int) (any, error) {
	values := c.children[0]
	var from, to int
	if c.field.kind == arrowFixedList {
		from, to = i*c.field.width, (i+1)*c.field.width
	} else {
		var err error
		if from, to, err = c.span(i, values.n); err != nil {
			return nil, err
		}
	}
	if to-from > b.opts.MaxCells-b.cells { // before there is room for it
		return nil, b.tooManyCells()
	}
	list := make([]any, 0, to-from)
	for at := from; at < to; at++ {
		v, err := values.value(b, at)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

func (c *arrowColumn) fromDictionary(b *builder, i int) (any, error) {
	dict, f := c.field.dictionary, c.field
	n := littleEndian(c.data[i*f.width : (i+1)*f.width])
	negative := f.signed && n>>(8*f.width-1) != 0
	if !dict.read {
		return nil, errors.New("its dictionary comes later in the file, or not at all; write the dictionaries first")
	}
	if negative || n >= uint64(len(dict.values)) {
		return nil, errors.New("a value is not in its dictionary")
	}
	// They count for each cell, as texts do that are not in a dictionary.
	if err := b.weigh(dict.sizes[n]); err != nil {
		return nil, err
	}
	return dict.values[n], nil
}

// durationText is a length of time as the guests write it: days are the largest
// unit, and what is 0 is left out.
func durationText(n, perSecond int64) string {
	sign := ""
	size := new(big.Int).SetInt64(n) // the least number has no opposite
	if n < 0 {
		sign = "-"
		size.Neg(size)
	}
	sec, rest := new(big.Int).QuoRem(size, big.NewInt(perSecond), new(big.Int))
	s := sec.Int64()
	if !sec.IsInt64() {
		return sign + "PT" + sec.String() + "S" // 2^63 seconds
	}
	text := sign + "P"
	if days := s / 86400; days > 0 {
		text += fmt.Sprintf("%dD", days)
	}
	clock := ""
	if h := s / 3600 % 24; h > 0 {
		clock += fmt.Sprintf("%dH", h)
	}
	if m := s / 60 % 60; m > 0 {
		clock += fmt.Sprintf("%dM", m)
	}
	if s%60 > 0 || rest.Sign() > 0 {
		clock += fmt.Sprintf("%d%sS", s%60, shortFraction(rest.Int64()*(1e9/perSecond)))
	}
	if clock != "" {
		return text + "T" + clock
	}
	if s == 0 {
		return "PT0S"
	}
	return text
}
