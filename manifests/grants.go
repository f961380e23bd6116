package manifests

// Grants is what a native tool's process may touch. The zero Grants gives it
// nothing but its own code, a private temporary directory, and what an
// interpreter needs to start. This is Mayfly's own addition to the format.
//
// Relative paths are relative to the handler's working directory. They are
// compared here as text; whoever builds a sandbox of them resolves symbolic
// links first and compares again.
type Grants struct {
	// Read are files and directories that may be read. Reading is not running.
	Read []string
	// Write are files and directories that may be written. They must exist when
	// the tool is called. Writing is not reading.
	Write []string
	// Code are single files that may be read and run beside the handler's own:
	// libraries and programs.
	Code []string
	// Network opens the network: for a tool's handler to the hosts in egress,
	// through an HTTP proxy that the environment names; with "*" in egress, and for
	// programs that are no tool's handler, all of it, directly, this machine and
	// private networks included.
	Network bool
	// NetworkLocal are Unix sockets, by absolute path, that may be connected to.
	// A service behind a socket can be powerful: the one of a container engine
	// is as good as root.
	NetworkLocal []string
	// Process allows children, which are confined like the handler itself.
	Process bool
	// Secrets are names of secrets that are handed to the handler. The manifest
	// never holds their values.
	Secrets []string
}

// IsZero reports whether nothing is granted.
func (g *Grants) IsZero() bool {
	return len(g.Read)+len(g.Write)+len(g.Code)+len(g.NetworkLocal)+len(g.Secrets) == 0 && !g.Network && !g.Process
}

func grantFields(g *Grants) fields {
	paths := func(s *string) slot { return textSlot{s, localPath} }
	return fields{
		{name: "filesystem_read", slot: list(&g.Read, paths),
			doc: "Files and directories that the handler may read, absolute or relative to its working directory; a directory includes everything in it. Default: none."},
		{name: "filesystem_write", slot: list(&g.Write, paths),
			doc: "Files and directories that the handler may write. They must exist when the tool is called; writing does not include reading. Default: none."},
		{name: "code", slot: list(&g.Code, paths),
			doc: "Single files that the handler may read and execute beside its own code: libraries, programs. Default: none."},
		{name: "network", slot: flagSlot{&g.Network},
			doc: "Opens the network. A tool's handler reaches the hosts that the tool's egress lists, through an HTTP proxy that the environment names (HTTP_PROXY and its relatives). With * in egress, and for programs that are no tool's handler, it is all of it, directly, this machine and private networks included."},
		{name: "network_local", slot: list(&g.NetworkLocal, func(s *string) slot { return textSlot{s, absolutePath} }),
			doc: "Unix sockets that the handler may connect to, by absolute path. Default: none."},
		{name: "process", slot: flagSlot{&g.Process},
			doc: "Lets the handler start other processes, confined as it is itself."},
		{name: "secrets", slot: list(&g.Secrets, func(s *string) slot { return textSlot{s, variable} }),
			doc: "Names of the secrets that are handed to the handler, never their values. Default: none."},
	}
}
