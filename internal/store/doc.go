// Package store keeps what must outlive a call: runs and their labels, places
// in rate limits, approvals, grants, and the journal of effects.
//
// [Open] keeps it in one SQLite file that several processes may use at once;
// [NewMemory] in this process, for tests and for whoever asks for it by name.
// Both do the same, which one test suite holds them to.
//
// What is promised:
//
//   - Every method is atomic. A process killed at any point leaves either all
//     of a method's change or none.
//   - Approvals and effects are on the disk before the method returns. Runs,
//     labels, counts, reservations and grants survive the death of the process
//     at once, and that of the machine within moments, or with the next
//     approval or effect.
//   - Of two callers that race to decide or consume an approval, or to begin an
//     effect, exactly one wins, in whichever processes they are.
//
// The store decides nothing: who may approve, what a label means, whether a
// rate is sensible, is the governor's. Time is always an argument. Times are
// given back in UTC; the zero time stays zero, and times before 1970 or after
// 2261 are refused.
//
// The file holds arguments of calls that wait for approval, as they were
// given. It is readable by its owner alone, and Open refuses one that is not.
package store
