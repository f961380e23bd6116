package manifests

// readHarness reads a document of kind Harness.
func readHarness(r *reporter, doc *node) *Harness {
	h := NewHarness()
	h.fields().read(r, doc)
	h.checkJudge(r, doc.get("spec", "tools", "judge"))
	h.checkRules(r, doc.get("spec", "policy", "rules"))
	h.checkSecrets(r, doc.get("spec", "secrets"))
	h.checkServers(r, doc.get("spec", "mcp_servers"))
	return h
}

// checkJudge sees to it that there is one way to ask the judge.
func (h *Harness) checkJudge(r *reporter, n *node) {
	if n == nil || n.kind != objectNode {
		return
	}
	ways := 0
	for _, way := range []string{"url", "command", "tool"} {
		if given := n.get(way); given != nil {
			if ways++; ways > 1 {
				r.at(given, CodeMisplaced, "a judge has exactly one of url, command and tool")
			}
		}
	}
	if ways == 0 {
		r.at(n, CodeMissingField, "a judge has exactly one of url, command and tool")
	}
	if given := n.get("headers_env"); given != nil && n.get("url") == nil {
		r.at(given, CodeMisplaced, "headers are for a judge with a url")
	}
}

// checkRules sees to it that a decision's rule can be told.
func (h *Harness) checkRules(r *reporter, n *node) {
	if n == nil || n.kind != listNode {
		return
	}
	seen := map[string]bool{}
	for _, item := range n.items {
		id := item.get("id")
		if id == nil || id.kind != textNode {
			continue
		}
		if seen[id.text] {
			r.at(id, CodeDuplicate, "another rule has this id")
		}
		seen[id.text] = true
	}
}
