package governor

// Code says, for programs, why a decision is what it is. Codes are stable: they
// are never renamed or given another meaning.
type Code string

// The codes, by the step that gives them.
const (
	// CodeAllowed: every step let the call pass.
	CodeAllowed Code = "allowed"
	// CodeInternal: something broke, so nothing can be said about the call. Any
	// step can give it, and it always blocks.
	CodeInternal Code = "internal"

	// CodeRunUnknown: the call names a run that does not exist, or none.
	CodeRunUnknown Code = "run_unknown"
	// CodeRunExpired: the run has come to its end.
	CodeRunExpired Code = "run_expired"
	// CodeTaskUnknown: the run is for a task that the harness does not have.
	CodeTaskUnknown Code = "task_unknown"
	// CodeBudgetExceeded: the run has made as many calls as it may.
	CodeBudgetExceeded Code = "budget_exceeded"

	// CodeToolUnknown: there is no tool of that name.
	CodeToolUnknown Code = "tool_unknown"
	// CodeManifestRequired: there is a tool of that name, but without a manifest.
	CodeManifestRequired Code = "manifest_required"
	// CodeToolDisabled: the manifest has enabled: false.
	CodeToolDisabled Code = "tool_disabled"
	// CodeToolNotEnabled: the tool is not enabled for the run's tenant.
	CodeToolNotEnabled Code = "tool_not_enabled"
	// CodeDigestMismatch: the definition is not the pinned one, or what was loaded
	// has changed since.
	CodeDigestMismatch Code = "digest_mismatch"
	// CodeToolNotGranted: the tool is known, but was not granted to this run.
	CodeToolNotGranted Code = "tool_not_granted"
	// CodeGrantExpired: the tool was granted to the run for a time that is over.
	CodeGrantExpired Code = "grant_expired"
	// CodeGrantRevoked: the tool was granted to the run, and taken away.
	CodeGrantRevoked Code = "grant_revoked"
	// CodeSecretNotGranted: the tool is handed a secret that the harness does not
	// give to runs of this task, or to this principal.
	CodeSecretNotGranted Code = "secret_not_granted"

	// CodeSchemaInvalid: the arguments are no strict JSON, or break the manifest's
	// input_schema.
	CodeSchemaInvalid Code = "schema_invalid"

	// CodePolicyDenied: a rule denies the call, or none matches and the default
	// denies.
	CodePolicyDenied Code = "policy_denied"
	// CodePolicyApproval: a rule asks for approval, or none matches and the
	// default asks.
	CodePolicyApproval Code = "policy_approval"
	// CodeManifestApproval: the manifest's approval.when is true, or cannot be
	// evaluated.
	CodeManifestApproval Code = "manifest_approval"
	// CodeRiskApproval: tools.approval_by_risk asks for tools of this risk.
	CodeRiskApproval Code = "risk_approval"
	// CodeTaskApproval: the task's approvals.tools has the tool.
	CodeTaskApproval Code = "task_approval"

	// CodeTrifecta: the tool can send data out, after the run has seen both
	// private data and untrusted content. It blocks or asks, as the harness says.
	CodeTrifecta Code = "trifecta"

	// CodeRateLimited: no place is left in a rate limit; Decision.RetryAt says
	// when there will be one.
	CodeRateLimited Code = "rate_limited"

	// CodeJudgeBlocked: the judge says no.
	CodeJudgeBlocked Code = "judge_blocked"
	// CodeJudgeApproval: the judge wants a person to look at it.
	CodeJudgeApproval Code = "judge_approval"
	// CodeJudgeFailed: the judge failed, took too long, or gave no verdict that
	// exists, so that a person has to look at it.
	CodeJudgeFailed Code = "judge_failed"

	// CodeApprovalRejected: a person said no, or nobody answered in time.
	CodeApprovalRejected Code = "approval_rejected"
	// CodeApprovalExpired: a person said yes, but the call came too late.
	CodeApprovalExpired Code = "approval_expired"
	// CodeApprovalUsed: the approval was for one call, which has been made.
	CodeApprovalUsed Code = "approval_used"
	// CodeApprovalMismatch: the approval that the call names is for another call:
	// another tool, version, definition, principal, tenant or task, or arguments
	// that are not exactly the same.
	CodeApprovalMismatch Code = "approval_mismatch"
	// CodeApprovalUnknown: there is no approval of that ID in this run.
	CodeApprovalUnknown Code = "approval_unknown"

	// CodeApprovalDecided: the approval has been answered before. An answer's
	// code, like the next two.
	CodeApprovalDecided Code = "approval_decided"
	// CodeApproverIsRequester: nobody approves their own call.
	CodeApproverIsRequester Code = "approver_is_requester"
	// CodeApproverRole: the approver does not hold the role that is asked for.
	CodeApproverRole Code = "approver_role"
)
