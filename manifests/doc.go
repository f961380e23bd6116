// Package manifests reads the harnessweaver/v1 manifests: one for each tool,
// and one for the harness that holds them.
//
// A manifest is a contract between a tool's owner, the people who answer for
// security, and the governor: what a model is told the tool does, how it is
// reached, what it may touch, and when a person must approve a call. This
// package turns manifests into plain data, in full and strictly:
//
//   - Every value is checked where it stands. An unknown field, a key that
//     occurs twice, a value of the wrong type, an alias, a tag, or a plain YAML
//     value that readers disagree on (yes, 010, 1_000) is an [Error] with file,
//     line, column, JSON pointer and a stable [Code]. All errors of a load come
//     at once. Messages name fields and rules, never values.
//   - What is checked is what runs: the arguments of a call are checked against
//     the record that models are shown and that a digest pins.
//   - What an operator limits stays limited: a [Set] holds, for each tool, the
//     tighter of the manifest and the harness, and a [Warning] where the
//     manifest asked for more.
//
// It executes nothing, opens no file but those that [Load] is led to below the
// harness's directory, reads no environment variable and no secret, and leaves
// expressions uncompiled: those are the governor's.
//
//	set, err := manifests.Load("harness.yaml", nil)
//	if err != nil {
//		return err // every error, one per line
//	}
//	tool, ok := set.Tool("refund_payment")
package manifests
