"""Function calls: recursion, default and keyword arguments, closures, helpers."""

from functools import lru_cache


def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)


def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


def clamp(value, low=0, high=255):
    return max(low, min(high, value))


def blend(a, b, *, weight=0.5, offset=0):
    return clamp(int(a * weight + b * (1 - weight)) + offset)


def make_counter(step=1):
    total = 0

    def add(n):
        nonlocal total
        total += n * step
        return total

    return add


def apply_all(functions, value):
    for function in functions:
        value = function(value)
    return value


@lru_cache(maxsize=None)
def ways(amount, coins):
    if amount == 0:
        return 1
    if amount < 0 or not coins:
        return 0
    return ways(amount - coins[0], coins) + ways(amount, coins[1:])


def average(*values, **options):
    digits = options.get("digits", 2)
    return round(sum(values) / len(values), digits)


def main():
    blended = 0
    for i in range(80_000):
        blended += blend(i % 256, (i * 7) % 256, weight=0.25, offset=i % 3)
    counter = make_counter(step=3)
    for i in range(100_000):
        last = counter(i)
    pipeline = [lambda x: x + 1, lambda x: x * 2, lambda x: x - 3, abs]
    piped = sum(apply_all(pipeline, i) for i in range(60_000))
    averages = sum(average(i, i + 1, i + 2, digits=1) for i in range(30_000))
    return [
        fib(26),
        ackermann(2, 90),
        blended,
        last,
        piped,
        averages,
        ways(1500, (200, 100, 50, 20, 10, 5, 2, 1)),
    ]


main()
