"""Brings the interpreter into the state that the image keeps."""

import _imp
import builtins
import importlib
import sys

# What nearly every program imports. Here an import costs nothing per call.
COMMON = """
abc argparse array ast asyncio base64 binascii bisect builtins calendar cmath codecs collections collections.abc
colorsys concurrent.futures concurrent.futures.thread configparser contextlib contextvars copy csv dataclasses datetime
decimal difflib dis email email.message enum errno fnmatch fractions functools gc getpass glob graphlib hashlib heapq
hmac html html.parser importlib.util inspect io ipaddress itertools json keyword linecache locale logging logging.handlers
marshal math numbers operator os os.path pathlib pickle platform pprint queue random re reprlib sched secrets select
selectors shelve shlex shutil signal socket sqlite3 stat statistics string stringprep struct subprocess sys tempfile
textwrap threading time timeit token tokenize tomllib traceback types typing unicodedata unittest unittest.mock
urllib.error urllib.parse urllib.request uuid warnings weakref xml.dom.minidom xml.etree.ElementTree zipfile zlib zoneinfo
bz2 lzma gzip tarfile
_pylong _strptime _pydatetime encodings.idna encodings.latin_1 encodings.ascii encodings.utf_16 encodings.utf_8_sig
encodings.unicode_escape encodings.raw_unicode_escape encodings.cp1252 encodings.cp437
""".split()

# User code may replace any builtin; the bootstrap keeps the ones it began with.
BUILTINS = dict(builtins.__dict__)


def load(name):
    """Runs a frozen module in a namespace that no import can reach."""
    namespace = {"__name__": name, "__builtins__": BUILTINS}
    exec(_imp.get_frozen_object(name), namespace)
    return namespace


def prepare():
    """Imports, replaces what cannot work here, and gives the shim its functions and what to
    run before the snapshot."""
    packages = load("_mayfly.packages")
    packages["install"]()
    for name in COMMON + packages["common"]():
        importlib.import_module(name)
    load("_mayfly.world")["install"]()
    load("_mayfly.doors")["install"]()
    load("_mayfly.missing")["install"]()
    loop = load("_mayfly.loop")
    loop["install"]()
    values = load("_mayfly.values")
    traceback = load("traceback")
    errors = load("_mayfly.errors")
    errors["install"](traceback)
    course = load("_mayfly.course")
    course["install"](errors["set_name"])
    importlib.import_module("mayfly")
    for name in [name for name in sys.modules if name.partition(".")[0] == "_mayfly"]:
        del sys.modules[name]
    return (
        values["convert"], errors["describe"], loop["drive"], course["rename"], course["finish"],
        load("_mayfly.warm")["SAMPLES"],
    )
