package governor

import "github.com/mayfly-run/mayfly/manifests"

// checkTrifecta is step 4: a tool that can send data out does not run unattended
// in a run that has seen both private data and somebody else's words, which may
// be instructions to send it.
func (e *evaluation) checkTrifecta() verdict {
	if len(e.tool.manifest.Spec.Egress) == 0 || !e.labels.UntrustedSeen || !e.labels.PrivateSeen {
		return pass
	}
	const reason = "the tool can send data out, and the run has seen private data and untrusted content"
	if e.g.trifecta == manifests.TrifectaApproval {
		return ask(CodeTrifecta, reason)
	}
	return block(CodeTrifecta, reason)
}
