"""Objects: shapes, inventory, linked list, state machine, operators, protocols."""
import abc
import copy
from collections import namedtuple, OrderedDict, ChainMap
from dataclasses import dataclass, field, asdict, replace
from enum import Enum, IntEnum
from typing import NamedTuple


class Shape(abc.ABC):
    count = 0

    def __init__(self, name):
        self.name = name
        Shape.count += 1

    @abc.abstractmethod
    def area(self): ...

    def describe(self):
        return f"{type(self).__name__}({self.name}): {self.area():.1f}"

    @classmethod
    def unit(cls):
        return cls("unit", 1)

    @staticmethod
    def check(x):
        return x >= 0


class Square(Shape):
    def __init__(self, name, side):
        super().__init__(name)
        self.side = side

    def area(self):
        return self.side * self.side


class Disc(Shape):
    def __init__(self, name, radius):
        super().__init__(name)
        self._radius = radius

    @property
    def radius(self):
        return self._radius

    @radius.setter
    def radius(self, value):
        if not self.check(value):
            raise ValueError("negative")
        self._radius = value

    def area(self):
        return 3.14159 * self.radius ** 2


@dataclass(order=True)
class Item:
    sku: str
    price: float
    stock: int = 0
    tags: list = field(default_factory=list, compare=False)

    @property
    def value(self):
        return self.price * self.stock


@dataclass(frozen=True)
class Point:
    x: int
    y: int

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)


class Money:
    def __init__(self, cents):
        self.cents = cents

    def __add__(self, o): return Money(self.cents + o.cents)
    def __sub__(self, o): return Money(self.cents - o.cents)
    def __mul__(self, k): return Money(self.cents * k)
    def __eq__(self, o): return isinstance(o, Money) and self.cents == o.cents
    def __lt__(self, o): return self.cents < o.cents
    def __hash__(self): return hash(self.cents)
    def __repr__(self): return f"Money({self.cents})"
    def __bool__(self): return self.cents != 0


class Stack:
    __slots__ = ("items", "limit")

    def __init__(self, limit=100):
        self.items = []
        self.limit = limit

    def push(self, x):
        if len(self.items) >= self.limit:
            raise OverflowError
        self.items.append(x)

    def pop(self):
        return self.items.pop()

    def __len__(self): return len(self.items)
    def __iter__(self): return iter(self.items)
    def __contains__(self, x): return x in self.items
    def __getitem__(self, i): return self.items[i]
    def __setitem__(self, i, v): self.items[i] = v


class Cell:
    def __init__(self, value, rest=None):
        self.value, self.rest = value, rest


class Light(Enum):
    RED = 1
    GREEN = 2
    AMBER = 3

    def next(self):
        return {Light.RED: Light.GREEN, Light.GREEN: Light.AMBER, Light.AMBER: Light.RED}[self]


class Level(IntEnum):
    LOW = 1
    HIGH = 5


class Config:
    def __init__(self, **kw):
        self.__dict__.update(kw)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return None


class Queue:
    def __init__(self):
        self.inbox, self.outbox = [], []
        self.served = 0

    def put(self, x):
        self.inbox.append(x)

    def get(self):
        if not self.outbox:
            while self.inbox:
                self.outbox.append(self.inbox.pop())
        self.served += 1
        return self.outbox.pop()


P = namedtuple("P", "name score")


class Row(NamedTuple):
    id: int
    label: str = "-"


out = []
shapes = [Square(f"s{i}", i % 9) if i % 2 else Disc(f"d{i}", i % 5) for i in range(4000)]
out.append(sum(s.area() for s in shapes for _ in range(5)))
out.append(sum(len(s.describe()) for s in shapes))
for s in shapes:
    if isinstance(s, Disc):
        s.radius = s.radius + 1
items = [Item(f"sku{i % 700}", i % 50 + 0.99, i % 30, ["a"] * (i % 3)) for i in range(5000)]
out.append(round(sum(i.value for i in items), 2))
out.append(sorted(items[:1500])[10].sku)
out.append(sum(asdict(i)["stock"] for i in items[:600]))
out.append(replace(items[0], stock=5).stock + copy.deepcopy(items[:150])[3].stock)
points = {Point(i % 40, i % 30): i for i in range(5000)}
p = Point(0, 0)
for i in range(5000):
    p = p + Point(1, i & 1)
out += [len(points), p]
money = [Money(i * 13 % 997) for i in range(4000)]
total = Money(0)
for m in money:
    if m:
        total = total + m * 2 - Money(1)
out += [total, sorted(money)[100], len(set(money))]
stack = Stack(10**6)
for i in range(20000):
    stack.push(i)
    if i % 3 == 0:
        stack.pop()
out.append(sum(stack) + len(stack) + stack[5] + (17 in stack))
lst = None
for i in range(20000):
    lst = Cell(i, lst)
n = 0
while lst is not None:
    n += lst.value
    lst = lst.rest
out.append(n)
light, reds = Light.RED, 0
for _ in range(5000):
    light = light.next()
    reds += light is Light.RED
out += [reds, Level.HIGH > Level.LOW, Light["RED"].value, Light(2).name]
c = Config(a=1, b=2)
out.append(sum((c.a + c.b + (c.zzz is None)) for _ in range(6000)))
q = Queue()
for i in range(20000):
    q.put(i)
    if i % 2:
        q.get()
out.append(q.served)
rows = [Row(i, str(i)) for i in range(4000)]
out.append(sum(r.id + len(r.label) for r in rows) + P("x", 3).score)
od = OrderedDict((i, i) for i in range(2000))
for i in range(0, 2000, 3):
    od.move_to_end(i)
out.append(next(iter(od)))
cm = ChainMap({"a": 1}, {"b": 2})
out.append(sum(cm["b"] for _ in range(500)))
for i in range(3000):
    setattr(c, f"k{i % 20}", getattr(c, "a", 0) + hasattr(c, "_q"))
    type(c), callable(c), isinstance(c, (int, Config)), issubclass(Square, Shape)
print(out)
