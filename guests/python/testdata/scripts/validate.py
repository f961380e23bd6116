# Rows against a schema that comes as YAML: which are wrong, and how.
from collections import Counter
import yaml
from jsonschema import Draft202012Validator

schema = yaml.safe_load("""
type: object
required: [id, day, region, units, amount]
properties:
  id: {type: integer, minimum: 0}
  day: {type: string, pattern: '^202[34]-\\d\\d-\\d\\d$'}
  region: {enum: [north, south, east, west]}
  units: {type: integer, maximum: 30}
  amount: {type: string, pattern: '^\\d{1,6}\\.\\d\\d$'}
""")
validator = Draft202012Validator(schema)
wrong, kinds = [], Counter()
for sale in sales[:1500]:
    errors = sorted(validator.iter_errors(sale), key=lambda e: str(e.path))
    kinds.update(f"{e.json_path} {e.validator}" for e in errors)
    if errors:
        wrong.append([sale["id"], errors[0].message])
{"wrong": len(wrong), "kinds": dict(sorted(kinds.items())), "first": wrong[:4]}
