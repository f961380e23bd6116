"""Runs one module of CPython's own tests, inside the guest.

Bound by the host: module, its name; done, the names of tests to leave out
because an earlier instance has run them or died in them. Whatever happens is
told to the host as it happens, so that nothing is lost when a test takes the
interpreter down.
"""

import importlib
import os
import random
import sys
import unittest
import warnings

from mayfly import call_tool

MESSAGE = 1500


def text(value, limit=MESSAGE):
    """Text that has a form in JSON, whatever a test put into it: its start and its end."""
    value = value.encode("utf-8", "backslashreplace").decode()
    return value if len(value) <= limit else value[:limit // 3] + " … " + value[-limit * 2 // 3:]


class Result(unittest.TestResult):
    """Tells the host of each test when it starts and how it ended."""

    def __init__(self):
        super().__init__()
        self.outcome = None

    def note(self, test, outcome, reason=""):
        if isinstance(test, unittest.suite._ErrorHolder):
            # It stands for a class or a module that could not be set up.
            call_tool("fixture", name=text(test.id()), outcome=outcome, reason=text(reason))
        elif self.outcome is None or (outcome == "failed" != self.outcome[0]):
            self.outcome = outcome, reason

    def startTest(self, test):
        self.outcome = None
        call_tool("start", name=test.conformance_name)

    def stopTest(self, test):
        outcome, reason = self.outcome or ("failed", "the test ended without an outcome")
        call_tool("end", name=test.conformance_name, outcome=outcome, reason=text(reason))

    def addSuccess(self, test):
        self.note(test, "passed")

    def addError(self, test, error):
        self.note(test, "failed", self._exc_info_to_string(error, test))

    addFailure = addError

    def addSubTest(self, test, subtest, error):
        if error is not None:
            self.note(test, "failed", f"{subtest}: {self._exc_info_to_string(error, test)}")

    def addSkip(self, test, reason):
        self.note(test, "skipped", str(reason))

    def addExpectedFailure(self, test, error):
        self.note(test, "passed")

    def addUnexpectedSuccess(self, test):
        self.note(test, "failed", "unexpected success")

    def addDuration(self, test, elapsed):
        pass


def prepare():
    """What CPython's own test runner does for its tests, as far as there is something to do."""
    sys.path.insert(0, "/mnt/Lib")
    from test import support
    from test.support import os_helper

    support.use_resources = {}
    support.verbose = 0
    support.record_original_stdout(sys.stdout)
    random.seed(1)
    warnings.simplefilter("default")
    directory = "/tmp/test_python_1" + os_helper.FS_NONASCII
    os.mkdir(directory)
    os.chdir(directory)


def plan(suite, names, leave_out):
    """Names every test, and takes out what is to be left out. A name that comes
    again gets a number."""
    kept = []
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            plan(test, names, leave_out)
        else:
            name = base = text(test.id(), 300).replace("\n", " ").removeprefix(f"test.{module}.")
            count = 1
            while name in names:
                count += 1
                name = f"{base} ({count})"
            names[name] = None
            if name in leave_out:
                continue
            test.conformance_name = name
        kept.append(test)
    suite._tests = kept


def load():
    try:
        tests = importlib.import_module("test." + module)
    except unittest.SkipTest as skip:
        call_tool("module", outcome="skipped", reason=text(str(skip)))
        return None
    except Exception as error:
        call_tool("module", outcome="failed", reason=text(f"import: {type(error).__name__}: {error}"))
        return None
    loader = unittest.TestLoader()
    suite = loader.loadTestsFromModule(tests)
    names = {}
    plan(suite, names, set(done))
    call_tool("plan", names=list(names))
    return suite


def run():
    prepare()
    suite = load()
    if suite is not None:
        suite.run(Result())
        call_tool("finished")


run()
