package wasiguard

// randomPiece is how many random bytes are made between two looks at the
// deadline.
const randomPiece = 1 << 20

// random fills the guest's buffer piece by piece.
func random(c call) {
	at, size := c.u32(0), c.u32(1)
	if !c.inMemory(at, uint64(size)) {
		c.answer(errFault)
		return
	}
	for {
		n := min(size, randomPiece)
		if errno := c.with(uint64(at), uint64(n)); errno != 0 {
			c.answer(errno)
			return
		}
		at, size = at+n, size-n
		if size == 0 {
			c.answer(0)
			return
		}
		check(c.ctx)
	}
}

// exit keeps the low byte of the status, as POSIX does. wazero has two large
// statuses of its own, which mean that a deadline passed or that the caller
// cancelled; a guest could pretend either.
func exit(c call) {
	c.stack[0] &= 0xff
	forward(c)
}
