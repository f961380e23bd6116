package process

import (
	"fmt"

	"github.com/mayfly-run/mayfly/sandbox"
)

// Result is how a call ended, what it left, and what confined it.
type Result struct {
	// Result is as for every back end. Usage has Wall, CPU, PeakMemory and the
	// bytes produced. With a control group, CPU and PeakMemory are those of the
	// whole call; else CPU is what the keeper saw of it, and PeakMemory that of
	// the largest process.
	sandbox.Result
	// ExitCode is the program's own; -1 when a signal ended it or it never ran.
	ExitCode int
	// Signal is the name of the signal that ended the program, such as
	// "SIGKILL"; empty if none did.
	Signal string
	// Written is how many bytes were copied out; see Limits.MaxWriteBytes.
	Written int64
	// Enforced is what confined the program; the zero value when nothing ran.
	Enforced Enforced
}

// Layer is a part of the confinement.
type Layer string

// The layers, in the order in which they are applied.
const (
	LayerCgroup      Layer = "cgroup"      // a control group: memory, processor time and processes of the call as a whole
	LayerNamespaces  Layer = "namespaces"  // user (unless root), pid, mount, net (unless granted), ipc, uts
	LayerFileSystem  Layer = "file_system" // a private tree with nothing but what is granted
	LayerProc        Layer = "proc"        // a /proc that shows the call's own processes only
	LayerSession     Layer = "session"     // a session of its own, without a terminal
	LayerLimits      Layer = "limits"      // rlimits
	LayerProcesses   Layer = "processes"   // the bound on processes counts this call's only
	LayerUser        Layer = "user"        // not root, no capability, none to gain
	LayerNoNewPrivs  Layer = "no_new_privs"
	LayerLandlock    Layer = "landlock" // files by granted path; TCP from ABI 4, scopes from ABI 6
	LayerSeccomp     Layer = "seccomp"  // system calls by a list, sockets by family
	LayerDescriptors Layer = "descriptors"
)

// Enforced is what confined a program.
type Enforced struct {
	// Layers were in place when the program started.
	Layers []Layer
	// Missing are the layers that this host does not have and that the call
	// could do without.
	Missing []Layer
	// LandlockABI is the kernel's version of Landlock, whose rights were all
	// handled up to [MaxLandlockABI].
	LandlockABI int
	// Cgroup is the version of the control group, 1 or 2; 0: there is none.
	Cgroup int
	// UID is who the program ran as on the host.
	UID int
}

// UnavailableError says which layer a call requires and this host does not
// have. Nothing was started.
type UnavailableError struct {
	// Layer that is missing.
	Layer Layer
	// Reason is what was tried and how it failed.
	Reason string
	// Remedy is what to do about it.
	Remedy string
	// Err is the cause, if there is one.
	Err error
}

func (e *UnavailableError) Error() string {
	text := fmt.Sprintf("confinement layer %s is not available: %s", e.Layer, e.Reason)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	if e.Remedy != "" {
		text += "; " + e.Remedy
	}
	return text
}

func (e *UnavailableError) Unwrap() error { return e.Err }

// SurvivorsError says that processes of a call could not be shown to be gone.
// The call's outcome is unknown.
type SurvivorsError struct {
	// Reason is what the host knows.
	Reason string
}

func (e *SurvivorsError) Error() string {
	return "processes of the call may still run: " + e.Reason
}
