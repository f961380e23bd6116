package canonjson

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite testdata/vectors.json with the oracle's answers")

const vectorsFile = "testdata/vectors.json"

// vectors is the file that other implementations can be held against.
type vectors struct {
	Comment []string `json:"comment"`
	// Canonical: texts and their canonical form.
	Canonical []struct {
		Name      string `json:"name"`
		JSON      string `json:"json"`
		Canonical string `json:"canonical"`
		SHA256    string `json:"sha256"`
	} `json:"canonical"`
	// Refused: texts that have no canonical form, and why.
	Refused []struct {
		Name string `json:"name"`
		// One of the two; Bytes is base64, for what is not UTF-8.
		JSON  string `json:"json,omitempty"`
		Bytes []byte `json:"bytes,omitempty"`
		Code  Code   `json:"code"`
	} `json:"refused"`
	// Definitions: what a tool's definition_digest is taken over. The digest
	// covers an object of the three.
	Definitions []struct {
		Name       string `json:"name"`
		Definition string `json:"definition"`
		Digest     string `json:"digest"`
	} `json:"definitions"`
}

func readVectors(t *testing.T) vectors {
	t.Helper()
	text, err := os.ReadFile(vectorsFile)
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Canonical) == 0 || len(v.Refused) == 0 || len(v.Definitions) == 0 {
		t.Fatalf("%s is incomplete", vectorsFile)
	}
	return v
}

func TestVectors(t *testing.T) {
	v := readVectors(t)
	for _, c := range v.Canonical {
		t.Run(c.Name, func(t *testing.T) {
			tree, err := Parse([]byte(c.JSON), Limits{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := Append(nil, tree)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.Canonical, string(got)); diff != "" {
				t.Errorf("canonical form (-want +got):\n%s", diff)
			}
			digest, err := Digest(tree)
			if want := DigestPrefix + c.SHA256; err != nil || digest != want {
				t.Errorf("digest %s (%v), want %s", digest, err, want)
			}
		})
	}
	for _, c := range v.Refused {
		t.Run(c.Name, func(t *testing.T) {
			text := append([]byte(c.JSON), c.Bytes...)
			got, err := Parse(text, Limits{})
			e, ok := errors.AsType[*Error](err)
			if !ok {
				t.Fatalf("accepted as %v, want %s", got, c.Code)
			}
			if e.Code != c.Code {
				t.Errorf("refused with %s (%v), want %s", e.Code, e, c.Code)
			}
		})
	}
	for _, c := range v.Definitions {
		t.Run(c.Name, func(t *testing.T) {
			tree, err := Parse([]byte(c.Definition), Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if got, err := Digest(tree); err != nil || got != c.Digest {
				t.Errorf("digest %s (%v), want %s", got, err, c.Digest)
			}
		})
	}
}

// TestVectorsAgainstPython shows that the file says what Python says. With
// -update it writes Python's answers into the file.
func TestVectorsAgainstPython(t *testing.T) {
	o := startOracle(t)
	v := readVectors(t)
	hexSum := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return hex.EncodeToString(sum[:])
	}
	want := readVectors(t)
	for i, c := range want.Canonical {
		canonical, refused := o.canonical(t, []byte(c.JSON))
		if refused != "" {
			t.Errorf("%s: the oracle refuses with %s", c.Name, refused)
		}
		want.Canonical[i].Canonical, want.Canonical[i].SHA256 = canonical, hexSum(canonical)
	}
	for i, c := range want.Refused {
		_, code := o.canonical(t, append([]byte(c.JSON), c.Bytes...))
		want.Refused[i].Code = code
	}
	for i, c := range want.Definitions {
		canonical, refused := o.canonical(t, []byte(c.Definition))
		if refused != "" {
			t.Errorf("%s: the oracle refuses with %s", c.Name, refused)
		}
		want.Definitions[i].Digest = DigestPrefix + hexSum(canonical)
	}
	if *update {
		var text bytes.Buffer
		enc := json.NewEncoder(&text)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(want); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(vectorsFile, text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, v); diff != "" {
		t.Errorf("%s (-Python +file):\n%s", vectorsFile, diff)
	}
}
