// Package mcp offers a runtime's tools to clients of the Model Context Protocol:
// over standard input and output with a [Session], over HTTP with a [Handler].
//
// A client's session is one run: its labels, budgets, approvals and idempotency
// keys hold from the first call to the last. What a client calls goes through
// every step of the governor, whatever the surface is: with [SurfaceVerbs] it is
// the tool that tool_invoke names which is decided, reviewed and traced.
//
// A client is shown what its run may call: tools that were granted, are enabled
// for the tenant, are what was pinned, and can be reached by this host. The
// definitions are those that calls are checked against.
//
// A call that did not do what it was to do is a result with isError, whose
// structured content says how it ended, which step of the governor stopped it and
// why, whether the same call may be repeated, and what is safe to do next. It holds
// no value of arguments, no path and no error text of the host.
//
// What it does not do: it knows nothing of who is at the other end. Whoever makes
// a Session or the Handler says on whose behalf a session is, and who answers
// questions that the client shows to a person.
package mcp
