package measure

import "github.com/mayfly-run/mayfly/sandbox/process"

// Bubblewrap gives the arguments of bwrap before its "--" that confine a program
// about as Mayfly confines one: everything unshared, no rights, an empty
// environment, and to read only the program and the system's libraries.
func Bubblewrap(program string) []string {
	libraries, read := process.SystemLibraries()
	wrap := []string{
		"--unshare-all", "--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL", "--hostname", "sandbox",
		"--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp",
	}
	for _, path := range append(append([]string{program}, libraries...), read...) {
		wrap = append(wrap, "--ro-bind", path, path)
	}
	return wrap
}
