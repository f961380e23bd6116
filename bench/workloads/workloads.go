// Package workloads holds CPU-bound Python and JavaScript scripts of the kind that models
// write. Each ends in an expression, by which a run is checked.
package workloads

import "embed"

// Files are the scripts.
//
//go:embed *.py *.js
var Files embed.FS
