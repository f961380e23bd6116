// Package guests holds the interpreters that the WebAssembly sandbox hosts:
// for each a folder with the recipe that builds it from pinned sources, and
// here the built module, embedded, if there was one when the program was
// compiled.
//
// `make guests` builds them. A program that was compiled without gets
// [ErrMissing].
package guests
