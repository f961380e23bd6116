// Package js is the host's side of the JavaScript guest: it knows which names
// the arguments of a call can have.
//
// The guest itself is built from the sources below this folder; see README.md
// for the build and VALUES.md for what becomes of values on their way in and
// out.
package js
