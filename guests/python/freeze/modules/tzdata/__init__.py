"""The time zone database, in the shape that zoneinfo looks for.

zoneinfo asks importlib.resources for packages called tzdata.zoneinfo.Europe
and the like. Here they exist in sys.modules only, and their files are read
from _mayfly_data.
"""

import _mayfly_data
import io
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
