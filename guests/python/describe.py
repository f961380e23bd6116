"""Checks python.wasm in the current directory and writes python.json about it.

    describe.py RECIPE BASE STDLIB NAME=VALUE...

The checks are what the engine relies on: the exports are those of
exports.txt, the only mutable global is the exported stack pointer, imports
come from WASI and from the two host calls, nothing runs by itself, and there
are no names.
"""

import hashlib
import json
import pathlib
import sys

HOST_IMPORTS = {("mayfly", "host_call"), ("mayfly", "host_read")}
KINDS = ("func", "table", "memory", "global")


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def u32(self):
        value = shift = 0
        while True:
            b = self.byte()
            value |= (b & 0x7F) << shift
            shift += 7
            if b < 0x80:
                return value

    def name(self):
        length = self.u32()
        self.at += length
        return self.data[self.at - length : self.at].decode()

    def limits(self):
        if self.byte() & 1:
            self.u32()
        self.u32()

    def const_expr(self):
        op = self.byte()
        if op in (0x41, 0x42):  # i32.const, i64.const: a signed LEB128, as long as an unsigned one
            self.u32()
        elif op in (0x43, 0x44):
            self.at += 4 if op == 0x43 else 8
        elif op in (0x23, 0xD2):
            self.u32()
        elif op == 0xD0:
            self.byte()
        else:
            sys.exit(f"describe: constant expression with opcode {op:#x}")
        if self.byte() != 0x0B:
            sys.exit("describe: constant expression of more than one instruction")


def sections(wasm):
    if wasm[:8] != b"\0asm\1\0\0\0":
        sys.exit("describe: not a WebAssembly module of version 1")
    r, found = Reader(wasm), {}
    r.at = 8
    while r.at < len(wasm):
        kind, size = r.byte(), r.u32()
        if kind:
            found[kind] = wasm[r.at : r.at + size]
        else:
            # "name" would be a custom section; it slows the engine down.
            if Reader(wasm[r.at : r.at + size]).name() == "name":
                sys.exit("describe: the module still has a name section")
        r.at += size
    return found


def imports(section):
    r, found, kinds = Reader(section), [], []
    for _ in range(r.u32()):
        module, name, kind = r.name(), r.name(), r.byte()
        if kind != 0:
            sys.exit(f"describe: import of a {KINDS[kind]}: {module}.{name}")
        r.u32()
        found.append((module, name))
    return found


def mutable_globals(section):
    r, found = Reader(section), []
    for i in range(r.u32()):
        r.byte()
        if r.byte():
            found.append(i)
        r.const_expr()
    return found


def exports(section):
    r, found = Reader(section), {}
    for _ in range(r.u32()):
        name, kind, index = r.name(), r.byte(), r.u32()
        found[name] = KINDS[kind], index
    return found


def check(wasm, wanted_exports):
    parts = sections(wasm)
    for module, name in imports(parts[2]):
        if module != "wasi_snapshot_preview1" and (module, name) not in HOST_IMPORTS:
            sys.exit(f"describe: import that the engine does not have: {module}.{name}")
    exported = exports(parts[7])
    if sorted(exported) != wanted_exports:
        sys.exit(f"describe: exports are {sorted(exported)}, exports.txt has {wanted_exports}")
    if mutable_globals(parts[6]) != [exported["__stack_pointer"][1]]:
        sys.exit("describe: there are mutable globals besides __stack_pointer")
    if 8 in parts:
        sys.exit("describe: the module has a start function")
    return Reader(parts[3]).u32()


def digest(path):
    data = pathlib.Path(path).read_bytes()
    return {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}


def settings(path):
    lines = pathlib.Path(path).read_text().splitlines()
    pairs = (line.split("=", 1) for line in lines if "=" in line and not line.startswith(("#", "export")))
    return {key: value.strip('"') for key, value in pairs}


def main(recipe, base, stdlib, *rest):
    recipe, base, stdlib = map(pathlib.Path, (recipe, base, stdlib))
    options = dict(item.split("=", 1) for item in rest)
    versions = settings(recipe / "versions.env")
    wasm = pathlib.Path("python.wasm").read_bytes()
    functions = check(wasm, (recipe / "exports.txt").read_text().split())
    inputs = [line.split() for line in (recipe / "SHA256SUMS").read_text().splitlines()]
    info = {
        "name": "python",
        "language": "Python",
        "version": versions["LANGUAGE_VERSION"],
        "module": digest("python.wasm"),
        "compressed": digest("python.wasm.zst"),
        "functions": functions,
        "build": options["build"],
        "optimised": options["optimised"] == "1",
        "toolchain": options["toolchain"].splitlines() + [f"binaryen {versions['BINARYEN_VERSION']}"],
        "components": {
            "CPython": versions["PYTHON_SOURCE"],
            "SQLite": versions["SQLITE_SOURCE"],
            "bzip2": versions["BZIP2_VERSION"],
            "tzdata": versions["TZDATA_VERSION"],
            "wasi-libc": versions["WASI_LIBC_VERSION"],
            "xz": versions["XZ_VERSION"],
            "zlib": versions["ZLIB_VERSION"],
        },
        "flags": {k: v for k, v in options.items() if k.startswith("CFLAGS_") or k in ("LDFLAGS", "WASM_OPT")},
        "native_modules": (base / "modules.txt").read_text().split(),
        "frozen_modules": [line.split()[0] for line in (stdlib / "stdlib.idx").read_text().splitlines()],
        "time_zones": len((stdlib / "zones.idx").read_text().splitlines()),
        "inputs": [{"file": path, "sha256": sha} for sha, path in inputs],
    }
    pathlib.Path("python.json").write_text(json.dumps(info, indent=1) + "\n")
    print(f"{functions} functions, {info['module']['bytes']} bytes, {info['compressed']['bytes']} compressed")


if __name__ == "__main__":
    main(*sys.argv[1:])
