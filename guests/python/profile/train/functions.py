"""Calls of every shape: recursion, closures, decorators, generators, star arguments, errors."""
import functools
import itertools
import operator


def hanoi(n, a, b, c):
    if n == 0:
        return 0
    return hanoi(n - 1, a, c, b) + 1 + hanoi(n - 1, c, b, a)


def traced(f):
    calls = 0

    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        nonlocal calls
        calls += 1
        return f(*args, **kwargs)

    wrapper.count = lambda: calls
    return wrapper


@traced
def area(w, h=2, *, unit="m", scale=1):
    return w * h * scale


def compose(*fs):
    return functools.reduce(lambda f, g: lambda x: g(f(x)), fs)


def chunks(seq, n):
    for i in range(0, len(seq), n):
        yield seq[i:i + n]


def running(values):
    total = 0
    for v in values:
        total += v
        yield total


def flatten(x):
    if isinstance(x, (list, tuple)):
        for y in x:
            yield from flatten(y)
    else:
        yield x


def echo():
    got = None
    while True:
        got = yield got


def parse_int(text, default=None):
    try:
        return int(text)
    except ValueError:
        return default
    finally:
        text = None


def validate(record):
    if "name" not in record:
        raise KeyError("name")
    if not 0 <= record.get("age", 0) < 150:
        raise ValueError(f"age out of range: {record['age']}")
    return True


class Timer:
    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return exc[0] is ZeroDivisionError


@functools.cache
def partitions(n, m):
    if n == 0:
        return 1
    if m == 0 or n < 0:
        return 0
    return partitions(n - m, m) + partitions(n, m - 1)


def evaluate(node):
    match node:
        case int() | float():
            return node
        case ("+", a, b):
            return evaluate(a) + evaluate(b)
        case ("*", a, b):
            return evaluate(a) * evaluate(b)
        case ("neg", a):
            return -evaluate(a)
        case {"let": value}:
            return evaluate(value)
        case _:
            raise TypeError(node)


out = [hanoi(13, "a", "b", "c")]
for i in range(20000):
    area(i)
    area(i, 3)
    area(w=i, unit="cm", scale=2)
out.append(area.count())
f = compose(lambda x: x + 1, str, len, lambda n: n * 2)
out.append(sum(f(i) for i in range(15000)))
out.append(sum(len(c) for c in chunks(list(range(60000)), 7)))
out.append(list(running(range(20000)))[-1])
nested = [[[i, (i + 1, [i + 2])], i] for i in range(3000)]
out.append(sum(flatten(nested)))
e = echo()
next(e)
out.append(sum(e.send(i) for i in range(20000)))
out.append(sum(parse_int(s, 0) for s in ["12", "x", "7", "", "4e"] * 3000))
bad = 0
for i in range(6000):
    try:
        validate({"name": "n", "age": i % 300} if i % 5 else {"age": 1})
    except KeyError:
        bad += 1
    except ValueError as error:
        bad += len(str(error)) > 0
    with Timer():
        i / (i % 3)
out.append(bad)
out.append(partitions(220, 60))
tree = ("+", ("*", 2, 3), ("+", ("neg", 4), {"let": 5}))
out.append(sum(evaluate(tree) for _ in range(4000)))
acc = [lambda x, k=k: x * k for k in range(10)]
out.append(sum(g(i) for i in range(4000) for g in acc))
out.append(sum(map(operator.mul, range(20000), itertools.cycle((1, 2, 3)))))
out.append(len(list(filter(None, (i % 4 for i in range(20000))))))
out.append(sorted(itertools.combinations(range(14), 3), key=lambda t: (t[2], -t[0]))[5])
out.append(sum(a * b for a, b in zip(range(30000), range(30000, 0, -1))))
out.append(any(x > 29990 for x in range(30000)) and all(isinstance(x, int) for x in range(20000)))
def stats(*values, sep=","):
    lo, *rest = sorted(values)
    return sep.join(map(str, (lo, sum(rest), len(values))))
out.append(len("".join(stats(i, i + 2, 5, sep=";") for i in range(5000))))
args = (3, 4); kw = {"unit": "k"}
for i in range(5000):
    area(*args, **kw)
def depth(n): return 0 if n == 0 else 1 + depth(n - 1)
out.append(sum(depth(200) for _ in range(60)))
print(out)
