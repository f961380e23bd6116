"""sql(): queries over rows, in SQLite.

The shim shows SQLite the Python objects themselves; nothing is copied into a
database. Data is read when sql() is called, so a query sees what a variable
holds at that moment.
"""

import decimal
import fractions
import functools
import re
import sqlite3
import sys

import _mayfly_shim as shim

# Numbers that SQL would round.
INEXACT = (decimal.Decimal, fractions.Fraction)

NO_TABLE = re.compile(r"no such table: (?:main\.|temp\.)?(.+)", re.DOTALL)

SHOWN_ROWS = 20
SHOWN_CELL = 40

database = None


class Table(list):
    """The rows of a query: a list of dicts that prints as a table."""

    __slots__ = ("columns",)
    __module__ = "mayfly"

    def __init__(self, rows=(), columns=()):
        super().__init__(rows)
        self.columns = tuple(columns)

    def column(self, name):
        """The values of one column, as a list."""
        return [row[name] for row in self]

    def __repr__(self):
        return draw(self.columns, self)


def show(value):
    if value is None:
        return "NULL"
    text = value if type(value) is str else repr(value)
    text = text.translate(CONTROLS)
    return text if len(text) <= SHOWN_CELL else text[: SHOWN_CELL - 1] + "…"


CONTROLS = {code: " " for code in (*range(32), *range(127, 160))}


def draw(columns, rows):
    if not columns:
        return "(no rows)"
    head = rows if len(rows) <= SHOWN_ROWS else rows[: SHOWN_ROWS - 1]
    cells = [[show(row.get(name)) for name in columns] for row in head]
    names = [show(name) for name in columns]
    numeric = [
        any(type(row.get(name)) in (int, float) for row in head)
        and all(type(row.get(name)) in (int, float, type(None)) for row in head)
        for name in columns
    ]
    widths = [max(map(len, column)) for column in zip(names, *cells)]

    def line(values):
        return "  ".join(
            value.rjust(width) if right else value.ljust(width) for value, width, right in zip(values, widths, numeric)
        ).rstrip()

    lines = [line(names), line(["-" * width for width in widths]), *map(line, cells)]
    if len(head) < len(rows):
        lines.append(f"… {len(rows)} rows in all")
    elif not rows:
        lines.append("(no rows)")
    return "\n".join(lines)


@functools.lru_cache(maxsize=64)
def compiled(pattern):
    return re.compile(pattern)


def regexp(pattern, text):
    """text REGEXP pattern, with Python's regular expressions."""
    if pattern is None or text is None:
        return None
    return compiled(pattern).search(text if type(text) is str else str(text)) is not None


def regexp_extract(text, pattern, group=0):
    if pattern is None or text is None:
        return None
    match = compiled(pattern).search(text if type(text) is str else str(text))
    return match and match[group]


def regexp_replace(text, pattern, replacement):
    if pattern is None or text is None or replacement is None:
        return None
    return compiled(pattern).sub(replacement, text if type(text) is str else str(text))


def open_database():
    global database
    if database is None:
        # A statement that was kept would still read the tables of its time.
        db = sqlite3.connect(":memory:", isolation_level=None, cached_statements=0)
        shim.sql_prepare(db)
        db.create_function("regexp", 2, regexp, deterministic=True)
        for count in (2, 3):
            db.create_function("regexp_extract", count, regexp_extract, deterministic=True)
        db.create_function("regexp_replace", 3, regexp_replace, deterministic=True)
        database = db
    return database


def bind(db, bound, name, rows):
    if not isinstance(rows, (list, tuple, dict)):
        if isinstance(rows, (str, bytes)) or not hasattr(type(rows), "__iter__"):
            raise TypeError(f"{name} is of type {type(rows).__name__}; a table is a list of dicts")
        rows = list(rows)
    shim.sql_bind(db, name, rows, INEXACT)
    bound.append(name)


def find(frame, name):
    for scope in (frame.f_locals, frame.f_globals):
        if name in scope:
            return scope[name]
    raise NameError(
        f"there is no table and no variable called {name!r}; a query reads variables by their names, and others are "
        f"given as sql(query, {name if name.isidentifier() else 'name'}=rows)"
    )


def sql(query, params=(), /, **tables):
    """Runs one statement of SQL (SQLite's) and returns its rows, a Table.

    Tables are the caller's variables by name: a list of dicts, a list of tuples
    or named tuples, a dict of lists; or what is given by keyword. params are for
    "?" (a list) or ":name" (a dict). Beside SQLite's own functions there are
    median, percentile(x, 0..100), percentile_cont and percentile_disc(x, 0..1),
    stddev, variance (also _pop and _samp), covar_samp, covar_pop, corr(y, x),
    regr_slope, regr_intercept, regr_r2, regr_count (y, x), and x REGEXP pattern,
    regexp_extract(x, pattern, group), regexp_replace(x, pattern, text).

    Booleans are 1 and 0, NaN is NULL, dates and times are ISO text, lists and
    dicts are JSON text. Integers of more than 64 bits, Decimal and Fraction are
    refused, since SQL would round them.
    """
    if type(query) is not str:
        raise TypeError("a query is a str")
    db = open_database()
    bound = []
    try:
        for name, rows in tables.items():
            bind(db, bound, name, rows)
        while True:
            try:
                cursor = db.execute(query, params)
                break
            except sqlite3.OperationalError as error:
                missing = NO_TABLE.fullmatch(str(error))
                if missing is None or missing[1] in bound:
                    raise
                name = missing[1]
            bind(db, bound, name, find(sys._getframe(1), name))
        try:
            columns = tuple(column[0] for column in cursor.description or ())
            rows = cursor.fetchall()
        finally:
            cursor.close()
    finally:
        for name in bound:
            shim.sql_unbind(db, name)
    if len(set(columns)) < len(columns):
        twice = next(name for name in columns if columns.count(name) > 1)
        raise ValueError(f"two columns of the result are called {twice!r}; name them apart with AS")
    return Table(shim.sql_records(columns, rows), columns)


sql.__module__ = "mayfly"
