package process

import (
	"context"
	"io"
	"net"
	"time"

	"github.com/mayfly-run/mayfly/sandbox"
)

// Spec is one call of a program. [Run] reads it and never changes it.
//
// Grants add up: a path may be used in every way in which it, or a directory
// above it, was granted. Nothing takes away again. All paths are absolute and
// must be there.
type Spec struct {
	// Command is the program, an absolute path. It is granted as in Exec.
	Command string
	// Args are its arguments, without the program's own name.
	Args []string
	// Dir is the directory that it starts in; one that is granted, or that
	// leads to one. Default "/".
	Dir string
	// Env is the whole environment, but for PATH, HOME, TMPDIR and LANG, which
	// have defaults. Nothing is inherited. Every child of the program inherits it.
	Env map[string]string
	// Secrets are values for this program alone, by name, each of UTF-8 without
	// zero bytes. The program finds them on [SecretsDescriptor] as a JSON object of
	// strings, to be read once, from the start to the end. They are in no
	// environment, so that no child has them unless the program left the
	// descriptor open or passed them on. With none, the descriptor is closed.
	Secrets map[string][]byte
	// Input is JSON text on standard input. Default: nothing, the end at once.
	Input sandbox.RawJSON
	// Talk, where a program is spoken with instead of given one input, does so
	// while it runs: in is its standard input, out its standard output, which is
	// then not kept, whatever Output says. It is called once, in a goroutine of
	// its own, and must return when reading fails, as it does when the program is
	// gone. After it, in is closed, and what still comes is dropped; Run returns
	// when the program has ended, too. More than Limits.MaxValue bytes end the
	// call. Input must be empty.
	Talk func(in io.WriteCloser, out io.Reader)
	// Output says where the value is read from. Default [OutputDescriptor].
	Output Output

	// Read are files, and directories with all that is in them, to read.
	Read []string
	// Write are files and directories to write, create, rename and remove in.
	// Writing does not include reading. How much is written in all is bounded by
	// Limits.MaxWriteBytes, if that is set. With namespaces, what lies below /tmp
	// must be granted to read as well, and /tmp itself cannot be granted: the
	// program has one of its own.
	Write []string
	// Exec are files and directories to read and to execute: programs and the
	// libraries they load. See [SystemLibraries].
	Exec []string
	// Network is what the program may reach. Default [NetworkNone].
	Network Network
	// Proxy serves the program's connections with [NetworkProxy], for which it is
	// required; with any other it must be nil. It is called at most once, on a
	// goroutine of its own, before the program starts. The context ends, and the
	// listener is closed, when the call is over; Proxy must then end every
	// connection that it accepted and return, and Run waits for it.
	Proxy func(context.Context, net.Listener)
	// UnixSockets are sockets in the file system to connect to. They require
	// namespaces. With one of them granted, a socket that lies in a directory
	// of Read, Write or Exec can be reached as well.
	UnixSockets []string
	// Process lets the program start other processes, under the same
	// confinement. Threads are always allowed.
	Process bool

	// Namespaces says whether the call may run where the host has none.
	// Default [NamespacesRequired].
	Namespaces Namespaces
	// User is who the program runs as where the host is root; it must not be
	// set elsewhere. Default: a user that no other call on this machine has at
	// the same time, and no group. It never is root. What is granted must be open
	// to that user by its permissions too.
	User *User
	// Limits bound the call.
	Limits Limits
}

// SecretsDescriptor is where a program reads its secrets.
const SecretsDescriptor = 4

// User is a user and its only group. Both must be greater than zero.
type User struct{ UID, GID int }

// Output is where a program leaves its value.
type Output uint8

const (
	// OutputDescriptor: on descriptor 3, so that stray prints do no harm.
	// Nothing written means null.
	OutputDescriptor Output = iota
	// OutputStdout: on standard output, which is then not kept as text. Nothing
	// written is an error.
	OutputStdout
)

// Network is what a program may reach.
type Network uint8

const (
	// NetworkNone: no address family at all, and no interface where there are
	// namespaces. Connected pairs of sockets work.
	NetworkNone Network = iota
	// NetworkAll: IPv4 and IPv6, the host's loopback included.
	NetworkAll
	// NetworkProxy: one address, at which Spec.Proxy listens. The environment names
	// it as a proxy for HTTP (HTTP_PROXY and its relatives). It requires
	// namespaces: Landlock alone knows ports and no addresses.
	NetworkProxy
)

// Namespaces says what to do about a host that has no namespaces to give.
type Namespaces uint8

const (
	// NamespacesRequired: refuse the call.
	NamespacesRequired Namespaces = iota
	// NamespacesPreferred: run with the other layers, if Landlock can take
	// over what must hold (ABI 6), and name what is missing in the Result.
	NamespacesPreferred
	// NamespacesOff: never use them; as NamespacesPreferred on a host without.
	NamespacesOff
)

// Limits bound one call. A zero field means its default: leaving a limit out
// never means unlimited.
type Limits struct {
	// Timeout is the wall time of the whole call. At its end every process of
	// the call is killed. Default [sandbox.DefaultTimeout].
	Timeout time.Duration
	// MaxMemory is how many bytes of private writable memory each process of
	// the call may have, in all; memory shared between processes is not counted.
	// Default [DefaultMaxMemory].
	MaxMemory int64
	// MaxTreeMemory is how many bytes of memory all processes of the call may
	// have together: shared memory, /tmp and, while there is room, the files that
	// they read and write count. Past it, the kernel ends the call. It takes a
	// control group; set without one, the call is refused. Default MaxMemory
	// where there is a control group, else nothing bounds the sum.
	MaxTreeMemory int64
	// MaxCPU is how much processor time all processes of the call may use
	// together. With the Process grant it takes a control group; set without one,
	// the call is refused. Without that grant it then is rounded up to seconds.
	// Default: as much as the processors give within Timeout.
	MaxCPU time.Duration
	// MaxOutput is how many bytes of standard output and standard error are
	// kept, both together; at [sandbox.FloodFactor] times that the call is
	// stopped. Default [sandbox.DefaultMaxOutput].
	MaxOutput int64
	// MaxValue is how many bytes the value may have; one more stops the call.
	// Default [sandbox.DefaultMaxValue].
	MaxValue int64
	// MaxProcesses is how many processes and threads there may be at a time, the
	// keeper included unless the host is root. It cannot be held without
	// namespaces where the host is not root: set there, the call is refused. A
	// control group counts the program's alone, up to the same number. Default
	// [DefaultMaxProcesses].
	MaxProcesses int
	// MaxFileBytes is how large each file may become. Default
	// [DefaultMaxFileBytes].
	MaxFileBytes int64
	// MaxWriteBytes is how many bytes the directories of Spec.Write may be given
	// together. With it the program finds each of them empty, in memory (which
	// counts for MaxTreeMemory), and what it leaves there is copied when the call
	// has ended with [sandbox.StatusOK]: up to 4,096 files and directories, by
	// their content alone, belonging to the owner of the directory and not
	// executable, over what has the same name. What is neither makes the call an
	// error, and nothing is copied. Of any other call nothing is. It requires
	// namespaces, and directories with nothing in them that is granted too.
	// Default: they are written directly, and nothing but MaxFileBytes for each
	// file bounds them.
	MaxWriteBytes int64
	// MaxDescriptors is how many files each process may have open. Default
	// [DefaultMaxDescriptors].
	MaxDescriptors int
	// MaxTempBytes is how many bytes the private /tmp may hold, which is
	// /dev/shm as well. Without namespaces there is no /tmp: set there, the call
	// is refused. Default [DefaultMaxTempBytes].
	MaxTempBytes int64
}

// Defaults of [Limits].
const (
	DefaultMaxMemory      int64 = 1 << 30
	DefaultMaxProcesses         = 128
	DefaultMaxFileBytes   int64 = 64 << 20
	DefaultMaxDescriptors       = 256
	DefaultMaxTempBytes   int64 = 64 << 20
)

func (l Limits) withDefaults() Limits {
	setDefault(&l.Timeout, sandbox.DefaultTimeout)
	setDefault(&l.MaxMemory, DefaultMaxMemory)
	setDefault(&l.MaxTreeMemory, l.MaxMemory)
	setDefault(&l.MaxOutput, sandbox.DefaultMaxOutput)
	setDefault(&l.MaxValue, sandbox.DefaultMaxValue)
	setDefault(&l.MaxProcesses, DefaultMaxProcesses)
	setDefault(&l.MaxFileBytes, DefaultMaxFileBytes)
	setDefault(&l.MaxDescriptors, DefaultMaxDescriptors)
	setDefault(&l.MaxTempBytes, DefaultMaxTempBytes)
	return l
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
