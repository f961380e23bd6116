"""Says what is there instead of a module that is not."""

import sys

TABLES = "for tables use sql() of the module mayfly over lists of dicts, or collections, statistics, itertools, csv or sqlite3"
NUMBERS = "for numbers use math, statistics, fractions, decimal, random or array"
NETWORK = "there is no network either: what a program needs must be in its arguments"
SYSTEM = "processes, devices and terminals do not exist here"

INSTEAD = {
    **dict.fromkeys("pandas polars pyarrow dask modin duckdb openpyxl xlrd xlsxwriter".split(), TABLES),
    **dict.fromkeys("numpy scipy sympy numba cupy mpmath statsmodels networkx".split(), NUMBERS),
    **dict.fromkeys(
        "sklearn torch tensorflow keras jax xgboost lightgbm transformers".split(),
        "models cannot be trained or run here; " + NUMBERS,
    ),
    **dict.fromkeys(
        "matplotlib seaborn plotly bokeh altair PIL cv2 tkinter turtle curses".split(),
        "write a figure as SVG text and hand it back with artifact() of the module mayfly",
    ),
    **dict.fromkeys(
        "requests httpx aiohttp urllib3 boto3 paramiko websockets selenium playwright bs4 lxml openai anthropic ssl _ssl"
        .split(),
        NETWORK,
    ),
    **dict.fromkeys(
        "pip setuptools wheel ensurepip venv pkg_resources".split(), "packages cannot be installed here"
    ),
    **dict.fromkeys("ctypes _ctypes cffi mmap".split(), "native code cannot be reached from here"),
    **dict.fromkeys(
        "psutil resource fcntl termios tty pty pwd grp syslog readline winreg msvcrt _posixsubprocess".split(), SYSTEM
    ),
    "yaml": "use json, tomllib or configparser",
    "toml": "use tomllib",
    "pytz": "use zoneinfo or dateutil.tz",
    "pytest": "use unittest",
    "pydantic": "use dataclasses",
    "attr": "use dataclasses",
    "attrs": "use dataclasses",
    "tqdm": "print the progress",
    "dotenv": "there is no environment here",
    "psycopg2": "use sqlite3",
    "sqlalchemy": "use sqlite3",
}
PREFERENCES = {"bs4": "use html.parser", "lxml": "use xml.etree.ElementTree"}


class Finder:
    """The last of sys.meta_path: whatever gets here is not to be had."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        # importlib.util.find_spec() asks politely and must be told None.
        asker = sys._getframe(2).f_code.co_name
        if asker != "_find_and_load_unlocked" or "." in name:
            return None
        sentence = PREFERENCES.get(name) or INSTEAD.get(name)
        if sentence is None:
            # One of our own, or a module that a program adds by itself.
            sentence = "importlib.metadata.distributions() lists what is here besides the standard library"
        raise ModuleNotFoundError(
            f"No module named {name!r}, and it cannot be installed; {sentence}", name=name
        )


def install():
    sys.meta_path.append(Finder)
