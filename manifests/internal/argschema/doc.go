// Package argschema checks a tool's arguments against the part of JSON Schema
// 2020-12 that manifests may use.
//
// The part: type, enum, const; allOf, anyOf, oneOf, not; the keywords for
// objects (properties, required, additionalProperties, patternProperties,
// propertyNames, minProperties, maxProperties, dependentRequired), arrays
// (items, prefixItems, contains, minContains, maxContains, minItems, maxItems,
// uniqueItems), strings (minLength, maxLength, pattern) and numbers (minimum,
// maximum, exclusiveMinimum, exclusiveMaximum, multipleOf); $defs at the root
// and $ref to one of them. Annotations (title, description, default, examples,
// deprecated, readOnly, writeOnly, $comment) are allowed and check nothing.
// Any other keyword is a [Problem], and so is a keyword that would be without
// effect by the standard's own rules, so that a schema never checks less than
// it says. format is one of those others: 2020-12 makes it an annotation.
//
// pattern and patternProperties are RE2 and match anywhere in the text unless
// anchored.
//
// What [Compile] accepts can be checked in time linear in the size of the
// arguments: patterns are RE2 of bounded size, enum and uniqueItems compare
// hashes, and [Schema.Validate] refuses arguments that would need more than
// [MaxEvaluations] steps, which takes a schema whose references multiply.
//
// Nothing is ever loaded from outside the schema. A [Violation] says where and
// which rule, never a value of the arguments.
package argschema
