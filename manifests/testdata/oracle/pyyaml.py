"""What PyYAML, a reader of YAML 1.1, makes of the texts in a JSON list on standard input.

Writes a JSON list: for each text its documents as canonical JSON, or null where PyYAML refuses it.
"""
import json
import sys

import yaml


def normal(value):
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [normal(v) for v in value]
    if isinstance(value, dict):
        return {k if isinstance(k, str) else f"not a string: {k!r}": normal(v) for k, v in value.items()}
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    return f"not JSON: {value!r}"


def read(text):
    try:
        docs = list(yaml.safe_load_all(text))
    except yaml.YAMLError:
        return None
    return [json.dumps(normal(d), sort_keys=True, separators=(",", ":"), ensure_ascii=True) for d in docs if d is not None]


json.dump([read(text) for text in json.load(sys.stdin)], sys.stdout)
