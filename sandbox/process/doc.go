// Package process runs one native program for one call, confined by the
// kernel.
//
// The first [Run] starts the host's own executable again as a spawner, a small
// process that does nothing but start keepers, and ends with its host. Each call
// has a keeper, a fork of the spawner that lives as long as the call: it makes
// the world that the program will see, forks it, waits for it, and does not end
// before every process of the call is gone. So a program that uses this package
// must call [Main] before anything else:
//
//	func main() {
//		if code, ours := process.Main(); ours {
//			os.Exit(code)
//		}
//		...
//	}
//
// The spawner has the limits, the mounts and the control group that its host had
// at the first call. A host that becomes another user gets another spawner.
//
// With [NetworkProxy] the keeper makes a listening socket in the call's own
// network and hands it to the host, whose [Spec].Proxy serves it: the program
// reaches that and nothing else.
//
// What confines the program, in the order in which it is applied: namespaces
// with a file system of their own, its own session, limits, a user without
// rights, no_new_privs, Landlock, and last a seccomp filter. A layer that the
// call requires and the kernel does not have is an [*UnavailableError], and the
// program is not started. There is no way to run without confinement.
//
// It does not defend against a bug in the kernel. On systems other than Linux
// every call is refused.
package process
