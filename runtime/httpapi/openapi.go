package httpapi

import (
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mayfly-run/mayfly/governor"
	"github.com/mayfly-run/mayfly/runtime"
)

// openAPI sends a description of all there is. It is made of the routes and of
// the types that they read and write, so that it cannot say anything else.
func (q *request) openAPI() answer { return ok(q.s.description) }

type node = map[string]any

// describe makes the document.
func describe(version string) node {
	d := describer{schemas: node{}, types: make(map[string]reflect.Type)}
	paths := node{}
	for _, rt := range routes {
		item, _ := paths[rt.pattern].(node)
		if item == nil {
			item = node{}
			paths[rt.pattern] = item
		}
		item[strings.ToLower(rt.method)] = d.operation(rt)
	}
	return node{
		"openapi": "3.1.0",
		"info": node{
			"title": "Mayfly", "version": version, "license": node{"name": "Apache-2.0", "identifier": "Apache-2.0"},
			"description": "Tools under a governor. Whatever is no outcome of a call is a problem (RFC 9457).",
		},
		"security":   []any{node{"token": []any{}}},
		"paths":      paths,
		"components": node{"schemas": d.schemas, "securitySchemes": node{"token": node{"type": "http", "scheme": "bearer"}}},
	}
}

type describer struct {
	schemas node
	types   map[string]reflect.Type // of the schemas
}

func (d *describer) operation(rt route) node {
	op := node{"summary": rt.summary}
	if rt.public {
		op["security"] = []any{}
	}
	params := []any{}
	for part := range strings.SplitSeq(rt.pattern, "/") {
		if name, is := strings.CutPrefix(part, "{"); is {
			params = append(params, node{"name": strings.TrimSuffix(name, "}"), "in": "path", "required": true, "schema": node{"type": "string"}})
		}
	}
	for _, name := range rt.query {
		params = append(params, node{"name": name, "in": "query", "schema": node{"type": "string"}})
	}
	if len(params) > 0 {
		op["parameters"] = params
	}
	if rt.in != nil {
		op["requestBody"] = node{"required": true, "content": node{"application/json": node{"schema": d.schema(reflect.TypeOf(rt.in))}}}
	}
	responses := node{"default": node{
		"description": "A problem", "content": node{"application/problem+json": node{"schema": d.schema(reflect.TypeFor[problem]())}},
	}}
	content := node{}
	switch {
	case rt.out != nil:
		content["application/json"] = node{"schema": d.schema(reflect.TypeOf(rt.out))}
	case rt.media != "":
		content[rt.media] = node{}
	}
	codes := rt.codes
	if codes == nil {
		codes = []int{http.StatusOK}
	}
	for _, code := range codes {
		responses[strconv.Itoa(code)] = node{"description": http.StatusText(code), "content": content}
	}
	op["responses"] = responses
	return op
}

// schema is the JSON Schema of a type, structs by reference.
func (d *describer) schema(t reflect.Type) node {
	switch t {
	case reflect.TypeFor[jsontext.Value]():
		return node{}
	case reflect.TypeFor[[]byte]():
		return node{"type": "string", "contentEncoding": "base64"}
	case reflect.TypeFor[time.Time]():
		return node{"type": "string", "format": "date-time"}
	case reflect.TypeFor[runtime.Outcome]():
		return node{"type": "string", "description": "How the call ended."}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return d.schema(t.Elem())
	case reflect.String:
		return node{"type": "string"}
	case reflect.Bool:
		return node{"type": "boolean"}
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return node{"type": "integer"}
	case reflect.Float64:
		return node{"type": "number"}
	case reflect.Slice:
		return node{"type": "array", "items": d.schema(t.Elem())}
	case reflect.Map:
		return node{"type": "object", "additionalProperties": d.schema(t.Elem())}
	case reflect.Struct:
		name := strings.ToUpper(t.Name()[:1]) + t.Name()[1:]
		if other, done := d.types[name]; done && other != t {
			panic("BUG(mayfly): two types are called " + name)
		}
		if _, done := d.schemas[name]; !done {
			d.types[name] = t
			d.schemas[name] = node{} // for types that hold themselves
			d.schemas[name] = d.object(t)
		}
		return node{"$ref": "#/components/schemas/" + name}
	}
	panic("BUG(mayfly): no schema for " + t.String())
}

func (d *describer) object(t reflect.Type) node {
	properties, required := node{}, []any{}
	d.members(t, properties, &required)
	o := node{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 && !strings.HasSuffix(t.Name(), "Request") && t != reflect.TypeFor[tableText]() && t != reflect.TypeFor[execLimits]() {
		o["required"] = required // what is read may leave anything out
	}
	return o
}

func (d *describer) members(t reflect.Type, properties node, required *[]any) {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous {
			d.members(f.Type, properties, required)
			continue
		}
		properties[name] = d.schema(f.Type)
		if !strings.Contains(options, "omitzero") {
			*required = append(*required, name)
		}
	}
}

// callCodes are the status codes of a call's answer.
func callCodes() []int {
	return []int{200, 202, 403, 409, 422, 424, 429, 500, 503}
}

// answerCodes are those of an answer to an approval.
func answerCodes() []int {
	codes := []int{200}
	for _, code := range []governor.Code{governor.CodeApproverRole, governor.CodeApprovalUnknown, governor.CodeApprovalDecided, governor.CodeSchemaInvalid, governor.CodeInternal} {
		codes = append(codes, statusOfAnswer(runtime.Answer{Code: code}))
	}
	return codes
}

// descriptionText checks that the document can be written.
func descriptionText(version string) (jsontext.Value, error) {
	text, err := json.Marshal(describe(version), json.Deterministic(true))
	return jsontext.Value(text), err
}
