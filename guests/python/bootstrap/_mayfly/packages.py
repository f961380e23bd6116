"""Imports the packages that are part of the guest.

Their modules are code in the guest's constant data, compressed and found by
name. There is no path: nothing that a program writes can take their place or join them, and
the file names that they are given lead nowhere.
"""

import _mayfly_data as data
import importlib.machinery
import io
import re
import sys
from marshal import loads
from zlib import decompress

ROOT = "/packages/"
FILES = {name: None for name in data.files()}


def read(name):
    """A data file, or None."""
    content = data.file(name)
    return None if content is None else decompress(content)


class Packages:
    """Finds and loads; sys.meta_path has the class itself."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        is_package = data.kind(name)
        if is_package is None:
            return None
        spec = importlib.machinery.ModuleSpec(name, Packages, is_package=is_package)
        spec.origin = ROOT + name.replace(".", "/") + ("/__init__.py" if is_package else ".py")
        spec.has_location = True
        if is_package:
            spec.submodule_search_locations.append(spec.origin.removesuffix("/__init__.py"))
        return spec

    @staticmethod
    def create_module(spec):
        return None

    @staticmethod
    def exec_module(module):
        exec(Packages.get_code(module.__spec__.name), module.__dict__)

    @staticmethod
    def is_package(name):
        return bool(data.kind(name))

    @staticmethod
    def get_code(name):
        code = data.code(name)
        return None if code is None else loads(decompress(code))

    @staticmethod
    def get_source(name):
        return None

    @staticmethod
    def get_data(path):
        content = read(path.removeprefix(ROOT)) if path.startswith(ROOT) else None
        if content is None:
            raise FileNotFoundError(f"no data file {path!r}")
        return content

    @staticmethod
    def get_resource_reader(name):
        return Reader(name.replace(".", "/"))

    @staticmethod
    def find_distributions(context):
        """What importlib.metadata asks: which packages there are, or whether one is."""
        # They are on no path: who asks about a path of his own does not mean them.
        if context.path is not sys.path:
            return []
        keys = [name.split("/")[1] for name in FILES if name.startswith("dist-info/") and name.endswith("/METADATA")]
        if context.name is not None:
            wanted = re.sub("[-_.]+", "-", context.name).lower()
            keys = [key for key in keys if key == wanted]
        return map(distribution, keys)


class Reader:
    def __init__(self, path):
        self.path = path

    def files(self):
        return Resource(self.path)


class Resource:
    """A data file, or a directory of some, for importlib.resources."""

    def __init__(self, path):
        self.path = path

    @property
    def name(self):
        return self.path.rpartition("/")[2]

    def is_file(self):
        return self.path in FILES

    def is_dir(self):
        return any(file.startswith(self.path + "/") for file in FILES)

    def iterdir(self):
        start = self.path + "/"
        below = {file[len(start):].partition("/")[0] for file in FILES if file.startswith(start)}
        return map(self.joinpath, sorted(below))

    def joinpath(self, *parts):
        return Resource("/".join((self.path, *map(str, parts))))

    __truediv__ = joinpath

    def read_bytes(self):
        return Packages.get_data(ROOT + self.path)

    def read_text(self, encoding=None, errors=None):
        return self.read_bytes().decode(encoding or "utf-8", errors or "strict")

    def open(self, mode="r", encoding=None, errors=None):
        if mode == "rb":
            return io.BytesIO(self.read_bytes())
        if mode in ("r", "rt"):
            return io.StringIO(self.read_text(encoding, errors))
        raise ValueError("data files of packages can only be read")


def distribution(key):
    from importlib.metadata import Distribution

    class PackedDistribution(Distribution):
        def read_text(self, filename):
            content = read(f"dist-info/{key}/{filename}")
            return None if content is None else content.decode()

        def locate_file(self, path):
            raise FileNotFoundError("the modules of a package are not files here")

    return PackedDistribution()


def install():
    # Before the standard library, whose table is long and searched from its
    # start; the build refuses a package with a name from there.
    sys.meta_path.insert(0, Packages)


def common():
    """The modules that are imported into the image."""
    return read("image").decode().split()
