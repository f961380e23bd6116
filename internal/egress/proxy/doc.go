// Package proxy is an HTTP proxy for one call of a program that has no other way
// out. It takes CONNECT, and plain requests with an absolute http URL, and
// connects through package egress: to hosts that the call's policy allows and to
// nobody else.
//
// What goes out is what was checked: the target of a CONNECT is the one of its
// request line, and a plain request is read, checked and written anew, with the
// host of its URL as its Host. Nothing of a client's bytes decides where a second
// request begins. Inside a tunnel the proxy sees nothing: which name a client asks
// an allowed server for there is between the two.
//
// A client learns that it was refused, and not which address a name has.
package proxy
