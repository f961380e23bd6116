package memfs

import "unsafe"

// aliased makes a string of bytes that can still change, as wazero does with a
// link's target.
func aliased(b []byte) string { return unsafe.String(&b[0], len(b)) }
