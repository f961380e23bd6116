package wasiguard

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The notation of testdata/conformance.txt. A case is a line "case NAME" and
// the calls that follow it, up to an empty line; it runs in an instance of its
// own. A call is
//
//	function argument... => errno result...
//
// with these arguments, which give their results in the same order:
//
//	12, -3        a number
//	creat|excl    flags or other constants, see constants
//	$f            a number that an earlier result was kept as
//	"text"        address and length of a text, in the notation of Go
//	["a" "b"]     address and length of a list of texts to write
//	[5 3]         the same with room to read into; gives the bytes as one text, after the count
//	u32, u64      the address of a result; gives the number
//	buf:9         address and length of room; gives what is there, as text up to the length that is wanted
//	dirents:99    the same for directory entries, if a u32 follows; gives name:type,...
//	fdstat        the address of an fdstat; gives some of type=,flags=,write=
//	filestat      the address of a filestat; gives some of type=,ino=,nlink=,size=,atim=,mtim=,ctim=
//	nowhere       the end of memory
//
// As a result, * means anything, and $f keeps the number as f. Nothing is
// compared but the errno when that is not success.

// elsewhere are the functions that the file does not show to succeed or to
// fail, with the reason.
var elsewhere = map[string]string{
	"args_get":             "there is nothing it could fail to store",
	"environ_get":          "there is nothing it could fail to store",
	"fd_fdstat_set_rights": "not implemented, see rights in WASI.md",
	"path_link":            "refused, see hard-links in WASI.md",
	"poll_oneoff":          "see TestPoll",
	"proc_exit":            "see TestExit",
	"proc_raise":           "not implemented, see signals in WASI.md",
	"sched_yield":          "cannot fail",
	"sock_accept":          "no descriptor is a socket",
	"sock_recv":            "no descriptor is a socket",
	"sock_send":            "no descriptor is a socket",
	"sock_shutdown":        "no descriptor is a socket",
}

var fileTypes = []string{"unknown", "block_device", "character_device", "directory", "regular_file", "socket_dgram", "socket_stream", "symbolic_link"}

var errnos = map[string]uint32{
	"success": 0, "badf": 8, "exist": 20, "fault": 21, "fbig": 22, "inval": 28, "isdir": 31, "loop": 32, "nametoolong": 37, "noent": 44,
	"nospc": 51, "nosys": 52, "notdir": 54, "notempty": 55, "notsup": 58, "perm": 63, "range": 68, "rofs": 69, "spipe": 70,
}

var constants = map[string]uint64{
	"nowhere":  memEnd,
	"realtime": 0, "monotonic": 1, "process_cputime": 2, "thread_cputime": 3,
	"set": 0, "cur": 1, "end": 2,
	"follow": 1,
	"creat":  oCreat, "directory": oDirectory, "excl": oExcl, "trunc": oTrunc,
	"read": rightRead, "write": rightWrite,
	"append": fdAppend, "dsync": 2, "nonblock": fdNonblock, "rsync": 8, "sync": 16,
	"atim": 1, "atim_now": 2, "mtim": 4, "mtim_now": 8,
}

type conformanceCase struct {
	name, deviation string
	lines           []string
	first           int // line number
}

func readCases(t *testing.T) (cases []conformanceCase) {
	t.Helper()
	b, err := os.ReadFile("testdata/conformance.txt")
	if err != nil {
		t.Fatal(err)
	}
	number := 0
	for s := bufio.NewScanner(bytes.NewReader(b)); s.Scan(); {
		number++
		line := s.Text()
		if name, ok := strings.CutPrefix(line, "case "); ok {
			_, deviation, _ := strings.Cut(name, ", deviation ")
			cases = append(cases, conformanceCase{name: name, deviation: deviation, first: number + 1})
		} else if line != "" && !strings.HasPrefix(line, "#") {
			c := &cases[len(cases)-1]
			c.lines = append(c.lines, line)
		}
	}
	return cases
}

func TestConformance(t *testing.T) {
	succeeds, fails := map[string]bool{}, map[string]bool{}
	for _, c := range readCases(t) {
		t.Run(c.name, func(t *testing.T) {
			r := &runner{guest: newGuest(t, testLimits), kept: map[string]uint64{}}
			for i, line := range c.lines {
				name, errno, err := r.run(line)
				if err != nil {
					t.Fatalf("conformance.txt:%d: %s\n\t%v", c.first+i, line, err)
				}
				succeeds[name] = succeeds[name] || errno == 0
				fails[name] = fails[name] || errno != 0
			}
		})
	}
	for name := range table {
		if _, ok := elsewhere[name]; ok == (succeeds[name] && fails[name]) {
			t.Errorf("%s: shown to succeed: %v, to fail: %v, listed as shown elsewhere: %v", name, succeeds[name], fails[name], ok)
		}
	}
}

// TestDeviations holds the list of deviations for readers to the cases.
func TestDeviations(t *testing.T) {
	b, err := os.ReadFile("../../WASI.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented, shown []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\|").FindAllStringSubmatch(string(b), -1) {
		documented = append(documented, m[1])
	}
	for _, c := range readCases(t) {
		if c.deviation != "" {
			shown = append(shown, c.deviation)
		}
	}
	slices.Sort(documented)
	slices.Sort(shown)
	if !slices.Equal(documented, slices.Compact(shown)) {
		t.Errorf("WASI.md lists the deviations\n\t%q\nand conformance.txt shows\n\t%q", documented, shown)
	}
}

// runner runs the lines of one case.
type runner struct {
	*guest
	kept map[string]uint64
	next uint32 // where the next thing goes in memory
	// pieces are the places to read into, of one call.
	pieces [][2]uint32
	// outputs compare one result each.
	outputs []func(want string) error
	// lastCount is the last u32 among the results.
	lastCount uint32
}

var tokens = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|\[[^\]]*\]|\S+`)

func (r *runner) run(line string) (name string, errno uint32, err error) {
	left, right, ok := strings.Cut(line, " => ")
	if !ok {
		return "", 0, fmt.Errorf("has no =>")
	}
	words, want := tokens.FindAllString(left, -1), tokens.FindAllString(right, -1)
	name = words[0]
	r.next, r.pieces, r.outputs = atBuffer, nil, nil
	var args []uint64
	for _, w := range words[1:] {
		a, err := r.argument(w)
		if err != nil {
			return name, 0, err
		}
		args = append(args, a...)
	}
	if table[name] == nil {
		return name, 0, fmt.Errorf("there is no function %s", name)
	}
	errno, err = r.try(name, args...)
	if err != nil {
		return name, 0, err
	}
	if code, ok := errnos[want[0]]; !ok || code != errno {
		return name, errno, fmt.Errorf("errno is %d, want %s", errno, want[0])
	}
	if errno != 0 {
		return name, errno, nil
	}
	if r.pieces != nil {
		r.outputs = append(r.outputs, r.gathered)
	}
	if len(want)-1 != len(r.outputs) {
		return name, errno, fmt.Errorf("gives %d results, wanted are %d", len(r.outputs), len(want)-1)
	}
	for i, w := range want[1:] {
		if w == "*" {
			continue
		}
		if err := r.outputs[i](w); err != nil {
			return name, errno, err
		}
	}
	return name, errno, nil
}

// room takes n bytes of memory.
func (r *runner) room(n uint32) uint32 {
	at := r.next
	r.next += (n + 15) &^ 7
	b, _ := r.mem.Read(at, n)
	clear(b)
	return at
}

func (r *runner) store(s string) (ptr, size uint64) { return r.put(r.room(uint32(len(s))), s) }

func (r *runner) argument(w string) ([]uint64, error) {
	kind, rest, sized := strings.Cut(w, ":")
	var size uint32
	if sized && w[0] != '"' {
		n, err := strconv.ParseUint(rest, 10, 16)
		if err != nil {
			return nil, err
		}
		size = uint32(n)
	}
	switch {
	case w[0] == '"':
		s, err := strconv.Unquote(w)
		ptr, n := r.store(s)
		return []uint64{ptr, n}, err
	case w[0] == '[':
		return r.list(w)
	case w[0] == '$':
		n, ok := r.kept[w]
		if !ok {
			return nil, fmt.Errorf("%s was not kept", w)
		}
		return []uint64{n}, nil
	case w == "u32":
		at := r.room(4)
		r.outputs = append(r.outputs, func(want string) error {
			r.lastCount, _ = r.mem.ReadUint32Le(at)
			return r.number(uint64(r.lastCount), want)
		})
		return []uint64{uint64(at)}, nil
	case w == "u64":
		at := r.room(8)
		r.outputs = append(r.outputs, func(want string) error { return r.number(r.result64(at), want) })
		return []uint64{uint64(at)}, nil
	case kind == "buf":
		at := r.room(size)
		r.outputs = append(r.outputs, func(want string) error {
			s, err := strconv.Unquote(want)
			if got := r.text(at, uint32(len(s))); err == nil && got != s {
				err = fmt.Errorf("gives %q, want %q", got, s)
			}
			return err
		})
		return []uint64{uint64(at), uint64(size)}, nil
	case kind == "dirents":
		at := r.room(size)
		used := r.next // where the count that follows will be
		r.outputs = append(r.outputs, func(want string) error {
			n, _ := r.mem.ReadUint32Le(used)
			return compareList(entries(r.text(at, n)), want)
		})
		return []uint64{uint64(at), uint64(size)}, nil
	case w == "fdstat":
		at := r.room(24)
		r.outputs = append(r.outputs, func(want string) error {
			b := []byte(r.text(at, 24))
			return compareFields(map[string]string{
				"type": fileTypes[b[0]], "flags": flagNames(le.Uint16(b[2:])), "write": strconv.FormatUint(le.Uint64(b[8:])>>6&1, 10),
			}, want)
		})
		return []uint64{uint64(at)}, nil
	case w == "filestat":
		at := r.room(64)
		r.outputs = append(r.outputs, func(want string) error {
			b := []byte(r.text(at, 64))
			n := func(i int) string { return strconv.FormatUint(le.Uint64(b[i:]), 10) }
			return compareFields(map[string]string{
				"ino": n(8), "type": fileTypes[b[16]], "nlink": n(24), "size": n(32), "atim": n(40), "mtim": n(48), "ctim": n(56),
			}, want)
		})
		return []uint64{uint64(at)}, nil
	}
	if n, err := strconv.ParseInt(w, 10, 64); err == nil {
		return []uint64{uint64(n)}, nil
	}
	var sum uint64
	for flag := range strings.SplitSeq(w, "|") {
		n, ok := constants[flag]
		if !ok {
			return nil, fmt.Errorf("%s is no argument", w)
		}
		sum |= n
	}
	return []uint64{sum}, nil
}

// list stores a list of texts, or of rooms.
func (r *runner) list(w string) ([]uint64, error) {
	items := tokens.FindAllString(w[1:len(w)-1], -1)
	at := r.room(uint32(8 * len(items)))
	for i, item := range items {
		var ptr, size uint32
		if item[0] == '"' {
			s, err := strconv.Unquote(item)
			if err != nil {
				return nil, err
			}
			p, n := r.store(s)
			ptr, size = uint32(p), uint32(n)
		} else {
			n, err := strconv.ParseUint(item, 10, 16)
			if err != nil {
				return nil, err
			}
			ptr, size = r.room(uint32(n)), uint32(n)
			r.pieces = append(r.pieces, [2]uint32{ptr, size})
		}
		r.mem.WriteUint32Le(at+uint32(i)*8, ptr)
		r.mem.WriteUint32Le(at+uint32(i)*8+4, size)
	}
	return []uint64{uint64(at), uint64(len(items))}, nil
}

// gathered compares what was read into the pieces.
func (r *runner) gathered(want string) error {
	var got string
	for _, p := range r.pieces {
		n := min(p[1], r.lastCount-uint32(len(got)))
		got += r.text(p[0], n)
	}
	if s, err := strconv.Unquote(want); err != nil || s != got {
		return fmt.Errorf("reads %q, want %s (%v)", got, want, err)
	}
	return nil
}

func (r *runner) number(got uint64, want string) error {
	if want[0] == '$' {
		r.kept[want] = got
		return nil
	}
	if s := strconv.FormatUint(got, 10); s != want {
		return fmt.Errorf("gives %s, want %s", s, want)
	}
	return nil
}

// entries decodes directory entries; one that is cut off is left out.
func entries(b string) string {
	var all []string
	for len(b) >= 24 {
		size, kind := int(le.Uint32([]byte(b[16:]))), b[20]
		if len(b) < 24+size {
			break
		}
		all = append(all, b[24:24+size]+":"+fileTypes[kind])
		b = b[24+size:]
	}
	if all == nil {
		return "empty"
	}
	return strings.Join(all, ",")
}

func flagNames(flags uint16) string {
	var all []string
	for _, n := range []string{"append", "dsync", "nonblock", "rsync", "sync"} {
		if flags&uint16(constants[n]) != 0 {
			all = append(all, n)
		}
	}
	if all == nil {
		return "0"
	}
	return strings.Join(all, "|")
}

func compareList(got, want string) error {
	g, w := strings.Split(got, ","), strings.Split(want, ",")
	if !slices.EqualFunc(g, w, func(a, b string) bool { return b == "*" || a == b }) {
		return fmt.Errorf("gives %s, want %s", got, want)
	}
	return nil
}

func compareFields(got map[string]string, want string) error {
	for field := range strings.SplitSeq(want, ",") {
		name, value, _ := strings.Cut(field, "=")
		if got[name] != value {
			return fmt.Errorf("gives %s=%s, want %s (all: %v)", name, got[name], value, slices.Sorted(maps.Keys(got)))
		}
	}
	return nil
}
