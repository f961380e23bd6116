"""Programs that are run once while the image is made.

They leave nothing behind but what CPython learns by running them: bytecode
specialised in place, attribute caches, compiled patterns. A call would have to
learn it again, in pages of the image that it would have to copy.

None of them may change what a program can see: no asyncio (tasks are
numbered), no logging (it configures itself), no random numbers.
"""

SAMPLES = (
    "1+1",
    "print(end='')\nx = [1, 2.5, 'text', None, True, {'a': (1, 2)}]\nx",
    """
import json, re, math, statistics, collections, itertools, functools, csv, io, datetime, string, textwrap
from collections import Counter, defaultdict, deque, namedtuple
from dataclasses import dataclass, field, asdict
from enum import Enum

class Color(Enum):
    RED = "red"
    BLUE = "blue"

@dataclass
class Item:
    name: str
    price: float = 0.0
    tags: list[str] = field(default_factory=list)

    @property
    def label(self):
        return f"{self.name:>10}: {self.price:,.2f}"

class Shop:
    def __init__(self):
        self.items = {}

    def add(self, item):
        if item.name in self.items:
            raise KeyError(item.name)
        self.items[item.name] = item
        return self

    def __len__(self):
        return len(self.items)

    def __iter__(self):
        yield from self.items.values()

Point = namedtuple("Point", "x y")
shop = Shop()
for n in range(12):
    shop.add(Item(f"item-{n}", n * 1.5, ["a", "b"][: n % 3]))
try:
    shop.add(Item("item-1"))
except KeyError as e:
    caught = str(e)
groups = defaultdict(list)
for item in shop:
    groups[len(item.tags)].append(item.price)
ranked = sorted(shop, key=lambda i: (-i.price, i.name))
words = re.findall(r"\\w+", "the quick brown fox jumps over the lazy dog the end")
text = json.dumps({"rows": [asdict(i) for i in ranked], "n": 1, "f": 1.5, "s": "é"}, indent=2, sort_keys=True)
back = json.loads(text)
reader = list(csv.DictReader(io.StringIO("a,b\\n1,2\\n3,4\\n")))
stats = {
    "mean": statistics.mean([1, 2, 3, 4]), "median": statistics.median([1, 5, 2]), "stdev": statistics.stdev([1, 2, 4]),
    "sum": sum(x * x for x in range(10)), "sqrt": math.sqrt(2), "max": max(groups, key=lambda k: len(groups[k])),
}
day = datetime.datetime(2024, 2, 29, 12, 30) + datetime.timedelta(days=1, hours=3)
parsed = datetime.datetime.strptime("2024-03-01 10:20", "%Y-%m-%d %H:%M")
joined = ", ".join(f"{w.upper():<6}" for w in words if len(w) > 3).strip().split(",")
total = functools.reduce(lambda a, b: a + b, itertools.chain([1], (2, 3)), 0)
match stats:
    case {"sum": int(s)} if s > 0:
        kind = "positive"
    case _:
        kind = "other"
i = 0
while i < 20:
    i += 1
    if i % 7 == 0:
        continue
matrix = [[row * col for col in range(4)] for row in range(4)]
flipped = [list(r) for r in zip(*matrix)]
print(*[], sep="", end="")
{
    "items": ranked, "groups": groups, "words": Counter(words).most_common(2), "reader": reader, "stats": stats,
    "day": day, "parsed": parsed.isoformat(), "set": {3, 1, 2}, "point": Point(1, 2), "color": Color.RED, "bytes": b"x",
    "joined": joined, "total": total, "kind": kind, "flipped": flipped, "queue": deque([1]), "keys": {1: "a", (1, 2): "b"},
    "wrapped": textwrap.shorten("some text to shorten", 12), "delta": datetime.timedelta(hours=1), "caught": caught,
}
""",
    """
import sqlite3
from decimal import Decimal, localcontext
from fractions import Fraction
db = sqlite3.connect(":memory:")
db.execute("create table t (name text, size integer)")
db.executemany("insert into t values (?, ?)", [("a", 1), ("b", 2), ("a", 3)])
with localcontext():
    money = Decimal("1.10") * 3
[db.execute("select name, sum(size) from t group by name order by 2 desc").fetchall(), money, Fraction(1, 3) + 1]
""",
    "def f(x):\n    return 1 / x\n\ndef g(x):\n    return f(x)\n\ng(0)",
    "try:\n    {}['missing']\nexcept KeyError as e:\n    raise ValueError('wrong') from e",
    "rows = [{'a': 1}]\nprint(row[0]['a'], end='')",
    "'text' + 5",
    "[1].appendd(2)",
    "x = (1,\ny = 2",
    "if True:\nprint('x')",
    "import numpy as np",
    "def f(n):\n    return f(n + 1)\nf(0)",
    "[1, print]",
    "import sys\nsys.exit(0)",
)
