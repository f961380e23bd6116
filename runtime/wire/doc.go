// Package wire has the words in which calls, decisions, runs, approvals and
// effects are written as JSON: the same on the command line, with --json, and over
// HTTP. Times are in UTC, to the second; what is not there is left out.
package wire
