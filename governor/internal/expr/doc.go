// Package expr compiles and evaluates the expressions of policies and
// manifests: CEL over the names principal, tenant, task, tool, args and labels.
//
// It is CEL with its standard library, and with three rules of its own:
//
//   - Arithmetic and order take an integer beside a float, as CEL-lite does:
//     args.amount * 1.5 > 100 works whether amount was written 80 or 80.0.
//   - A field of tool or labels that does not exist is an error when the
//     expression is compiled, not a surprise in the middle of a call.
//   - Work is bounded: an expression by its size, its evaluation by its cost.
//
// An evaluation gives true, false, or an error; an error means that the
// expression could not be evaluated, and what follows from that is for the
// caller to say. Errors of an evaluation hold no value of the call.
package expr
