"""Says what is there instead of a module that is not."""

import sys

TABLES = "for tables use sql() of the module mayfly over lists of dicts, or petl, agate, collections, statistics or sqlite3"
NUMBERS = "for numbers use math, statistics, fractions, decimal, random, array, mpmath or sympy"
EXCEL = "for Excel files use openpyxl"
CHARTS = "draw charts as SVG with pygal or leather, and hand them back with artifact() of the module mayfly"
NETWORK = "there is no network either: what a program needs must be in its arguments"
SYSTEM = "processes, devices and terminals do not exist here"

INSTEAD = {
    **dict.fromkeys("pandas polars pyarrow dask modin duckdb".split(), TABLES),
    **dict.fromkeys("xlrd xlwt pyxlsb odf".split(), EXCEL),
    **dict.fromkeys("numpy scipy numba cupy statsmodels".split(), NUMBERS),
    **dict.fromkeys(
        "sklearn torch tensorflow keras jax xgboost lightgbm transformers".split(),
        "models cannot be trained or run here; " + NUMBERS,
    ),
    **dict.fromkeys("matplotlib seaborn plotly bokeh altair svgwrite".split(), CHARTS),
    **dict.fromkeys("PIL cv2 tkinter turtle curses".split(), "there is no screen here, and no images but text; " + CHARTS),
    **dict.fromkeys(
        "requests httpx aiohttp urllib3 boto3 paramiko websockets selenium playwright openai anthropic ssl _ssl".split(),
        NETWORK,
    ),
    **dict.fromkeys(
        "pip setuptools wheel ensurepip venv pkg_resources".split(), "packages cannot be installed here"
    ),
    **dict.fromkeys("ctypes _ctypes cffi mmap".split(), "native code cannot be reached from here"),
    **dict.fromkeys(
        "psutil resource fcntl termios tty pty pwd grp syslog readline winreg msvcrt _posixsubprocess".split(), SYSTEM
    ),
    "lxml": "use xml.etree.ElementTree, or bs4 with html5lib",
    "igraph": "for graphs use networkx",
    "toml": "use tomllib",
    "unidecode": "use unicodedata, or text_unidecode",
    "regex": "use re",
    "arrow": "use datetime, zoneinfo and dateutil",
    "pendulum": "use datetime, zoneinfo and dateutil",
    "pytest": "use unittest",
    "pydantic": "use dataclasses or attrs, and jsonschema",
    "tqdm": "print the progress",
    "dotenv": "there is no environment here",
    "psycopg2": "use sqlite3",
    "sqlalchemy": "use sqlite3",
}
UNKNOWN = "importlib.metadata.distributions() lists what is here besides the standard library"


class Finder:
    """The last of sys.meta_path: whatever gets here is not to be had."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        # importlib.util.find_spec() asks politely and must be told None.
        asker = sys._getframe(2).f_code.co_name
        if asker != "_find_and_load_unlocked" or "." in name:
            return None
        sentence = INSTEAD.get(name, UNKNOWN)
        raise ModuleNotFoundError(
            f"No module named {name!r}, and it cannot be installed; {sentence}", name=name
        )


def install():
    # Python leaves frames of the import system out of the traceback of an
    # ImportError; it goes by the file.
    code = Finder.find_spec.__code__.replace(co_filename="<frozen importlib._bootstrap>")
    Finder.find_spec.__code__ = code
    sys.meta_path.append(Finder)
