package sandbox

// Status says how a call ended. The zero value is not a status: a back end
// that forgets to set it is broken.
type Status string

// The ways a call can end. Their spelling is part of the public interface and
// never changes.
const (
	// StatusOK: the code ran to its end. Result.Value holds its value.
	StatusOK Status = "ok"
	// StatusError: the code raised, could not be compiled, or produced a value
	// that has no JSON form. Result.Error says which.
	StatusError Status = "error"
	// StatusTimeout: Limits.Timeout passed, queueing included.
	StatusTimeout Status = "timeout"
	// StatusMemoryLimit: Limits.MaxMemory was reached and the code did not
	// recover from the failed allocation.
	StatusMemoryLimit Status = "memory_limit"
	// StatusOutputLimit: the code flooded its output, or its value is larger
	// than Limits.MaxValue.
	StatusOutputLimit Status = "output_limit"
	// StatusFuelLimit: Limits.MaxFuel was used up.
	StatusFuelLimit Status = "fuel_limit"
	// StatusStackLimit: the code overflowed a stack in a way that its language
	// does not report as an exception of its own.
	StatusStackLimit Status = "stack_limit"
	// StatusCallLimit: the code called host tools more often than
	// Limits.MaxHostCalls allows.
	StatusCallLimit Status = "call_limit"
	// StatusCancelled: the caller's context was cancelled.
	StatusCancelled Status = "cancelled"
	// StatusInvalid: the Spec cannot be run as it is (source too large, a name
	// that is not an identifier, a limit below the guest's minimum). No guest
	// was started.
	StatusInvalid Status = "invalid_arguments"
	// StatusBusy: the queue is full. No guest was started; try again later.
	StatusBusy Status = "busy"
	// StatusCrashed: the interpreter itself trapped (a bug in it, provoked or
	// not). Contained, but worth a report.
	StatusCrashed Status = "crashed"
)

// Limit reports whether the call ended at a limit of its own.
func (s Status) Limit() bool {
	switch s {
	case StatusTimeout, StatusMemoryLimit, StatusOutputLimit, StatusFuelLimit, StatusStackLimit, StatusCallLimit:
		return true
	}
	return false
}
