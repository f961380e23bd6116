//go:build amd64 || arm64

package process

import (
	"encoding/binary"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// proxyPort is where a call's proxy listens, in the call's own network: no other
// call's, and none of the host's ports.
const proxyPort = 3128

// openProxy makes the network of a call whose only way out is a proxy: the
// loopback interface, and on it a listening socket, which goes to the host. It
// listens before there is a program, so that none can take its place; the
// program gets no descriptor of it.
func (l *list) openProxy(control uintptr) {
	const layer = LayerNamespaces
	up := &interfaceFlags{name: [unix.IFNAMSIZ]byte{'l', 'o'}, flags: unix.IFF_UP | unix.IFF_RUNNING}
	datagrams := l.add(layer, "make a socket", unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0).gives()
	l.add(layer, "bring the loopback interface up", unix.SYS_IOCTL, 0, unix.SIOCSIFFLAGS, pointer(l, up)).takes(0, datagrams)
	l.close(datagrams)

	packet := newParcel(sayProxy)
	address, size := structure(l, &unix.RawSockaddrInet4{Family: unix.AF_INET, Port: networkOrder(proxyPort), Addr: [4]byte{127, 0, 0, 1}})
	listener := &packet.control.fd
	l.add(layer, "make the proxy's socket", unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0).into = listener
	l.add(layer, "give the proxy its port", unix.SYS_BIND, 0, address, size).takes(0, listener)
	l.add(layer, "listen for the proxy", unix.SYS_LISTEN, 0, 128).takes(0, listener)
	l.hand(layer, "hand the proxy's socket over", control, packet)
}

// networkOrder gives a number whose bytes in memory are those of n, the largest first.
func networkOrder(n uint16) uint16 {
	return binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, n))
}

// interfaceFlags is the kernel's struct ifreq.
type interfaceFlags struct {
	name  [unix.IFNAMSIZ]byte
	flags uint16
	_     [22]byte
}

// portRule is the kernel's struct landlock_net_port_attr.
type portRule struct{ access, port uint64 }

// allowProxy lets a program connect to its proxy's port, and to no other.
func (l *list) allowProxy(ruleset *int32) {
	const byPort = 2 // the kind of the rule
	rule := pointer(l, &portRule{access: ll.AccessNetConnectTCP, port: proxyPort})
	l.add(LayerLandlock, "allow the proxy's port", unix.SYS_LANDLOCK_ADD_RULE, 0, byPort, rule, 0).takes(0, ruleset)
}
