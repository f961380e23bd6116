// Package typescript turns TypeScript into the JavaScript that the guest runs,
// by taking the types out, and errors of that JavaScript back to the lines that
// the user wrote.
//
// Types are not checked. What is more than a type (enum, namespace, parameter
// properties) becomes code, as the TypeScript compiler would have it.
//
// Warning: the source is read by esbuild, in this process and on its stack. A
// source that is made for it can take long and nest deeply, and nothing stops
// that: use this package where a process serves one source, as the command
// line does, not in a host that serves strangers.
package typescript
