// Package httpapi offers a runtime's tools over HTTP, and to people a console in
// which they watch and approve.
//
// Nobody gets anything but a sign of life without a token: tokens come from a
// file that holds only their hashes, and name a principal, a tenant and roles. A
// caller acts as its own principal in its own runs; it sees those, and the
// approvals that it may answer. A token with the role [RoleOperator] sees
// everything of its tenant, and grants and revokes tools. One with the tenant "*"
// sees every tenant, and calls nothing.
//
// A call goes through every step of the governor. Its answer always has the typed
// outcome; the status code is derived from it, see [StatusOf]. Answers that are
// no outcome are problems as RFC 9457 has them.
//
// Requests are read strictly: JSON with unknown or repeated names, or that is not
// UTF-8, is refused, as is whatever is larger, slower or more than the limits of
// [Config]. A browser's request from another site is refused, and so is one for a
// host name that is not the server's.
//
// If the client goes away, a call of a tool that changes nothing is cancelled; one
// that changes something runs to its end and is recorded.
package httpapi
