package manifests

import (
	"encoding/json"
	"os"
	"testing"
)

// TestDigestVectors makes tools of the definitions in the vectors, which are
// Python's, and compares their digests.
func TestDigestVectors(t *testing.T) {
	text, err := os.ReadFile("../internal/canonjson/testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors struct {
		Definitions []struct{ Name, Definition, Digest string }
	}
	if err := json.Unmarshal(text, &vectors); err != nil || len(vectors.Definitions) < 5 {
		t.Fatalf("%d definitions (%v)", len(vectors.Definitions), err)
	}
	for _, v := range vectors.Definitions {
		t.Run(v.Name, func(t *testing.T) {
			var d struct {
				Name        json.RawMessage `json:"name"`
				Description json.RawMessage `json:"description"`
				Schema      json.RawMessage `json:"input_schema"`
			}
			if err := json.Unmarshal([]byte(v.Definition), &d); err != nil {
				t.Fatal(err)
			}
			manifest := `{"apiVersion": "harnessweaver/v1", "kind": "Tool", "metadata": {"name": ` + string(d.Name) + `}, "spec": {"handler": "m:f", ` +
				`"description": ` + string(d.Description) + `, "input_schema": ` + string(d.Schema) + `, "definition_digest": "` + v.Digest + `"}}`
			docs, err := Parse("t.json", []byte(manifest))
			if err != nil {
				t.Fatal(err)
			}
			tool := docs.Tools[0]
			if tool.Digest() != v.Digest || !tool.PinMatches() {
				t.Errorf("digest %s, want %s", tool.Digest(), v.Digest)
			}
			// The digest covers the text that a model is shown, and nothing else.
			renamed := tool.Definition()
			renamed.Name += "_"
			if other, err := renamed.Digest(); err != nil || other == v.Digest {
				t.Errorf("another name has the digest %s (%v)", other, err)
			}
		})
	}
}
