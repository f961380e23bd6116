package canonjson

// What parts of a tree take in memory, in bytes, as far as it can be said without
// building it: a little more than Go's maps and slices were seen to.
const (
	costSlot   = 24  // a value in an array, with room to grow
	costArray  = 32  // its header
	costObject = 48  // a map
	costFirst  = 272 // the first name of a map: room for eight
	costNinth  = 400 // the ninth: a table
	costEntry  = 80  // each beyond those, with room to grow
	costString = 24
	costNumber = 16
	costLong   = 48 // more for one that is no int64
)

// Check reads exactly one JSON value, as [Parse] does, and builds nothing. size is
// about how many bytes Parse's tree takes in memory. Its errors are Parse's.
func Check(text []byte, limits Limits) (size int64, err error) {
	p, err := newParser(text, limits)
	if err != nil {
		return 0, err
	}
	size = int64(len(text)) // what is in strings
	for {
		n, err := p.check()
		if err != nil {
			return 0, err
		}
		size += n
		if p.dec.StackDepth() == 0 {
			return size, p.end()
		}
	}
}

// check reads a token, and says what it takes in memory.
func (p *parser) check() (int64, error) {
	tok, err := p.dec.ReadToken()
	if err != nil {
		return 0, p.refuse(err)
	}
	kind := tok.Kind()
	var size int64
	switch kind {
	case ']', '}':
		return 0, nil
	case '[':
		size = costArray
	case '{':
		size = costObject
	case '"':
		size = costString
	case '0':
		literal := tok.String()
		if _, err := p.number(literal); err != nil {
			return 0, err
		}
		if size = costNumber; len(literal) > 18 {
			size += costLong
		}
	}
	depth := p.dec.StackDepth()
	if kind == '[' || kind == '{' {
		if depth > p.maxDepth {
			return 0, p.errorf(TooDeep, "nested more than %d deep", p.maxDepth)
		}
		depth-- // it is a value of the one around it
	}
	switch around, n := p.dec.StackIndex(depth); {
	case around == '[':
		size += costSlot
	case around == '{' && n == 1:
		size += costFirst
	case around == '{' && n == 17:
		size += costNinth
	case around == '{' && n > 17 && n%2 == 1:
		size += costEntry
	}
	return size, nil
}
