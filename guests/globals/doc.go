// Package globals writes the arguments of a call in the form that the shims of
// the guests read. GLOBALS.md describes it.
package globals
