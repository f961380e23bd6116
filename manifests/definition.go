package manifests

import "github.com/mayfly-run/mayfly/internal/canonjson"

// Definition is what a model is told of a tool, and what a pin covers. It comes
// from the record that calls are checked against, so that the two cannot
// differ.
type Definition struct {
	// Name is what the model calls.
	Name string
	// Description says what the tool does.
	Description string
	// InputSchema is the JSON Schema of the arguments. It is shared and must not
	// be changed.
	InputSchema map[string]any
}

// Definition gives the tool's.
func (t *Tool) Definition() Definition {
	return Definition{Name: t.Metadata.Name, Description: t.Spec.Description, InputSchema: t.Spec.InputSchema}
}

// tree is the object that the digest covers.
func (d Definition) tree() map[string]any {
	return map[string]any{"name": d.Name, "description": d.Description, "input_schema": d.InputSchema}
}

// Digest is the definition_digest: sha256: and the SHA-256, in hex, of the
// canonical JSON of {name, description, input_schema}. It fails for text that
// is not UTF-8 and for a schema that is not a JSON tree.
func (d Definition) Digest() (string, error) { return canonjson.Digest(d.tree()) }

// AppendJSON appends the definition as canonical JSON, the text that the digest
// covers.
func (d Definition) AppendJSON(dst []byte) ([]byte, error) { return canonjson.Append(dst, d.tree()) }

// Digest is the digest of the tool's definition, taken when it was loaded.
func (t *Tool) Digest() string { return t.digest }

// Pinned reports whether the manifest has a definition_digest.
func (t *Tool) Pinned() bool { return t.Spec.DefinitionDigest != "" }

// PinMatches reports whether the definition is the pinned one. It is true for a
// tool without a pin.
func (t *Tool) PinMatches() bool { return !t.Pinned() || t.Spec.DefinitionDigest == t.digest }
