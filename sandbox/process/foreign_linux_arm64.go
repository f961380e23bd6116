package process

// foreignEntries are the ways into the kernel that are not this architecture's: a
// program of 64 bits cannot take the one for 32.
var foreignEntries = map[string]func() int64{}
