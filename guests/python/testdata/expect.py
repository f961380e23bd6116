"""Computes natively what scripts must give in the guest.

    expect.py PACKAGES.TSV INPUTS SCRIPT.py...

Each script's value, that of its last expression, is written to SCRIPT.json
beside it. The packages are those that the guest has, as Debian ships them,
without the guest's edits and with their parts in C, unpacked from the build's
cache. Python is whatever runs this; `make expect` takes Debian's own of the
guest's version.

A script finds the variables that rows.py beside it makes, if there is one.
"""

import ast
import importlib.metadata
import json
import pathlib
import subprocess
import sys
import tempfile


def value_of(path, variables):
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    last = tree.body.pop()
    if not isinstance(last, ast.Expr):
        sys.exit(f"expect: {path} does not end in an expression")
    variables = dict(variables, __name__="__main__")
    exec(compile(tree, str(path), "exec"), variables)
    return eval(compile(ast.Expression(last.value), str(path), "eval"), variables)


def written(value):
    """JSON text of a value, which must survive it: what is compared is data."""
    text = json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False, sort_keys=True)
    return text + "\n"


def main(listed, inputs, *scripts):
    with tempfile.TemporaryDirectory() as temp:
        for line in pathlib.Path(listed).read_text(encoding="utf-8").splitlines():
            if line and not line.startswith("#"):
                digest, file = line.split("\t")[:2]
                deb = pathlib.Path(inputs, digest, file.rpartition("/")[2])
                subprocess.run(["dpkg-deb", "-x", deb, temp], check=True)
        sys.path.append(temp + "/usr/lib/python3/dist-packages")
        # Two that the guest does without: jsonschema and pygal want them.
        sys.path.append(str(pathlib.Path(listed).with_name("own")))
        sys.modules["importlib_metadata"] = importlib.metadata
        made = {}
        for script in map(pathlib.Path, scripts):
            source = script.with_name("rows.py")
            if script == source:
                continue
            if source not in made:
                made[source] = value_of(source, {}) if source.exists() else {}
            # Each script gets data of its own, as it would in a call.
            variables = json.loads(json.dumps(made[source]))
            script.with_suffix(".json").write_text(written(value_of(script, variables)), encoding="utf-8")
            print(script)


if __name__ == "__main__":
    main(*sys.argv[1:])
