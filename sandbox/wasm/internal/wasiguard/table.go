package wasiguard

// table is the policy: every function of preview 1 and its guard. forward means
// that wazero's function was read and is safe for all arguments as it is.
var table = map[string]guard{
	"args_get":          forward, // the host's own arguments: none
	"args_sizes_get":    forward,
	"environ_get":       forward, // the host's own environment: none
	"environ_sizes_get": forward,

	"clock_res_get":  forward,
	"clock_time_get": forward,

	"fd_advise":             forward,
	"fd_allocate":           allocate, // offset + length may overflow
	"fd_close":              forward,
	"fd_datasync":           forward,
	"fd_fdstat_get":         forward,
	"fd_fdstat_set_flags":   forward,
	"fd_fdstat_set_rights":  forward, // not implemented: ENOSYS
	"fd_filestat_get":       forward,
	"fd_filestat_set_size":  forward,   // memfs bounds it
	"fd_filestat_set_times": filesOnly, // a nil pointer for a stream
	"fd_pread":              readVector,
	"fd_prestat_dir_name":   filesOnly, // takes a stream for a directory
	"fd_prestat_get":        filesOnly,
	"fd_pwrite":             pwriteVector,
	"fd_read":               readVector,
	"fd_readdir":            readdir,  // keeps a copy of as much as was asked for
	"fd_renumber":           renumber, // allocates a table up to the new number
	"fd_seek":               seek,
	"fd_sync":               forward,
	"fd_tell":               seek,
	"fd_write":              writeVector,

	// Paths are copied, twice, before anything looks at their length.
	"path_create_directory":   paths(2),
	"path_filestat_get":       paths(3),
	"path_filestat_set_times": setTimes, // opens what it must not follow
	"path_link":               paths(3, 6),
	"path_open":               paths(3),
	"path_readlink":           paths(2),
	"path_remove_directory":   paths(2),
	"path_rename":             paths(2, 5),
	"path_symlink":            paths(1, 4),
	"path_unlink_file":        paths(2),

	"poll_oneoff": poll, // our own: see poll.go
	"proc_exit":   exit,
	"proc_raise":  forward, // not implemented: ENOSYS
	"random_get":  random,
	"sched_yield": forward, // does nothing

	// There are no sockets: every descriptor is refused first.
	"sock_accept":   forward,
	"sock_recv":     forward,
	"sock_send":     forward,
	"sock_shutdown": forward,
}
