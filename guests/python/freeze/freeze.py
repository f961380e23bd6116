"""Compiles modules and packs their code objects into one blob with an index.

    freeze.py pack  OUT SKIP|- ROOT...    modules below the ROOTs -> OUT.bin, OUT.idx
    freeze.py table OUT.c ZONES PACKAGES FILES PACK...    C source of the tables

A later ROOT, or a later PACK, replaces modules of the same name. Must run
under the very version of Python that will load the result, because marshal and
bytecode belong to it, with -X no_debug_ranges and PYTHONHASHSEED=0: the output
is then a function of the sources alone.
"""

import marshal
import pathlib
import sys


def sources(root):
    """Yields (module name, path, is package) for each module below root."""
    for path in sorted(root.rglob("*.py")):
        parts = list(path.relative_to(root).with_suffix("").parts)
        package = parts[-1] == "__init__"
        if package:
            parts.pop()
        if parts and not any(p in ("__pycache__", "site-packages") for p in parts):
            yield ".".join(parts), path, package


def skipper(skip_file):
    if skip_file == "-":
        return lambda name: False
    lines = pathlib.Path(skip_file).read_text(encoding="utf-8").splitlines()
    prefixes = {line.strip() for line in lines if line.strip() and not line.startswith("#")}
    used = set()

    def skip(name):
        parts = name.split(".")
        for n in range(1, len(parts) + 1):
            prefix = ".".join(parts[:n])
            if prefix in prefixes:
                used.add(prefix)
                return True
        return False

    skip.unused = lambda: prefixes - used
    return skip


def code_of(name, path):
    code = compile(path.read_bytes(), f"<frozen {name}>", "exec", dont_inherit=True, optimize=0)
    # Which objects marshal writes as references depends on their reference
    # counts. After one round trip it depends on the code alone.
    return marshal.dumps(marshal.loads(marshal.dumps(code)))


def pack(out, skip_file, *roots):
    skip = skipper(skip_file)
    found = {}
    for root in roots:
        for name, path, package in sources(pathlib.Path(root)):
            if not skip(name):
                found[name] = path, package
    if skip_file != "-" and skip.unused():
        sys.exit(f"freeze: {skip_file} names what is not there: {sorted(skip.unused())}")
    blob, index = bytearray(), []
    for name in sorted(found):
        path, package = found[name]
        code = code_of(name, path)
        index.append(f"{name} {len(blob)} {len(code)} {int(package)}\n")
        blob += code
    pathlib.Path(out + ".bin").write_bytes(blob)
    pathlib.Path(out + ".idx").write_text("".join(index), encoding="utf-8")
    print(f"{len(index)} modules, {len(blob)} bytes")


def read_index(pack_path):
    text = pathlib.Path(pack_path + ".idx").read_text(encoding="utf-8")
    return [line.rsplit(" ", 3) for line in text.splitlines()]


def files_table(name, data_path):
    """C source of a table of data files, which reads like a pack."""
    files = read_index(data_path)
    yield f"static const unsigned char {name}_data[] = {{\n#embed \"{data_path}.bin\"\n}};\n"
    yield f"static const struct mayfly_file {name}_files[] = {{\n"
    for file, offset, size, flag in files:
        yield f'{{"{file}", {name}_data + {offset}, {size}, {flag}}},\n'
    yield "};\n"
    yield f"const struct mayfly_files {name} = {{{name}_files, {len(files)}}};\n\n"


def table(out, zones, packages, files, *packs):
    entries = {}
    lines = ["/* Made by freeze.py. */\n", '#include "frozen.h"\n\n']
    for i, pack_path in enumerate(packs):
        lines.append(f"static const unsigned char pack{i}[] = {{\n#embed \"{pack_path}.bin\"\n}};\n")
        for name, offset, size, package in read_index(pack_path):
            entries[name] = f'{{"{name}", pack{i} + {offset}, {size}, {package}}},\n'
    lines.append("\nconst struct _frozen mayfly_frozen[] = {\n")
    lines += [entries[name] for name in sorted(entries)]
    lines.append("{0, 0, 0, 0}};\n\n")
    for name, path in (("mayfly_zones", zones), ("mayfly_packages", packages), ("mayfly_package_files", files)):
        lines += files_table(name, path)
    pathlib.Path(out).write_text("".join(lines), encoding="utf-8")
    print(f"{len(entries)} frozen modules")


if __name__ == "__main__":
    {"pack": pack, "table": table}[sys.argv[1]](*sys.argv[2:])
