package guests

import "embed"

// artefacts holds what `make guests` built. Its README.md is always there, so
// this compiles without any guest.
//
//go:embed artefacts
var artefacts embed.FS
