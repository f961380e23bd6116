"""Turns one object into something closer to JSON. VALUES.md is the specification.

The shim writes None, bool, int, float, str, list, tuple and dict itself and
asks convert() about everything else, one object at a time.
"""

import array
import asyncio
import base64
import collections
import collections.abc
import dataclasses
import datetime
import decimal
import enum
import fractions
import io
import ipaddress
import itertools
import pathlib
import sqlite3
import types
import uuid

import _mayfly_shim as shim

# The shim's step codes (json.c).
VALUE, TAGGED, UNSORTED, REFUSED = range(4)

ADDRESSES = (
    ipaddress.IPv4Address, ipaddress.IPv6Address, ipaddress.IPv4Network,
    ipaddress.IPv6Network, ipaddress.IPv4Interface, ipaddress.IPv6Interface,
)
ITERATORS = frozenset((
    *(type(iterator) for iterator in (
        iter([]), iter(()), iter(""), iter(b""), iter({}), iter({}.values()), iter({}.items()), iter(set()),
        iter(range(0)), map(str, ()), filter(None, ()), zip(), enumerate(()), reversed([]), reversed({}),
        (None for _ in ()),
    )),
    *(item for item in vars(itertools).values() if isinstance(item, type)),
))
FUNCTIONS = (
    types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.MethodWrapperType,
    types.WrapperDescriptorType, types.MethodDescriptorType, types.ClassMethodDescriptorType,
)
# Read as type's own attributes: a metaclass may answer these names with anything.
name_of_type = type.__dict__["__name__"].__get__


class Refused(Exception):
    """Carries the sentence that says why an object has no JSON form."""


def convert(value):
    """Gives (step, payload) for any object."""
    try:
        kind = type(value)
        step = EXACT.get(kind)
        if step is None:
            step = find(kind)
        return step(value)
    except Refused as refused:
        return REFUSED, refused.args[0]


def find(kind):
    """Chooses the conversion for a class that is in no table itself."""
    for base, step in BASES:
        if issubclass(kind, base):
            return step
    if has_fields(kind):
        return from_dataclass
    if issubclass(kind, collections.abc.Mapping):
        return from_mapping
    if issubclass(kind, collections.abc.Sequence):
        return from_sequence
    return refuse


def unwrap(member):
    """The value of an Enum member that is not an Enum member itself."""
    for _ in range(8):
        value = object.__getattribute__(member, "_value_")
        if not issubclass(type(value), enum.Enum):
            return value
        member = value
    raise Refused("an Enum whose value is an Enum again has no JSON form; return its name")


def from_enum(member):
    return convert(unwrap(member))


def from_int(value):
    return VALUE, int.__int__(value)


def from_float(value):
    return VALUE, float.__float__(value)


def from_str(value):
    return VALUE, str.__str__(value)


def from_bytes(value):
    data = memoryview(value).tobytes()
    return TAGGED, ("$bytes", base64.b64encode(data).decode("ascii"))


def from_complex(value):
    value = complex.__complex__(value)
    return TAGGED, ("$complex", [value.real, value.imag])


def from_list(value):
    return VALUE, list.copy(value)


def from_tuple(value):
    fields = getattr(type(value), "_fields", None)
    items = list(tuple.__iter__(value))
    if type(fields) is tuple and len(fields) == len(items) and all(type(field) is str for field in fields):
        return VALUE, named(zip(fields, items))
    return VALUE, items


def from_dict(value):
    return VALUE, named(dict.items(value))


def from_ordered_dict(value):
    # Its order is not the one of the dict below it.
    return VALUE, named(collections.OrderedDict.items(value))


def from_mapping(value):
    return VALUE, named((key, value[key]) for key in value)


def from_mapping_proxy(value):
    return VALUE, named(types.MappingProxyType.items(value))


def from_sequence(value):
    return VALUE, list(value)


def from_items(value):
    return VALUE, [list(item) for item in value]


def from_deque(value):
    return VALUE, list(collections.deque.__iter__(value))


def from_array(value):
    return VALUE, array.array.tolist(value)


def from_set(value):
    return sort(list(set.__iter__(value)))


def from_frozenset(value):
    return sort(list(frozenset.__iter__(value)))


def from_date(value):
    return VALUE, datetime.date.isoformat(value)


def from_datetime(value):
    return VALUE, datetime.datetime.isoformat(value)


def from_time(value):
    return VALUE, datetime.time.isoformat(value)


def from_timedelta(value):
    return VALUE, duration(value)


def from_decimal(value):
    return VALUE, decimal.Decimal.__str__(value)


def from_fraction(value):
    return VALUE, f"{value.numerator}/{value.denominator}"


def from_uuid(value):
    return VALUE, uuid.UUID.__str__(value)


def from_own_text(value):
    return VALUE, str.__str__(str(value))


def from_user_string(value):
    return VALUE, str.__str__(value.data)


def from_namespace(value):
    return VALUE, named(dict.items(vars(value)))


def from_row(value):
    return VALUE, named(zip(value.keys(), tuple(value)))


def from_dataclass(value):
    fields = type(value).__dataclass_fields__
    return VALUE, named(
        (name, getattr(value, name)) for name, field in fields.items() if field._field_type is dataclasses._FIELD
    )


def has_fields(kind):
    return type(getattr(kind, "__dataclass_fields__", None)) is dict


def duration(value):
    """ISO 8601: -P1DT2H3M4.5S."""
    total = datetime.timedelta.days.__get__(value) * 86_400_000_000
    total += datetime.timedelta.seconds.__get__(value) * 1_000_000
    total += datetime.timedelta.microseconds.__get__(value)
    sign, total = ("-", -total) if total < 0 else ("", total)
    seconds, micros = divmod(total, 1_000_000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    fraction = f".{micros:06d}".rstrip("0") if micros else ""
    clock = f"{hours}H" * (hours > 0) + f"{minutes}M" * (minutes > 0)
    if seconds or micros or not (clock or days):
        clock += f"{seconds}{fraction}S"
    return sign + "P" + f"{days}D" * (days > 0) + ("T" + clock if clock else "")


def named(items):
    """A dict with str keys only, made of items whose keys may be anything."""
    result = {}
    for key, value in items:
        name = key if type(key) is str else name_of(key)
        if name in result:
            raise Refused("two keys become the same name in JSON (as 1 and '1' do); use keys that stay different")
        result[name] = value
    return result


def name_of(key):
    kind = type(key)
    if issubclass(kind, enum.Enum):
        value = unwrap(key)
        return value if type(value) is str else name_of(value)
    if issubclass(kind, str):
        return str.__str__(key)
    if key is None:
        return "null"
    if kind is bool:
        return "true" if key else "false"
    if issubclass(kind, int):
        return str(int.__int__(key))
    if issubclass(kind, float):
        return float.__repr__(key)
    if issubclass(kind, tuple):
        try:
            return shim.json(key)
        except TypeError as error:
            raise Refused(f"a key is a tuple without a JSON form ({error}); use str keys") from None
    if issubclass(kind, AS_TEXT):
        return convert(key)[1]
    raise Refused(f"a key of type {type_name(kind)} has no JSON form; use str keys")


def sort(items):
    """By value where that is a total order, else by JSON text."""
    if ordered(items):
        try:
            items.sort()
            return VALUE, items
        except TypeError:
            pass
    return UNSORTED, items


NUMBERS = frozenset((bool, int, float, decimal.Decimal, fractions.Fraction))
ALIKE = (NUMBERS, {str}, {bytes}, {datetime.date}, {datetime.datetime}, {datetime.time}, {datetime.timedelta}, {uuid.UUID})


def ordered(items):
    kinds = set(map(type, items))
    if kinds == {tuple}:
        longest = max(map(len, items))
        return all(ordered([item[at] for item in items if len(item) > at]) for at in range(longest))
    if not any(kinds <= alike for alike in ALIKE):
        return False
    return not (kinds & {float, decimal.Decimal} and any(item != item for item in items))


def type_name(kind):
    return name_of_type(kind)[:100]


def with_article(noun):
    return ("an " if noun[:1] in "aeiouAEIOU" else "a ") + noun


def refuse(value):
    kind = type(value)
    what, advice = with_article(type_name(kind)), "return plain data: dict, list, str, numbers, or a dataclass"
    if issubclass(kind, type):
        what, advice = "a class", "return an instance's data, or the class's name"
    elif issubclass(kind, FUNCTIONS):
        what, advice = "a function", "call it and return its result"
    elif issubclass(kind, types.ModuleType):
        what, advice = "a module", "return what you need of it"
    elif issubclass(kind, (types.CoroutineType, asyncio.Future)):
        advice = "await it"
    elif issubclass(kind, types.AsyncGeneratorType):
        what, advice = "an async generator", "return [x async for x in it]"
    elif kind in ITERATORS:
        advice = "return list(...) of it"
    elif issubclass(kind, io.IOBase):
        what, advice = "an open file", "return what it holds"
    elif issubclass(kind, BaseException):
        what, advice = "an exception", "raise it, or return str() of it"
    raise Refused(f"{what} has no JSON form; {advice}")


def plain(value):
    return VALUE, value


# dict and tuple are met here as payloads of an Enum, and a dict when some key
# of it is not a str.
EXACT = {
    type(None): plain,
    bool: plain,
    int: plain,
    float: plain,
    str: plain,
    list: plain,
    tuple: from_tuple,
    dict: from_dict,
    bytes: from_bytes,
    set: from_set,
    frozenset: from_frozenset,
    range: from_sequence,
    type({}.keys()): from_sequence,
    type({}.values()): from_sequence,
    type({}.items()): from_items,
    type(collections.OrderedDict().keys()): from_sequence,
    type(collections.OrderedDict().values()): from_sequence,
    type(collections.OrderedDict().items()): from_items,
    sqlite3.Row: from_row,
    types.MappingProxyType: from_mapping_proxy,
}

# The first base that fits decides.
BASES = (
    (enum.Enum, from_enum),
    (int, from_int),
    (float, from_float),
    (str, from_str),
    (bytes, from_bytes),
    (bytearray, from_bytes),
    (memoryview, from_bytes),
    (complex, from_complex),
    (tuple, from_tuple),
    (list, from_list),
    (collections.OrderedDict, from_ordered_dict),
    (dict, from_dict),
    (set, from_set),
    (frozenset, from_frozenset),
    (collections.deque, from_deque),
    (array.array, from_array),
    (datetime.datetime, from_datetime),
    (datetime.date, from_date),
    (datetime.time, from_time),
    (datetime.timedelta, from_timedelta),
    (decimal.Decimal, from_decimal),
    (fractions.Fraction, from_fraction),
    (uuid.UUID, from_uuid),
    (pathlib.PurePath, from_own_text),
    *((address, from_own_text) for address in ADDRESSES),
    (types.SimpleNamespace, from_namespace),
    (sqlite3.Row, from_row),
    (collections.UserString, from_user_string),
)

# What a key may be besides str, numbers and tuples.
AS_TEXT = (
    datetime.date, datetime.time, datetime.timedelta, decimal.Decimal, fractions.Fraction, uuid.UUID, pathlib.PurePath, *ADDRESSES,
)
