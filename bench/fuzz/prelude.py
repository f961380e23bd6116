Done = type("Done", (Exception,), {})


def show(v, depth=6):
    """The value as text that does not hang on addresses, hashes or word size."""
    if v is None or isinstance(v, (bool, int, float, complex, str, bytes, bytearray)):
        return type(v).__name__ + ":" + repr(v)
    if depth == 0:
        return "..."
    if isinstance(v, (list, tuple)) or type(v).__name__ == 'deque':
        return type(v).__name__ + "[" + ", ".join(show(x, depth - 1) for x in v) + "]"
    if isinstance(v, dict):
        return type(v).__name__ + "{" + ", ".join(show(k, depth - 1) + "=" + show(x, depth - 1) for k, x in v.items()) + "}"
    if isinstance(v, (set, frozenset)):
        return type(v).__name__ + "{" + ", ".join(sorted(show(x, depth - 1) for x in v)) + "}"
    # Messages hang on the size of a word.
    if isinstance(v, BaseException):
        return type(v).__name__
    if isinstance(v, (range, slice)) or type(v).__module__ in ("decimal", "fractions", "datetime"):
        return repr(v)
    return "<" + type(v).__name__ + ">"


def order(v):
    """What can be iterated, in an order that does not hang on hashes."""
    if isinstance(v, (set, frozenset)):
        return sorted(v, key=show)
    got = []
    for x in v:
        got.append(x)
        if len(got) == 50:
            break
    return got


def fmt(v, f):
    return format(v, f) if isinstance(v, (int, float, complex, str)) else format(show(v), f)


def at(i):
    """i, unless it fits into the index of one word size and not of another."""
    return i if not isinstance(i, int) or -2**31 <= i < 2**31 else None


def few(n):
    return range(n % 7) if isinstance(n, int) else range(len(n) % 7)


def small(v):
    """v, unless it has grown so much that the program would take long."""
    if isinstance(v, int) and v.bit_length() > 2000:
        return v % 1000003
    if isinstance(v, (str, bytes, list, tuple)) and len(v) > 2000:
        return v[:100]
    return v


def times(a, b):
    for x, y in ((a, b), (b, a)):
        if isinstance(y, int) and not isinstance(x, (int, float, complex)):
            return a * b if -50 < y < 50 else Done
    return small(a * b)


def power(a, b):
    if isinstance(b, int) and isinstance(a, (int, float)):
        return small(a ** (b % 12 if isinstance(a, int) else b % 4))
    return a ** 2


def shift(a, b):
    return small(a << (b % 70 if isinstance(b, int) else b))


def tree(n, f):
    return [tree(n - 1, f), f(n)] if n > 0 else f(0)


class Point:
    count = 0

    def __init__(self, x, y=0):
        self.x, self.y = x, y
        Point.count += 1

    def __add__(self, other):
        return Point(self.x + other.x, self.y)

    def __eq__(self, other):
        return isinstance(other, Point) and (self.x, self.y) == (other.x, other.y)

    def __hash__(self):
        return 7

    def __lt__(self, other):
        return show(self.x) < show(other.x)

    def __getitem__(self, i):
        return (self.x, self.y)[i]

    def __len__(self):
        return 2

    def __call__(self, v):
        return (self.x, v)

    def __getattr__(self, name):
        return name + "?"

    @property
    def size(self):
        return abs(self.x)


def numbers(n):
    total = 0
    for i in few(n):
        got = yield total
        total += i if got is None else got
    return total


