"""Runs one module of CPython's own tests, inside the guest.

Bound by the host: module, its name; done, the names of tests to leave out
because an earlier instance has run them or died in them; replaced, modules that
are to seem to be there. Whatever happens is told to the host as it happens, so
that nothing is lost when a test takes the interpreter down.
"""

import importlib
import os
import random
import sys
import threading
import types
import unittest
import warnings

from mayfly import call_tool

MESSAGE = 1500

# C modules that exist for CPython's own tests, and are no part of a guest.
TEST_ONLY = ("_testcapi", "_testinternalcapi", "_testlimitedcapi", "_testbuffer", "_testsinglephase", "_testmultiphase")


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
        if isinstance(error[1], ImportError) and error[1].name in TEST_ONLY:
            self.note(test, "skipped", f"needs {error[1].name}, which exists for tests only")
        else:
            self.note(test, "failed", self._exc_info_to_string(error, test))

    addFailure = addError

    def addSubTest(self, test, subtest, error):
        if error is not None:
            self.addError(test, error)

    def addSkip(self, test, reason):
        self.note(test, "skipped", str(reason))
        if "exists for tests only" in str(reason) and isinstance(test, unittest.TestCase):
            try:
                test.tearDown()  # what setUp began before it came to a StandIn
            except Exception:
                pass

    def addExpectedFailure(self, test, error):
        self.note(test, "passed")

    def addUnexpectedSuccess(self, test):
        self.note(test, "failed", "unexpected success")

    def addDuration(self, test, elapsed):
        pass


class StandIn(types.ModuleType):
    """A C module that exists for tests only, and not here.

    Some files of tests import one first of all, and would be lost for the few
    tests that need it. With this in its place they load, and those few tests
    are skipped when they reach for it.
    """

    loading = True

    @property
    def __spec__(self):
        return None if StandIn.loading else absent(self.__name__)

    @__spec__.setter
    def __spec__(self, spec):
        pass

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if name == "get_config":
            return lambda: {"code_debug_ranges": True}  # test.support asks
        return Absent(self.__name__) if StandIn.loading else absent(self.__name__)


class Absent:
    """What a StandIn has while files are loaded."""

    def __init__(self, name):
        self.name = name

    def __call__(self, *args, **kwargs):
        return None if StandIn.loading else absent(self.name)


def absent(name):
    raise unittest.SkipTest(f"needs {name}, which exists for tests only")


def prepare():
    """What CPython's own test runner does for its tests, as far as there is something to do."""
    sys.path.insert(0, "/mnt/Lib")
    for name in replaced:
        sys.modules[name] = StandIn(name)
    from test import support
    from test.support import os_helper

    support.use_resources = {}
    support.verbose = 0
    support.record_original_stdout(sys.stdout)
    report = threading.excepthook
    threading.excepthook = lambda args: report(args)  # a Python function, tests find
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
        outcome = "skipped" if isinstance(error, ImportError) and error.name in TEST_ONLY else "failed"
        call_tool("module", outcome=outcome, reason=text(f"import: {type(error).__name__}: {error}"))
        return None
    loader = unittest.TestLoader()
    suite = loader.loadTestsFromModule(tests)
    names = {}
    plan(suite, names, set(done))
    call_tool("plan", names=list(names))
    StandIn.loading = False
    return suite


def run():
    prepare()
    suite = load()
    if suite is not None:
        deeper(6, suite.run, Result())
        call_tool("finished")


def deeper(frames, function, argument):
    """Calls a function from as deep a stack as CPython's own runner does; some tests count."""
    if frames:
        return deeper(frames - 1, function, argument)
    return function(argument)


run()
