// Package governor decides every tool call before it runs.
//
// A call passes a fixed row of steps; pipeline.go has them in their order. Each
// step lets the call pass, asks for a person's approval, or blocks it. What
// comes out is a [Decision], a plain value: the outcome, the step and the code
// that made it, and a reason that a model may read. A decision's zero value
// blocks, and so does everything that breaks on the way.
//
// [Governor.Decide] is for a call that is about to run: it counts the call,
// keeps its place in the rate limits, marks the run with the data that it is
// about to see, and uses up the approval. [Governor.Authorize] takes the same
// way for a call that will not run, and leaves nothing behind.
// [Governor.Output] is the last step, for what the tool gave back.
//
// The steps before a call runs only ever tighten: an approval does not undo a
// block, and a judge that allows does not undo a question.
//
// The package calls no tool and starts no process. It reads no clock but the
// one it is given, and it keeps no state: that is the store's.
package governor
