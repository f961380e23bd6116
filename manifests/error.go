package manifests

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Code says which rule a manifest broke. Codes are stable: they are never
// renamed or given another meaning.
type Code string

// The codes of [Error].
const (
	// CodeUnreadable: a file could not be opened or read, is no regular file,
	// or its name does not say that it is YAML or JSON.
	CodeUnreadable Code = "unreadable"
	// CodeOutside: a path leads out of the harness's directory.
	CodeOutside Code = "outside"
	// CodeGlob: a pattern for files that is malformed.
	CodeGlob Code = "glob"
	// CodeTooLarge: more bytes, documents, files or schemas than allowed.
	CodeTooLarge Code = "too_large"
	// CodeTooDeep: nested deeper than allowed.
	CodeTooDeep Code = "too_deep"
	// CodeEncoding: not UTF-8, or a character that readers of YAML disagree on.
	CodeEncoding Code = "encoding"
	// CodeSyntax: not YAML, or not JSON.
	CodeSyntax Code = "syntax"
	// CodeDuplicateKey: an object has a key twice.
	CodeDuplicateKey Code = "duplicate_key"
	// CodeAlias: a YAML anchor, alias or merge key.
	CodeAlias Code = "alias"
	// CodeTag: an explicit YAML tag.
	CodeTag Code = "tag"
	// CodeAmbiguous: a plain YAML value that readers of YAML take for different
	// things, such as yes, 010, 1_000 or 2024-01-01.
	CodeAmbiguous Code = "ambiguous"
	// CodeNumber: a number that would not survive being read.
	CodeNumber Code = "number"

	// CodeVersion: an apiVersion other than [APIVersion].
	CodeVersion Code = "unknown_version"
	// CodeKind: a kind that is not known, or not wanted in this file.
	CodeKind Code = "unknown_kind"
	// CodeUnknownField: a field that the format does not have.
	CodeUnknownField Code = "unknown_field"
	// CodeMissingField: a required field that is not there.
	CodeMissingField Code = "missing_field"
	// CodeType: a value of the wrong type.
	CodeType Code = "wrong_type"
	// CodeValue: a value of the right type that breaks the field's rule.
	CodeValue Code = "invalid_value"
	// CodeMisplaced: a field that the tool's transport does not use, or two
	// fields of which only one may be there.
	CodeMisplaced Code = "misplaced_field"
	// CodeDuplicate: a name or id that is taken.
	CodeDuplicate Code = "duplicate"
	// CodeUnknownTool: a name that no tool has.
	CodeUnknownTool Code = "unknown_tool"
	// CodeEgress: a URL that the tool's own egress does not let it reach.
	CodeEgress Code = "egress"
	// CodeUnknownTask: a name that no task has.
	CodeUnknownTask Code = "unknown_task"
	// CodeUnknownSecret: a tool is granted a secret that the harness does not have.
	CodeUnknownSecret Code = "unknown_secret"
	// CodeSecretScope: a tool is granted a secret that the harness does not give it.
	CodeSecretScope Code = "secret_scope"
	// CodeDigest: a definition_digest that is none.
	CodeDigest Code = "digest_malformed"

	// CodeSchemaKeyword: a keyword of JSON Schema outside the subset.
	CodeSchemaKeyword Code = "schema_keyword"
	// CodeSchemaValue: a keyword with a value that it cannot have.
	CodeSchemaValue Code = "schema_value"
	// CodeSchemaRef: a reference to elsewhere, to nothing, or in a circle.
	CodeSchemaRef Code = "schema_ref"
	// CodeSchemaPattern: a regular expression that RE2 cannot take.
	CodeSchemaPattern Code = "schema_pattern"

	// CodePin: the file is laid out so that the pin cannot be written in place.
	CodePin Code = "pin"
)

// Error is one thing that is wrong with a manifest. Its text names fields and
// rules, never a value.
type Error struct {
	// File is the file's name, as it was given or found.
	File string
	// Line and Column count from 1, Column in characters; both are 0 when the
	// problem is about the file as a whole.
	Line, Column int
	// Pointer is the JSON pointer of the value in its document, "" for the
	// document.
	Pointer string
	// Code is the rule, for programs.
	Code Code
	// Reason is the rule in words: what is wrong and what would be right.
	Reason string
}

// Error gives file:line:column, pointer, reason and code.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(visible(e.File))
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", e.Line, e.Column)
	}
	b.WriteString(": ")
	if e.Pointer != "" {
		b.WriteString(visible(e.Pointer))
		b.WriteString(": ")
	}
	fmt.Fprintf(&b, "%s (%s)", e.Reason, e.Code)
	return b.String()
}

// visible escapes what a terminal would act on or not show. Names of fields and
// files are not ours.
func visible(s string) string {
	if !strings.ContainsFunc(s, func(c rune) bool { return !unicode.IsPrint(c) }) {
		return s
	}
	quoted := strconv.Quote(s)
	return quoted[1 : len(quoted)-1]
}

// Errors is everything that is wrong with what was loaded, by file and place.
type Errors []*Error

// Error gives one line for each error.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, one := range e {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// sort puts the errors of several files into order.
func (e Errors) sort() {
	slices.SortStableFunc(e, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// Unwrap makes errors.As and errors.AsType find the single errors.
func (e Errors) Unwrap() []error {
	list := make([]error, len(e))
	for i, one := range e {
		list[i] = one
	}
	return list
}

// How many errors and warnings of one file are told apart.
const (
	maxErrors   = 100
	maxWarnings = 1000
)

// reporter collects the errors and warnings of one file.
type reporter struct {
	file     string
	errs     Errors
	dropped  int
	warnings []Warning
}

// add adds an error at a place.
func (r *reporter) add(line, column int, pointer string, code Code, format string, args ...any) {
	if len(r.errs) == maxErrors {
		r.dropped++
		return
	}
	r.errs = append(r.errs, &Error{File: r.file, Line: line, Column: column, Pointer: pointer, Code: code, Reason: fmt.Sprintf(format, args...)})
}

// at adds an error about a value.
func (r *reporter) at(n *node, code Code, format string, args ...any) {
	r.add(n.line, n.column, n.pointer(), code, format, args...)
}

// below adds an error about a member that an object does not have.
func (r *reporter) below(n *node, name string, code Code, format string, args ...any) {
	r.add(n.line, n.column, n.pointer()+"/"+escapePointer(name), code, format, args...)
}

// warn adds a warning about a value of a tool.
func (r *reporter) warn(n *node, tool string, code WarningCode, format string, args ...any) {
	if len(r.warnings) == maxWarnings {
		return
	}
	r.warnings = append(r.warnings, Warning{
		File: r.file, Line: n.line, Column: n.column, Pointer: n.pointer(), Tool: tool, Code: code, Message: fmt.Sprintf(format, args...),
	})
}

// all returns the errors in order of their places.
func (r *reporter) all() Errors {
	r.errs.sort()
	if r.dropped > 0 {
		return append(r.errs, &Error{File: r.file, Code: CodeTooLarge, Reason: fmt.Sprintf("%d more errors", r.dropped)})
	}
	return r.errs
}
