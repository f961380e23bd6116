package wasiguard

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/tetratelabs/wazero/sys"
)

// TestBare shows for each guard that wazero alone does what the guard is there
// to prevent. A case that fails means that wazero has changed: look whether the
// guard can go.
func TestBare(t *testing.T) {
	tests := []struct {
		name   string
		attack func(t *testing.T, g *guest) bool
	}{
		{"a stream's times are set through a nil pointer", func(t *testing.T, g *guest) bool {
			_, err := g.try("fd_filestat_set_times", 1, 1, 1, 5)
			return err != nil
		}},
		{"a stream is a directory without a name", func(t *testing.T, g *guest) bool {
			return g.call("fd_prestat_get", 1, atResult) == 0
		}},
		{"the number of subscriptions overflows", func(t *testing.T, g *guest) bool {
			_, err := g.try("poll_oneoff", 0, atBuffer, 0x1000_0001, atResult)
			return err != nil
		}},
		{"sleeping does not ask for the call", func(t *testing.T, g *guest) bool {
			g.world.left = 0
			g.subscribe(0, sub{id: clockMonotonic, timeout: uint64(time.Hour)})
			return g.call("poll_oneoff", atPath, atBuffer, 1, atResult) == 0
		}},
		{"a new number makes a table up to it", func(t *testing.T, g *guest) bool {
			file := g.open("tmp/f", oCreat, rightsBoth, 0)
			return allocated(func() { g.call("fd_renumber", file, 1<<22) }) > 16<<20
		}},
		{"moving a file to itself closes it", func(t *testing.T, g *guest) bool {
			file := g.open("tmp/f", oCreat, rightsBoth, 0)
			g.want(0, "fd_renumber", file, file)
			ptr, count := g.vector(atBuffer, 1)
			return g.call("fd_write", file, ptr, count, atResult) == errBadf
		}},
		{"a long path is copied", func(t *testing.T, g *guest) bool {
			return allocated(func() { g.call("path_unlink_file", root, 0, memEnd) }) >= memEnd
		}},
		{"pieces are counted in 32 bits", func(t *testing.T, g *guest) bool {
			ptr, _ := g.vector(atBuffer, 1)
			return g.call("fd_write", 1, ptr, 0x2000_0001, atResult) == 0
		}},
		{"all pieces may be all memory", func(t *testing.T, g *guest) bool {
			for i := range uint32(2000) {
				g.mem.WriteUint32Le(atVector+i*8, 0)
				g.mem.WriteUint32Le(atVector+i*8+4, memEnd)
			}
			g.call("fd_write", 1, atVector, 2000, atResult)
			return g.out.written == 2000*memEnd
		}},
		{"a full file system is an I/O error", func(t *testing.T, g *guest) bool {
			return g.call("fd_filestat_set_size", g.open("tmp/f", oCreat, rightsBoth, 0), 1<<40) == errIO
		}},
		{"the size to allocate overflows", func(t *testing.T, g *guest) bool {
			return g.call("fd_allocate", g.open("tmp/f", oCreat, rightsBoth, 0), 1<<63, 1<<63) == 0
		}},
		{"an exit looks like a deadline", func(t *testing.T, g *guest) bool {
			_, err := g.try("proc_exit", uint64(sys.ExitCodeDeadlineExceeded))
			return errors.Is(err, context.DeadlineExceeded)
		}},
		{"an empty path is a directory", func(t *testing.T, g *guest) bool {
			return g.call("path_filestat_get", root, 0, atPath, 0, atBuffer) == 0
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if !tt.attack(t, newGuestIn(t, bare, testLimits)) {
				t.Error("wazero does not do this any more")
			}
		})
	}
}
