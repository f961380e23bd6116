"""The time zone database, in the shape that zoneinfo looks for.

zoneinfo asks importlib.resources for packages called tzdata.zoneinfo.Europe
and the like. Here they exist in sys.modules only, and their files are read
from _mayfly_data.
"""

import _mayfly_data
import io
import struct
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

IANA_VERSION = "@IANA_VERSION@"


class _Resource:
    """An importlib.resources Traversable over the names of the zones."""

    def __init__(self, path):
        self._path = path

    @property
    def name(self):
        return self._path.rpartition("/")[2]

    def is_file(self):
        return self._path == "zones" or _zone(self._path) is not None

    def is_dir(self):
        return any(entry.startswith(self._path + "/") for entry in _entries())

    def iterdir(self):
        start = self._path + "/" if self._path else ""
        below = {e[len(start) :].partition("/")[0] for e in _entries() if e.startswith(start)}
        return map(self.joinpath, sorted(below))

    def joinpath(self, *parts):
        return _Resource("/".join(filter(None, (self._path, *parts))))

    __truediv__ = joinpath

    def read_bytes(self):
        if self._path == "zones":
            return "".join(f"{name}\n" for name in _mayfly_data.names()).encode()
        data = _zone(self._path)
        if data is None:
            raise FileNotFoundError(f"no time zone data called {self._path!r}")
        return data

    def read_text(self, encoding=None):
        return self.read_bytes().decode(encoding or "utf-8")

    def open(self, mode="r", encoding=None, errors=None):
        if mode == "rb":
            return io.BytesIO(self.read_bytes())
        if mode in ("r", "rt"):
            return io.StringIO(self.read_bytes().decode(encoding or "utf-8", errors or "strict"))
        raise ValueError("time zone data can only be read")


def _zone(path):
    prefix, _, key = path.partition("/")
    return _mayfly_data.get(key) if prefix == "zoneinfo" else None


def _entries():
    yield "zones"
    for name in _mayfly_data.names():
        yield "zoneinfo/" + name


class _Loader:
    """Loader and resource reader of every package in here."""

    def __init__(self, path):
        self._path = path

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        pass

    def get_resource_reader(self, name):
        return self

    def files(self):
        return _Resource(self._path)


def _package(name, path):
    spec = ModuleSpec(name, _Loader(path), is_package=True)
    module = ModuleType(name)
    module.__spec__ = spec
    module.__loader__ = spec.loader
    module.__package__ = name
    module.__path__ = []
    sys.modules[name] = module
    return module


_HEADER = struct.Struct(">4s1s15x6L")


def classic(name):
    """A zone as a file of the format's first version, for readers that know no other;
    None when there is no such zone.

    Instants are 32 bits wide there. What lies before them ends in one change at the
    first of them, as in the files that zic writes.
    """
    data = _mayfly_data.get(name)
    if data is None:
        return None
    at = _HEADER.size + 7  # of the second half; the first is empty, see zones.py
    magic, version, isutcs, isstds, leaps, times, types, chars = _HEADER.unpack_from(data, at)
    at += _HEADER.size
    instants = struct.unpack_from(f">{times}q", data, at)
    at += 8 * times
    indexes = data[at : at + times]
    at += times
    kinds = data[at : at + 6 * types + chars]
    at += len(kinds) + 12 * leaps
    flags = data[at : at + isstds + isutcs]

    least, most = -(2**31), 2**31 - 1
    early = sum(instant < least for instant in instants)
    late = sum(instant > most for instant in instants)
    changes = list(zip(instants, indexes))[early : times - late]
    if early and (not changes or changes[0][0] != least):
        changes.insert(0, (least, indexes[early - 1]))
    return io.BytesIO(
        _HEADER.pack(magic, b"\0", isutcs, isstds, 0, len(changes), types, chars)
        + struct.pack(f">{len(changes)}l", *(instant for instant, _ in changes))
        + bytes(index for _, index in changes)
        + kinds
        + flags
    )


def _install():
    __spec__.loader = globals()["__loader__"] = _Loader("")
    root = globals()["zoneinfo"] = _package("tzdata.zoneinfo", "zoneinfo")
    made = {"": root}
    for name in _mayfly_data.names():
        parts = name.split("/")[:-1]
        for n in range(1, len(parts) + 1):
            path = "/".join(parts[:n])
            if path not in made:
                module = _package("tzdata.zoneinfo." + path.replace("/", "."), "zoneinfo/" + path)
                made[path] = module
                setattr(made["/".join(parts[: n - 1])], parts[n - 1], module)


_install()
