package httpapi

import (
	"context"
	"slices"

	"github.com/mayfly-run/mayfly/runtime"
)

// Roles that mean something to this package. All others are names that manifests
// and harnesses ask approvers for.
const (
	// RoleOperator sees everything of its tenant, and grants and revokes tools.
	RoleOperator = "operator"
	// RoleApprover answers approvals that ask for no role of their own.
	RoleApprover = "approver"
	// RoleMetrics reads /metrics, which are about every tenant.
	RoleMetrics = "metrics"
)

// AllTenants is the tenant of a token that sees every tenant, and calls nothing.
const AllTenants = "*"

// Caller is who a request is from.
type Caller struct {
	// Principal is on whose behalf calls are made, and who answers approvals.
	Principal string
	// Tenant is for whom; empty: for none; [AllTenants]: see there.
	Tenant string
	// Roles are what the caller may do beside calling tools.
	Roles []string
	// Approver is the person at the caller's MCP client, who answers what that asks
	// them with ApproverRoles: never the principal. Empty: nobody is asked there. It
	// gives the token no other right.
	Approver      string
	ApproverRoles []string
}

func (c Caller) has(role string) bool { return slices.Contains(c.Roles, role) }

// watches reports whether the caller sees all there is of a tenant.
func (c Caller) watches(tenant string) bool {
	return c.has(RoleOperator) && c.in(tenant)
}

// in reports whether a tenant is the caller's.
func (c Caller) in(tenant string) bool { return c.Tenant == tenant || c.Tenant == AllTenants }

// owns reports whether a run is on the caller's behalf.
func (c Caller) owns(r runtime.Run) bool { return c.is(r.Principal, r.Tenant) }

func (c Caller) is(principal, tenant string) bool {
	return c.Principal == principal && c.Tenant == tenant
}

// sees reports whether the caller may know of a run.
func (c Caller) sees(r runtime.Run) bool { return c.owns(r) || c.watches(r.Tenant) }

// answers reports whether the caller holds the role for an approval. Whether it is
// the requester's own, the governor looks at.
func (c Caller) answers(a runtime.Approval) bool {
	if !c.in(a.Tenant) {
		return false
	}
	if a.Role != "" {
		return c.has(a.Role)
	}
	return c.has(RoleApprover) || c.has(RoleOperator)
}

func (c Caller) seesApproval(a runtime.Approval) bool {
	return c.is(a.Principal, a.Tenant) || c.watches(a.Tenant) || c.answers(a)
}

// callerKey is where the context of a request has it.
type callerKey struct{}

// CallerOf says who a request that was let in is from.
func CallerOf(ctx context.Context) (Caller, bool) {
	q, ok := ctx.Value(callerKey{}).(*request)
	if !ok {
		return Caller{}, false
	}
	return q.caller, true
}
