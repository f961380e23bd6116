// Package python is the host's side of the Python guest: it writes the
// arguments of a call in the form that the guest's shim reads.
//
// The guest itself is built from the sources below this folder; see README.md
// for the build and VALUES.md for what becomes of values on their way out.
package python
