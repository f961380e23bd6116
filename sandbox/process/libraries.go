package process

import "os"

// SystemLibraries gives the paths that a program which is linked with the C
// library needs in Spec.Exec and Spec.Read on this host: the loader, shared
// libraries, and what they read at their start. No program is among them.
func SystemLibraries() (exec, read []string) {
	for _, path := range []string{"/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/local/lib"} {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			exec = append(exec, path)
		}
	}
	for _, path := range []string{"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/usr/share/zoneinfo", "/etc/nsswitch.conf", "/etc/ssl/openssl.cnf"} {
		if info, err := os.Stat(path); err == nil && (info.IsDir() || info.Mode().IsRegular()) {
			read = append(read, path)
		}
	}
	return exec, read
}
