package store

import (
	"context"
	"time"
)

// Store is what [Open] and [NewMemory] give. Its methods may be called from
// several goroutines, and on one file from several processes. Values that are
// handed over are copied.
//
// Errors are to be matched with errors.Is against the package's Err variables.
// A context that ends stops a method before it changes anything, or does not
// stop it.
type Store interface {
	// CreateRun adds a run. [ErrExists] if there is one of that ID.
	CreateRun(ctx context.Context, r Run) error
	// Run gives a run, also one that has expired. [ErrNotFound].
	Run(ctx context.Context, id string) (Run, error)
	// Runs gives runs, the newest first.
	Runs(ctx context.Context, f RunFilter) ([]Run, error)
	// AddLabels sets labels of a run. What is set stays set. [ErrNotFound].
	AddLabels(ctx context.Context, runID string, l Labels) error
	// TakeCall counts one call of a run against a budget of max calls. It gives
	// how many were counted, this one included, and whether there was room: if
	// not, the call is not counted. A max of 0 is no bound; it counts all the
	// same. [ErrNotFound].
	TakeCall(ctx context.Context, runID string, max int64) (n int64, ok bool, err error)

	// Reserve takes a place in every window of r or in none. The zero Refusal
	// with a nil error means admitted. A place is out of a window as soon as it
	// is as old as the window is long. [ErrExists] if a reservation of that ID
	// holds places.
	//
	// A clock that steps back frees nothing. While it is behind the newest place
	// of a window by no more than the window's length (or half a minute, if that
	// is longer) time stands still for that window; if it is further behind,
	// places from the future count as taken now. So that no place is held for
	// longer than twice that.
	Reserve(ctx context.Context, r Reservation, now time.Time) (Refusal, error)
	// Release gives the places of a reservation back. That of an unknown ID is no
	// error: it was released before, or is out of every window. Places that
	// nobody releases stay taken until they are out, also when the process ends.
	Release(ctx context.Context, id string) error

	// CreateApproval asks for an approval and gives back what is stored. If the
	// same run has asked for the same call hash and that approval is still open,
	// pending or approved for exactly that hash, it is given back instead of a
	// second: look at its ID and State. [ErrExists] if the ID is taken.
	CreateApproval(ctx context.Context, a Approval) (Approval, error)
	// Approval gives an approval as it stands at that time. [ErrNotFound].
	Approval(ctx context.Context, id string, now time.Time) (Approval, error)
	// Approvals gives approvals as they stand at f.Now, the newest first. The
	// arguments of some are withheld if there are more than [MaxArgs] bytes of them.
	Approvals(ctx context.Context, f ApprovalFilter) ([]Approval, error)
	// Decide turns a pending approval into an approved or rejected one, once.
	// [ErrNotFound]; [ErrDecided] if somebody has, and then the approval as it
	// stands is given back too; [ErrExpired] if it is too late.
	Decide(ctx context.Context, id string, d Decision) (Approval, error)
	// Consume uses up an approved, unexpired approval of that run for that call
	// hash (the edited call's, if it was edited): the oldest one, once.
	// [ErrNotFound] if there is none, [ErrExpired] if there is one but too old.
	Consume(ctx context.Context, callHash, runID string, now time.Time) (Approval, error)

	// Grant lets a run call a tool. A grant for the same run and tool is replaced,
	// also a revoked one. [ErrNotFound] if there is no such run.
	Grant(ctx context.Context, g Grant) error
	// Revoke ends the grant of a tool to a run, that of every tool if tool is
	// empty. One that was revoked before keeps its time. [ErrNotFound] if there
	// is no such grant (run, if tool is empty).
	Revoke(ctx context.Context, runID, tool string, now time.Time) error
	// GrantOf gives the grant of one tool to a run, also a revoked or expired one:
	// see [Grant.Active]. [ErrNotFound].
	GrantOf(ctx context.Context, runID, tool string) (Grant, error)
	// Grants gives all grants of a run, sorted by tool, also revoked and expired
	// ones: see [Grant.Active].
	Grants(ctx context.Context, runID string) ([]Grant, error)

	// BeginEffect writes down that an effect is about to happen. It is on the
	// disk before BeginEffect returns (nil, nil), and only then may the effect
	// start. If there is an entry of that key it is given back, whatever its
	// state, and nothing is begun.
	BeginEffect(ctx context.Context, e Effect) (prior *Effect, err error)
	// RetryEffect begins an effect again that is known not to have happened: one
	// in state EffectFailed. [ErrNotFound]; [ErrFinished] if it is in another
	// state, or somebody else was first.
	RetryEffect(ctx context.Context, key string, now time.Time) (Effect, error)
	// FinishEffect says how an effect ended: EffectConfirmed, EffectFailed (known
	// not to have happened) or EffectAmbiguous. An ambiguous one may later be
	// settled as confirmed or failed, by anybody. [ErrNotFound]; [ErrFinished] if
	// it has ended; [ErrNotOwner] if it was begun through another Store that is
	// still open.
	FinishEffect(ctx context.Context, key string, state EffectState, outcome string, now time.Time) error
	// Effects gives entries of the journal, the newest first.
	Effects(ctx context.Context, f EffectFilter) ([]Effect, error)
	// Recover turns begun effects whose owner is gone (closed, ended or killed)
	// into ambiguous ones, and gives those. It is to be called once after Open,
	// and may be called at any time: what is under way elsewhere stays as it is.
	Recover(ctx context.Context, now time.Time) ([]Effect, error)

	// Close ends the use of this Store. Methods return [ErrClosed] afterwards.
	// Effects that it has begun and not finished count as abandoned.
	Close() error
}
