package wasm

// noFiles is linearMemory.files before there are any.
func noFiles() uint64 { return 0 }

// room is how many bytes the guest may still have, memory and files together.
func (m *linearMemory) room() int64 { return int64(m.limit) - int64(m.size) - int64(m.files()) }
