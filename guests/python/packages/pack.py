"""Packs the packages of packages.tsv: their modules as code objects, and the
data files that they read.

    pack.py HERE UNPACKED ZONEINFO BUILTINS OUT

HERE has packages.tsv, edits.txt, and in own/ modules of our own. The tables of
ZONEINFO that say which zones a country has are kept for pytz.

UNPACKED has a directory for each package, with what its .deb holds, and all/
with all of them together, so that links from one into another lead somewhere.
OUT gets packages.bin and .idx, and files.bin and .idx. What is left out is left
out by rule: see kept() and plain().

Must run as freeze.py must: under the guest's own version of Python, with
-X no_debug_ranges and PYTHONHASHSEED=0.
"""

import ast
import fnmatch
import marshal
import os
import pathlib
import re
import sys
import tokenize
import zlib

DIST = "usr/lib/python3/dist-packages"
COLUMNS = "sha256 file licence tier modules data why".split()
# Directories that only a package's own developers use.
LEFT_OUT = {"test", "tests", "benchmarks", "__pyinstaller", "__pycache__"}
TIERS = ("image", "import")


def read_list(path):
    packages = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        fields = line.split("\t")
        if len(fields) != len(COLUMNS) or not all(fields):
            sys.exit(f"pack: {path.name}:{number}: {len(fields)} fields, want {len(COLUMNS)}: {' '.join(COLUMNS)}")
        package = dict(zip(COLUMNS, fields))
        package["name"], package["debian"] = package["file"].rpartition("/")[2].split("_")[:2]
        for column in ("modules", "data"):
            package[column] = [] if package[column] == "-" else package[column].split()
        package["tier"], *package["below"] = package["tier"].split()
        if package["tier"] not in TIERS:
            sys.exit(f"pack: {path.name}:{number}: a tier is one of {TIERS}")
        packages.append(package)
    return packages


def read_edits(path):
    """{module: [(old, new), ...]} of edits.txt."""
    edits, name = {}, None
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("= "):
            name = line[2:]
            edits.setdefault(name, []).append(([], []))
        elif line[:2] in ("- ", "+ ") and name:
            edits[name][-1][line[0] == "+"].append(line[2:])
        elif line and not line.startswith("#"):
            sys.exit(f"pack: {path.name}: {line!r} begins with none of '= ', '- ', '+ ' and '#'")
    return {name: [("\n".join(old), "\n".join(new)) for old, new in both] for name, both in edits.items()}


def kept(relative):
    return not LEFT_OUT & set(relative.parent.parts) and relative.name != "conftest.py"


def below(root, tops):
    """The files of some modules, in order, by their names relative to root."""
    for top in sorted(tops):
        if (root / f"{top}.py").is_file():
            yield pathlib.Path(f"{top}.py")
        for folder, folders, names in os.walk(root / top, followlinks=True):
            folders.sort()
            for name in sorted(names):
                relative = pathlib.Path(folder, name).relative_to(root)
                if kept(relative):
                    yield relative


def version_of(debian):
    """Upstream's part of a version of Debian's."""
    version = debian.partition(":")[2] or debian
    version = version.rpartition("-")[0] or version
    for mark in "+~":
        version = version.partition(mark)[0]
    return version


def without_docstrings(tree):
    """Empties the texts that nothing but help() shows: a third of the bytes.
    They stay texts, because some modules add their own words to them."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            if ast.get_docstring(node, clean=False) is not None:
                node.body[0].value.value = ""
    return tree


def plain(name, text):
    """A module's code object, as bytes."""
    tree = ast.parse(text, f"<frozen {name}>")
    # A module that works with docstrings keeps its own.
    if "__doc__" not in text:
        without_docstrings(tree)
    code = compile(tree, f"<frozen {name}>", "exec", dont_inherit=True, optimize=0)
    # After one round trip the bytes depend on the code alone; see freeze.py.
    return marshal.dumps(marshal.loads(marshal.dumps(code)))


def decoded(path):
    with tokenize.open(path) as file:
        return file.read()


def distribution(package, root):
    """(name, {file: content}) of what importlib.metadata is asked for, or None."""
    found = sorted(root.glob("*.dist-info")) + sorted(root.glob("*.egg-info"))
    if not found:
        return None
    texts = [path for path in (found[0] / "METADATA", found[0] / "PKG-INFO", found[0]) if path.is_file()]
    fields = {}
    for line in texts[0].read_text(encoding="utf-8").splitlines():
        key, _, value = line.partition(": ")
        if not line:
            break
        fields.setdefault(key, value)
    head = {"Metadata-Version": "2.1", "Name": fields["Name"], "Version": version_of(package["debian"]), "Summary": fields.get("Summary", "")}
    files = {"METADATA": "".join(f"{key}: {value}\n" for key, value in head.items())}
    # Extensions are found by them, even a package's own.
    points = found[0] / "entry_points.txt"
    if points.is_file():
        files["entry_points.txt"] = points.read_text(encoding="utf-8")
    return re.sub("[-_.]+", "-", fields["Name"]).lower(), files


class Blob:
    """Named pieces, compressed, behind one another, equal ones once."""

    def __init__(self):
        self.bytes, self.index, self.seen = bytearray(), {}, {}

    def add(self, name, piece, flag=0):
        if name in self.index:
            sys.exit(f"pack: {name} is there twice")
        if " " in name or not name.isascii():
            sys.exit(f"pack: {name!r} has a space or no ASCII in it")
        # Most are read once, while the image is made, and lie in it ever after.
        piece = zlib.compress(piece, 9)
        if piece not in self.seen:
            self.seen[piece] = len(self.bytes)
            self.bytes += piece
        self.index[name] = (self.seen[piece], len(piece), flag)

    def write(self, path):
        path.with_suffix(".bin").write_bytes(self.bytes)
        # The reader searches by bytes.
        names = sorted(self.index, key=str.encode)
        lines = (f"{name} {' '.join(map(str, self.index[name]))}\n" for name in names)
        path.with_suffix(".idx").write_text("".join(lines), encoding="utf-8")


class Pack:
    """What is packed so far."""

    def __init__(self, edits, taken):
        self.edits, self.taken = edits, taken
        self.modules, self.files, self.image = Blob(), Blob(), []

    def add(self, tree, tops, wanted=()):
        """Adds modules below a directory, and the data files that are wanted."""
        for top in tops:
            if top in self.taken:
                sys.exit(f"pack: {top} is a module of the standard library or of another package")
            self.taken.add(top)
        left_out = [glob[1:] for glob in wanted if glob[0] == "!"]
        wanted = [glob for glob in wanted if glob[0] != "!"]
        used = set()
        for relative in below(tree, tops):
            name = relative.as_posix()
            without = [glob for glob in left_out if fnmatch.fnmatchcase(name, glob)]
            used.update("!" + glob for glob in without)
            if without:
                continue
            if relative.suffix == ".py":
                self.add_module(relative, decoded(tree / relative))
                continue
            hits = [glob for glob in wanted if fnmatch.fnmatchcase(name, glob)]
            used.update(hits)
            if hits:
                self.files.add(name, (tree / relative).read_bytes())
        unused = {*wanted, *("!" + glob for glob in left_out)} - used
        if unused:
            sys.exit(f"pack: {' '.join(tops)}: there are no files {sorted(unused)}")
        missing = [top for top in tops if top not in self.modules.index]
        if missing:
            sys.exit(f"pack: there are no modules {missing}")

    def add_module(self, relative, text):
        parts = list(relative.with_suffix("").parts)
        is_package = parts[-1] == "__init__"
        if is_package:
            parts.pop()
        name = ".".join(parts)
        for old, new in self.edits.pop(name, []):
            if text.count(old) != 1:
                sys.exit(f"pack: edits.txt: {name} has {text.count(old)} times:\n{old}")
            text = text.replace(old, new)
        self.modules.add(name, plain(name, text), int(is_package))

    def size(self):
        return len(self.modules.bytes) + len(self.files.bytes)


def main(here, unpacked, zoneinfo, builtins, out):
    here, unpacked, out = pathlib.Path(here), pathlib.Path(unpacked), pathlib.Path(out)
    taken = set(sys.stdlib_module_names) | set(pathlib.Path(builtins).read_text().split()) | {"mayfly", "_mayfly"}
    pack = Pack(read_edits(here / "edits.txt"), taken)
    pack.add(here / "own", sorted(path.stem for path in (here / "own").iterdir()))
    for package in read_list(here / "packages.tsv"):
        before = pack.size()
        pack.add(unpacked / "all" / DIST, package["modules"], package["data"])
        known = distribution(package, unpacked / package["name"] / DIST)
        if known:
            for name, text in known[1].items():
                pack.files.add(f"dist-info/{known[0]}/{name}", text.encode())
        if package["tier"] == "image":
            wanted = package["modules"] + [f"{package['modules'][0]}.{name}" for name in package["below"]]
            unknown = set(wanted) - set(pack.modules.index)
            if unknown:
                sys.exit(f"pack: {package['name']} has no modules {sorted(unknown)} for the image")
            pack.image += wanted
        print(f"{package['name']} {pack.size() - before} bytes")
    if pack.edits:
        sys.exit(f"pack: edits.txt names modules that are not there: {sorted(pack.edits)}")
    for name in ("zone.tab", "zone1970.tab", "iso3166.tab"):
        pack.files.add("zoneinfo/" + name, pathlib.Path(zoneinfo, name).read_bytes())
    pack.files.add("image", "".join(f"{name}\n" for name in pack.image).encode())
    pack.modules.write(out / "packages")
    pack.files.write(out / "files")
    print(f"{len(pack.modules.index)} modules, {len(pack.modules.bytes)} bytes; "
          f"{len(pack.files.index)} data files, {len(pack.files.bytes)} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
