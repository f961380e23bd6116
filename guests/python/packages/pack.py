"""Packs the packages of packages.tsv: their modules as code objects, and the
data files that they read.

    pack.py HERE UNPACKED BUILTINS OUT

UNPACKED has a directory for each package, with what its .deb holds. OUT gets
packages.bin and .idx, files.bin and .idx, and sources/, the modules that were
packed. What is left out is left out by rule: see kept() and plain().

Must run as freeze.py must: under the guest's own version of Python, with
-X no_debug_ranges and PYTHONHASHSEED=0.
"""

import ast
import fnmatch
import marshal
import pathlib
import re
import sys
import tokenize

DIST = "usr/lib/python3/dist-packages"
COLUMNS = "sha256 file licence tier modules data why".split()
# Directories and modules that only a package's own developers use.
LEFT_OUT = {"test", "tests", "benchmarks", "conftest", "__pyinstaller", "__pycache__"}
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
    return not LEFT_OUT & set(relative.with_suffix("").parts)


def version_of(debian):
    """Upstream's part of a version of Debian's."""
    version = debian.rpartition("-")[0] or debian
    for mark in "+~":
        version = version.partition(mark)[0]
    return version


def without_docstrings(tree):
    """Takes out the texts that nothing but help() shows: a third of the bytes."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            if ast.get_docstring(node, clean=False) is not None:
                if len(node.body) == 1 and not isinstance(node, ast.Module):
                    node.body = [ast.copy_location(ast.Pass(), node.body[0])]
                else:
                    del node.body[0]
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


def metadata(package, root):
    """(name, METADATA) of the distribution: what importlib.metadata is asked for."""
    infos = sorted(root.glob("*.dist-info/METADATA")) + sorted(root.glob("*.egg-info/PKG-INFO")) + sorted(root.glob("*.egg-info"))
    infos = [info for info in infos if info.is_file()]
    if not infos:
        return None
    fields = {}
    for line in infos[0].read_text(encoding="utf-8").splitlines():
        key, _, value = line.partition(": ")
        if not line:
            break
        fields.setdefault(key, value)
    name = fields["Name"]
    version = version_of(package["debian"])
    summary = fields.get("Summary", "")
    return name, f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nSummary: {summary}\n"


class Blob:
    """Named pieces behind one another, equal ones once."""

    def __init__(self):
        self.bytes, self.index, self.seen = bytearray(), {}, {}

    def add(self, name, piece, flag=0):
        if name in self.index:
            sys.exit(f"pack: {name} is there twice")
        if " " in name or not name.isascii():
            sys.exit(f"pack: {name!r} has a space or no ASCII in it")
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


def main(here, unpacked, builtins, out):
    here, out = pathlib.Path(here), pathlib.Path(out)
    taken = set(sys.stdlib_module_names) | set(pathlib.Path(builtins).read_text().split()) | {"mayfly", "_mayfly"}
    edits = read_edits(here / "edits.txt")
    modules, files, image = Blob(), Blob(), []
    for package in read_list(here / "packages.tsv"):
        root = pathlib.Path(unpacked) / package["name"] / DIST
        for top in package["modules"]:
            if top in taken:
                sys.exit(f"pack: {package['name']}: {top} is a module of the standard library or of another package")
            taken.add(top)
        before = len(modules.bytes) + len(files.bytes)
        wanted = set(package["data"])
        for path in sorted(root.rglob("*")):
            relative = path.relative_to(root)
            top = relative.parts[0].removesuffix(".py")
            if not path.is_file() or top not in package["modules"] or not kept(relative):
                continue
            if path.suffix == ".py":
                parts = list(relative.with_suffix("").parts)
                is_package = parts[-1] == "__init__"
                if is_package:
                    parts.pop()
                name, text = ".".join(parts), decoded(path)
                for old, new in edits.pop(name, []):
                    if text.count(old) != 1:
                        sys.exit(f"pack: edits.txt: {name} has {text.count(old)} times: {old}")
                    text = text.replace(old, new)
                modules.add(name, plain(name, text), int(is_package))
                source = out / "sources" / relative
                source.parent.mkdir(parents=True, exist_ok=True)
                source.write_text(text, encoding="utf-8")
                continue
            hits = {glob for glob in package["data"] if fnmatch.fnmatchcase(relative.as_posix(), glob)}
            if hits:
                wanted -= hits
                files.add(relative.as_posix(), path.read_bytes())
                source = out / "sources" / relative
                source.parent.mkdir(parents=True, exist_ok=True)
                source.write_bytes(path.read_bytes())
        if wanted:
            sys.exit(f"pack: {package['name']} has no data files {sorted(wanted)}")
        missing = [top for top in package["modules"] if top not in modules.index]
        if missing:
            sys.exit(f"pack: {package['name']} has no modules {missing}")
        known = metadata(package, root)
        if known:
            files.add("dist-info/" + re.sub("[-_.]+", "-", known[0]).lower(), known[1].encode())
        if package["tier"] == "image":
            image += package["modules"]
        print(f"{package['name']} {len(modules.bytes) + len(files.bytes) - before} bytes")
    if edits:
        sys.exit(f"pack: edits.txt names modules that are not there: {sorted(edits)}")
    files.add("image", "".join(f"{name}\n" for name in image).encode())
    modules.write(out / "packages")
    files.write(out / "files")
    print(f"{len(modules.index)} modules, {len(modules.bytes)} bytes; {len(files.index)} data files, {len(files.bytes)} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
