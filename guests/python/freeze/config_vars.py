"""Writes what sysconfig reads for this platform: config_vars.py PYCONFIG_H OUT.

The real file holds the variables of CPython's Makefile too. They describe a
compiler and an installation, neither of which a guest has.
"""

import pathlib
import sys
import sysconfig

FACTS = {"TEST_MODULES": "no"}  # base.sh, --disable-test-modules


def main(header, out):
    with open(header, encoding="utf-8") as file:
        facts = sysconfig.parse_config_h(file) | FACTS
    lines = [f"    {name!r}: {facts[name]!r},\n" for name in sorted(facts)]
    pathlib.Path(out).write_text("build_time_vars = {\n" + "".join(lines) + "}\n", encoding="utf-8")


main(*sys.argv[1:])
