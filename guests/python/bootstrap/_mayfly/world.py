"""The small fixed world that user code sees."""

import os
import sys


def install():
    os.chdir("/tmp")
    os.environ.clear()
    os.environ.update({"HOME": "/tmp", "LANG": "C.UTF-8", "TMPDIR": "/tmp", "TZ": "UTC"})
    sys.argv[:] = ["main.py"]
    sys.path[:] = []
