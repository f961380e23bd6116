"""The small fixed world that user code sees."""

import _sitebuiltins
import builtins
import os
import sys


def install():
    # What site adds for people; models write exit() in scripts, too.
    for name in ("exit", "quit"):
        setattr(builtins, name, _sitebuiltins.Quitter(name, ""))
    builtins.help = _sitebuiltins._Helper()
    os.chdir("/tmp")
    os.environ.clear()
    os.environ.update({"HOME": "/tmp", "LANG": "C.UTF-8", "TMPDIR": "/tmp", "TZ": "UTC"})
    sys.argv[:] = ["main.py"]
    sys.path[:] = []
