package rows

import "github.com/apache/arrow-go/v18/arrow/memory"

// budget is an allocator that gives at most so many bytes at once. A file that
// claims more panics with overBudget, which readBinary turns into an error: the
// readers ask for what a file says before they have seen it.
type budget struct{ left int64 }

type overBudget struct{}

func (overBudget) error(opts Options) error { return tooLarge(opts, "unpacks to too many bytes") }

var _ memory.Allocator = (*budget)(nil)

// Allocate implements memory.Allocator.
func (b *budget) Allocate(size int) []byte {
	if int64(size) > b.left {
		panic(overBudget{})
	}
	b.left -= int64(size)
	return make([]byte, size)
}

// Reallocate implements memory.Allocator.
func (b *budget) Reallocate(size int, old []byte) []byte {
	if size <= cap(old) {
		return old[:size]
	}
	grown := b.Allocate(size)
	copy(grown, old)
	b.left += int64(cap(old))
	return grown
}

// Free implements memory.Allocator.
func (b *budget) Free(old []byte) { b.left += int64(cap(old)) }
