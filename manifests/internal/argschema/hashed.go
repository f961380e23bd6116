package argschema

import "github.com/santhosh-tekuri/jsonschema/v5"

// hashed compiles the keywords that stand in for the library's.
type hashed struct{}

// Compile implements jsonschema.ExtCompiler.
func (hashed) Compile(_ jsonschema.CompilerContext, m map[string]any) (jsonschema.ExtSchema, error) {
	h := hashedSchema{unique: m[uniqueKey] == true}
	h.constant, _ = m[constKey].(string)
	if texts, ok := m[enumKey].([]any); ok {
		h.allowed = make(map[string]struct{}, len(texts))
		for _, t := range texts {
			h.allowed[t.(string)] = struct{}{}
		}
	}
	if h.allowed == nil && h.constant == "" && !h.unique {
		return nil, nil
	}
	return h, nil
}

type hashedSchema struct {
	allowed  map[string]struct{} // nil: any value
	constant string              // "": any value; no value has an empty text
	unique   bool
}

var _ jsonschema.ExtSchema = hashedSchema{}

// Validate implements jsonschema.ExtSchema.
func (h hashedSchema) Validate(ctx jsonschema.ValidationContext, v any) error {
	if h.allowed != nil {
		if _, ok := h.allowed[canonicalText(v)]; !ok {
			return ctx.Error("enum", "not one of the listed values")
		}
	}
	if h.constant != "" && canonicalText(v) != h.constant {
		return ctx.Error("const", "not the value")
	}
	if list, ok := v.([]any); ok && h.unique {
		seen := make(map[string]struct{}, len(list))
		for _, v := range list {
			text := canonicalText(v)
			if _, twice := seen[text]; twice {
				return ctx.Error("uniqueItems", "a value occurs twice")
			}
			seen[text] = struct{}{}
		}
	}
	return nil
}
