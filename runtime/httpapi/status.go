package httpapi

import (
	"net/http"

	"github.com/mayfly-run/mayfly/governor"
	"github.com/mayfly-run/mayfly/runtime"
)

// StatusOf is the status code of a call's answer. Codes that clients and proxies
// repeat a request on by themselves, 502 to 504, are only for outcomes after which
// a second call does no harm.
func StatusOf(o runtime.Outcome) int {
	switch o {
	case runtime.OK, runtime.EffectConfirmed:
		return http.StatusOK
	case runtime.ApprovalRequired:
		return http.StatusAccepted
	case runtime.Denied, runtime.ApprovalRejected:
		return http.StatusForbidden
	case runtime.EffectAmbiguous:
		return http.StatusConflict
	case runtime.InvalidArguments, runtime.ToolError, runtime.Timeout, runtime.MemoryLimit, runtime.OutputLimit, runtime.FuelLimit:
		return http.StatusUnprocessableEntity
	case runtime.CredentialExpired:
		return http.StatusFailedDependency
	case runtime.RateLimited:
		return http.StatusTooManyRequests
	case runtime.Unavailable, runtime.Busy, runtime.Cancelled:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// statusOfAnswer is the status code of an answer to an approval.
func statusOfAnswer(a runtime.Answer) int {
	switch {
	case a.Accepted:
		return http.StatusOK
	case a.Code == governor.CodeApprovalUnknown:
		return http.StatusNotFound
	case a.Code == governor.CodeApprovalDecided, a.Code == governor.CodeApprovalExpired:
		return http.StatusConflict
	case a.Code == governor.CodeInternal:
		return http.StatusInternalServerError
	case a.Code == governor.CodeSchemaInvalid:
		return http.StatusUnprocessableEntity
	}
	return http.StatusForbidden
}
