"""What the guest does while it is profiled; runs inside it, in a directory with train/ and lib/test."""

import contextlib
import io
import os
import sys
import time
import unittest

# How often each script of train/ runs; once is enough for the counts, more
# makes what models write weigh more than CPython's own tests.
ROUNDS = 3


def run(path):
    with open(path, encoding="utf-8") as file:
        code = compile(file.read(), path, "exec")
    for _ in range(ROUNDS):
        with contextlib.redirect_stdout(io.StringIO()):
            exec(code, {"__name__": "train"})


def run_test(name):
    """One of the tests that CPython itself is profiled with; failing ones count as well."""
    suite = unittest.defaultTestLoader.loadTestsFromName("test." + name)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return unittest.TextTestRunner(stream=io.StringIO()).run(suite)


def report(name, start, note=""):
    sys.stdout.write(f"{name} {time.time() - start:.1f} s{note}\n")
    sys.stdout.flush()


for script in sorted(os.listdir("/train")):
    start = time.time()
    run("/train/" + script)
    report(script, start)

sys.path.append("/lib")
os.chdir("/tmp")
for test in os.environ.get("TESTS", "").split():
    start = time.time()
    try:
        result = run_test(test)
    except BaseException as error:
        report(test, start, f": {error!r}")
    else:
        report(test, start, f": {result.testsRun} run, {len(result.failures) + len(result.errors)} failed, {len(result.skipped)} skipped")
