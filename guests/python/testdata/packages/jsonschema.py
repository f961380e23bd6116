import jsonschema
from jsonschema import Draft7Validator, Draft202012Validator, ValidationError

schema = {
    "$defs": {"price": {"type": "number", "exclusiveMinimum": 0}},
    "type": "object",
    "required": ["name", "price"],
    "properties": {
        "name": {"type": "string", "pattern": "^[a-z]+$"}, "price": {"$ref": "#/$defs/price"},
        "tags": {"type": "array", "items": {"enum": ["new", "old"]}, "uniqueItems": True},
    },
    "unevaluatedProperties": False,
}
jsonschema.validate({"name": "pear", "price": 1.5, "tags": ["new"]}, schema)
wrong = {"name": "Pear", "price": 0, "tags": ["new", "new", "odd"], "more": 1}
try:
    jsonschema.validate({"price": 1}, schema)
    first = "no error"
except ValidationError as e:
    first = e.message
{
    "errors": sorted([list(map(str, e.absolute_path)), e.validator, e.message] for e in Draft202012Validator(schema).iter_errors(wrong)),
    "first": first,
    "the schema itself": [Draft7Validator.check_schema({"type": "string"}), list(Draft7Validator({"type": "strin"}).META_SCHEMA)[:2]],
    "best": jsonschema.exceptions.best_match(Draft7Validator({"anyOf": [{"type": "string"}, {"minimum": 5}]}).iter_errors(3)).message,
    "is valid": Draft7Validator({"items": {"type": "integer"}}).is_valid([1, 2, "3"]),
}
