package fuzz

// choices are the bytes that a program is made of. When they are used up every
// choice is the first one, which never leads on, so every program ends.
type choices struct{ data []byte }

func (c *choices) next() int {
	if len(c.data) == 0 {
		return 0
	}
	b := c.data[0]
	c.data = c.data[1:]
	return int(b)
}

// of gives a number below n.
func (c *choices) of(n int) int { return c.next() % n }

func pick[T any](c *choices, list []T) T { return list[c.of(len(list))] }
