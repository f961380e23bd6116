"""The canonical form, written down a second time: in Python, whose json.dumps defines it.

Reads one request per line: the text, base64. Answers one line each:
"=" and the canonical text (which is ASCII on one line), or "!" and the code of the refusal.
"""
import base64
import decimal
import json
import sys

MAX_BYTES = 1 << 20
MAX_DEPTH = 64


class Refused(Exception):
    pass


def read_float(literal):
    value = float(literal)
    if value in (float("inf"), float("-inf")):
        raise Refused("number")
    if value == 0:
        mantissa = literal.lower().partition("e")[0]
        if any(c in "123456789" for c in mantissa):
            raise Refused("number")
        return value
    if value.is_integer():
        written = decimal.Decimal(literal)
        if written != decimal.Decimal(value) and written != decimal.Decimal(repr(value)):
            raise Refused("number")
    return value


def read_int(literal):
    if len(literal.lstrip("-")) > 4300:
        raise Refused("number")
    return int(literal)


def read_constant(_):
    raise Refused("syntax")


def read_object(pairs):
    value = dict(pairs)
    if len(value) != len(pairs):
        raise Refused("duplicate_name")
    return value


def normal(value, depth):
    if isinstance(value, str):
        if any(0xD800 <= ord(c) <= 0xDFFF for c in value):
            raise Refused("encoding")
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, (list, dict)):
        if depth == MAX_DEPTH:
            raise Refused("too_deep")
        if isinstance(value, list):
            return [normal(v, depth + 1) for v in value]
        return {normal(k, depth): normal(v, depth + 1) for k, v in value.items()}
    return value


def canonical(text):
    if len(text) > MAX_BYTES:
        raise Refused("too_large")
    try:
        value = json.loads(
            text.decode("utf-8"),
            parse_float=read_float,
            parse_int=read_int,
            parse_constant=read_constant,
            object_pairs_hook=read_object,
        )
    except UnicodeDecodeError:
        raise Refused("encoding")
    except RecursionError:
        raise Refused("too_deep")
    except json.JSONDecodeError:
        raise Refused("syntax")
    return json.dumps(normal(value, 0), sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def main():
    for line in sys.stdin.buffer:
        try:
            answer = "=" + canonical(base64.b64decode(line))
        except Refused as refusal:
            answer = "!" + refusal.args[0]
        sys.stdout.write(answer + "\n")
        sys.stdout.flush()


main()
