package governor

import (
	"errors"
	"maps"
	"slices"

	"github.com/mayfly-run/mayfly/internal/store"
)

// checkRegistry is step 1: is there such a tool, is it what it says it is, and
// may this run call it?
func (e *evaluation) checkRegistry() verdict {
	tool, ok := e.g.tools[e.call.Tool]
	if !ok {
		if e.g.unmanifested[e.call.Tool] {
			return block(CodeManifestRequired, "the tool has no manifest, and tools need one here")
		}
		reason := "there is no tool of this name"
		if name := near(e.call.Tool, slices.Collect(maps.Keys(e.g.tools)), e.mayCall); name != "" {
			reason += "; there is " + name
		}
		return block(CodeToolUnknown, reason)
	}
	e.tool = tool
	e.d.Version, e.d.Digest = tool.manifest.Metadata.Version, tool.manifest.Digest()
	switch {
	case !tool.manifest.Spec.Enabled:
		return block(CodeToolDisabled, "the tool is disabled")
	case !tool.manifest.EnabledFor(e.subject.Tenant):
		return block(CodeToolNotEnabled, "the tool is not enabled for this tenant")
	case !tool.manifest.PinMatches():
		return block(CodeDigestMismatch, "the tool's definition is not the one that was reviewed; it must be pinned anew")
	}
	if e.g.verify != nil {
		if err := e.g.verify(e.ctx, tool.manifest); err != nil {
			return block(CodeDigestMismatch, "the tool has changed since it was loaded")
		}
	}
	if v := e.checkGrant(); v.outcome == Block {
		return v
	}
	return e.checkSecrets()
}

// mayCall reports whether the run may call a tool: nobody is told of others.
func (e *evaluation) mayCall(name string) bool {
	if m := e.g.tools[name].manifest; !m.Spec.Enabled || !m.EnabledFor(e.subject.Tenant) {
		return false
	}
	if e.call.Run == "" {
		return e.task.tools == nil || e.task.tools[name]
	}
	grant, err := e.g.store.GrantOf(e.ctx, e.call.Run, name)
	return err == nil && grant.Active(e.now)
}

// checkSecrets blocks tools that would be handed what is not for this run.
func (e *evaluation) checkSecrets() verdict {
	for _, name := range e.g.set.Harness.SecretsOf(e.tool.manifest) {
		secret, ok := e.g.set.Harness.Secrets[name]
		if !ok {
			return broken("a secret of the tool is not the harness's")
		}
		if !secret.For(e.subject.Task, e.subject.Principal) {
			return block(CodeSecretNotGranted, "the tool needs a secret that is not for this task or principal")
		}
	}
	return pass
}

// checkGrant blocks tools that are known but not bound to the run.
func (e *evaluation) checkGrant() verdict {
	const reason = "the tool exists, but this run may not call it; ask for another tool, or for a grant"
	if e.call.Run == "" {
		if e.task.tools != nil && !e.task.tools[e.call.Tool] {
			return block(CodeToolNotGranted, "the tool exists, but runs of this task may not call it")
		}
		return pass
	}
	grant, err := e.g.store.GrantOf(e.ctx, e.call.Run, e.call.Tool)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return block(CodeToolNotGranted, reason)
	case err != nil:
		return broken("the run's grants cannot be looked up")
	case !grant.Revoked.IsZero():
		return block(CodeGrantRevoked, "this run could call the tool, until that was revoked")
	case !grant.Active(e.now):
		return block(CodeGrantExpired, "this run could call the tool for a time that is over")
	}
	return pass
}
