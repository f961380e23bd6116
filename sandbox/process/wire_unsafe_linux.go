//go:build amd64 || arm64

package process

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What host, spawner and keepers say to each other is one packet each, on
// sockets that keep packets whole and in order.
//
// A request is one byte, and these descriptors. Beyond the program's own come
// files to write to, so that the program is in a control group.
const (
	requestControl = iota // the keeper's end of a socket: reports; closed, it ends the call
	requestPolicy
	requestProgram
)

const (
	maxRequest = 1
	maxReport  = 4096
)

// errClosed: there is nobody at the other end any more.
var errClosed = errors.New("the other end is closed")

// received is one packet.
type received struct {
	data []byte
	fds  []int
}

func (r *received) close() {
	for _, fd := range r.fds {
		_ = unix.Close(fd) // received and never written to
	}
	r.fds = nil
}

// receivePolled reads one packet from a socket that does not block.
func receivePolled(f *os.File, size int) (r *received, err error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	perr := raw.Read(func(fd uintptr) bool {
		r, err = receivePacket(int(fd), size)
		return !errors.Is(err, unix.EAGAIN)
	})
	return r, errors.Join(perr, err)
}

// receivePacket reads one packet. One that does not fit comes without descriptors.
func receivePacket(fd, size int) (*received, error) {
	data, oob := make([]byte, size+1), make([]byte, unix.CmsgSpace(4*64))
	for {
		n, oobn, flags, _, err := unix.Recvmsg(fd, data, oob, unix.MSG_CMSG_CLOEXEC)
		if err == unix.EINTR {
			continue
		}
		if err == unix.ECONNRESET {
			return nil, errClosed
		}
		if err != nil {
			return nil, os.NewSyscallError("recvmsg", err)
		}
		r := &received{data: data[:n]}
		if n == 0 && oobn == 0 {
			return nil, errClosed
		}
		messages, err := unix.ParseSocketControlMessage(oob[:oobn])
		if err != nil {
			return r, nil
		}
		for i := range messages {
			if fds, err := unix.ParseUnixRights(&messages[i]); err == nil {
				r.fds = append(r.fds, fds...)
			}
		}
		if n > size || flags&(unix.MSG_TRUNC|unix.MSG_CTRUNC) != 0 {
			r.close()
		}
		return r, nil
	}
}

// sendPacket writes one packet, and does not wait for room.
func sendPacket(fd int, data []byte, fds ...int) error {
	var oob []byte
	if len(fds) > 0 {
		oob = unix.UnixRights(fds...)
	}
	for {
		err := unix.Sendmsg(fd, data, oob, nil, unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT)
		if err != unix.EINTR {
			return err
		}
	}
}

// bytes is the message as a packet.
func (m message) bytes(text string) []byte {
	return append(unsafe.Slice((*byte)(unsafe.Pointer(&m)), unsafe.Sizeof(m)), text...)
}

// parseMessage is the other end of bytes, and of tell.
func parseMessage(packet []byte) (m message, layer Layer, what string, ok bool) {
	size := int(unsafe.Sizeof(m))
	if len(packet) < size {
		return m, "", "", false
	}
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&m)), size), packet)
	l, w, _ := strings.Cut(string(packet[size:]), "\x00")
	return m, Layer(l), w, true
}

// reason is what a message says about a step that failed.
func (m message) reason(what string) string {
	if m.Errno == 0 {
		return what
	}
	return what + ": " + syscall.Errno(m.Errno).Error()
}

// parcel is a packet with one descriptor, as the kernel takes it. Its header is
// first: the address of the one is that of the other.
type parcel struct {
	header  unix.Msghdr
	part    unix.Iovec
	message message
	control struct {
		unix.Cmsghdr
		fd int32
		_  int32 // to a whole word
	}
}

// newParcel makes a packet for a step to put a descriptor into.
func newParcel(kind uint32) *parcel {
	p := &parcel{message: message{Kind: kind}}
	p.part = unix.Iovec{Base: (*byte)(unsafe.Pointer(&p.message)), Len: uint64(unsafe.Sizeof(p.message))}
	p.control.Level, p.control.Type = unix.SOL_SOCKET, unix.SCM_RIGHTS
	p.control.SetLen(unix.CmsgLen(4))
	p.header = unix.Msghdr{Iov: &p.part, Control: (*byte)(unsafe.Pointer(&p.control)), Iovlen: 1}
	p.header.SetControllen(int(unsafe.Sizeof(p.control)))
	return p
}

// hand sends the host the descriptor in a parcel, and closes it here.
func (l *list) hand(layer Layer, what string, control uintptr, p *parcel) {
	l.add(layer, what, unix.SYS_SENDMSG, control, pointer(l, p), unix.MSG_NOSIGNAL)
	l.close(&p.control.fd)
}
