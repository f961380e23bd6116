package manifests

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"
)

// Documents is what one file holds.
type Documents struct {
	Tools     []*Tool
	Harnesses []*Harness
	// Warnings are about the tools, each by itself.
	Warnings []Warning
}

// Parse reads a file's text. The name says what it is: YAML for .yaml and .yml,
// JSON for .json; it is opened by no one. A file holds any number of documents,
// in YAML set apart by ---, in JSON one after the other.
//
// A returned error is of type [Errors] and holds everything that is wrong.
func Parse(name string, text []byte) (Documents, error) {
	docs, errs := parse(name, text)
	if len(errs) > 0 {
		return Documents{}, errs
	}
	return docs, nil
}

// parse is Parse that gives what could be read beside the errors.
func parse(name string, text []byte) (Documents, Errors) {
	r := &reporter{file: name}
	var docs Documents
	sum := sha256.Sum256(text)
	for _, n := range readNodes(r, name, text) {
		origin := Origin{File: name, Line: n.line, SHA256: hex.EncodeToString(sum[:])}
		switch documentKind(r, n) {
		case KindTool:
			t := readTool(r, n)
			t.Origin, t.doc = origin, n
			docs.Tools = append(docs.Tools, t)
		case KindHarness:
			h := readHarness(r, n)
			h.Origin, h.doc = origin, n
			docs.Harnesses = append(docs.Harnesses, h)
		}
	}
	docs.Warnings = r.warnings
	return docs, r.all()
}

// readNodes gives a file's documents, and reports what is wrong with the text.
func readNodes(r *reporter, name string, text []byte) []*node {
	if len(text) > MaxFileBytes {
		r.add(0, 0, "", CodeTooLarge, "is larger than %d bytes", MaxFileBytes)
		return nil
	}
	s := newSource(bytes.TrimPrefix(text, byteOrderMark))
	if !s.checkText(r) {
		return nil
	}
	switch strings.ToLower(path.Ext(name)) {
	case ".yaml", ".yml":
		return s.readYAML(r)
	case ".json":
		return s.readJSON(r)
	}
	r.add(0, 0, "", CodeUnreadable, "is neither YAML (.yaml, .yml) nor JSON (.json), by its name")
	return nil
}

// documentKind says which table a document is to be read with, "" for none.
func documentKind(r *reporter, n *node) string {
	if !expect(r, n, objectNode) {
		return ""
	}
	known := true
	if version := n.get("apiVersion"); version != nil && expect(r, version, textNode) && version.text != APIVersion {
		r.at(version, CodeVersion, "must be %s", APIVersion)
		known = false
	}
	kind := n.get("kind")
	if kind == nil {
		r.below(n, "kind", CodeMissingField, "is required: %s or %s", KindTool, KindHarness)
		return ""
	}
	if !expect(r, kind, textNode) {
		return ""
	}
	if kind.text != KindTool && kind.text != KindHarness {
		r.at(kind, CodeKind, "must be %s or %s", KindTool, KindHarness)
		return ""
	}
	if !known {
		return ""
	}
	return kind.text
}
