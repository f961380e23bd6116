package memfs

import "github.com/tetratelabs/wazero/experimental/sys"

// Errors that wazero's sys.Errno has no name for. wazero hands the guest EIO
// for each of them; [FS.TakeErrno] tells the real one.
const (
	EFBIG  = precise + wasiFbig
	EMFILE = precise + wasiMfile
	ENOSPC = precise + wasiNospc
)

// precise lies above every value that wazero defines.
const precise sys.Errno = 0x1000

// The numbers that preview 1 gives these errors.
const (
	wasiFbig  = 22
	wasiMfile = 33
	wasiNospc = 51
)

// TakeErrno gives the WASI number of the last error that wazero could not
// name, once; 0 if there was none since the last call. The host asks when a
// WASI function has failed with EIO.
func (f *FS) TakeErrno() uint32 {
	e := f.errno
	f.errno = 0
	return uint32(e)
}

// fail records an error that wazero cannot name and returns it.
func (f *FS) fail(e sys.Errno) sys.Errno {
	f.errno = uint16(e - precise)
	return e
}
