package wasm

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// hugePage is the smallest range worth asking for; all of today's machines use
// this size or a smaller one.
const hugePage = 2 << 20

// useHugeCode asks the kernel to put compiled code on huge pages: an
// interpreter's code is spread over thousands of small ones, whose look-up is a
// good part of a short call. wazero does not tell where it put the code, but no
// other anonymous memory of a Go process without cgo can be executed. It only
// saves time, so nothing that goes wrong here matters.
func useHugeCode() {
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		return
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var start, end, inode uint64
		var mode, offset, device string
		n, _ := fmt.Sscanf(lines.Text(), "%x-%x %s %s %s %d", &start, &end, &mode, &offset, &device, &inode)
		if n != 6 || inode != 0 || end-start < hugePage || !strings.HasPrefix(mode, "r-x") {
			continue
		}
		// Collapsing (since Linux 6.1) does it now; the advice alone, some time.
		for _, advice := range []uintptr{unix.MADV_HUGEPAGE, unix.MADV_COLLAPSE} {
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, uintptr(start), uintptr(end-start), advice)
		}
	}
}
