"""Plain loops: integer and float arithmetic on local variables."""


def primes_below(limit):
    sieve = [True] * limit
    sieve[0] = sieve[1] = False
    i = 2
    while i * i < limit:
        if sieve[i]:
            for j in range(i * i, limit, i):
                sieve[j] = False
        i += 1
    count = 0
    for flag in sieve:
        if flag:
            count += 1
    return count


def longest_collatz(limit):
    best, best_start = 0, 1
    for start in range(1, limit):
        n, steps = start, 1
        while n != 1:
            if n % 2 == 0:
                n //= 2
            else:
                n = 3 * n + 1
            steps += 1
        if steps > best:
            best, best_start = steps, start
    return best_start, best


def mandelbrot(width, height, depth):
    inside = 0
    for row in range(height):
        ci = 2.0 * row / height - 1.0
        for col in range(width):
            cr = 3.0 * col / width - 2.0
            x = y = 0.0
            for _ in range(depth):
                x, y = x * x - y * y + cr, 2.0 * x * y + ci
                if x * x + y * y > 4.0:
                    break
            else:
                inside += 1
    return inside


def digit_sums(limit):
    total = 0
    for n in range(limit):
        while n > 0:
            total += n % 10
            n = n // 10
    return total


def main():
    return [
        primes_below(600_000),
        longest_collatz(16_000),
        mandelbrot(120, 80, 60),
        digit_sums(120_000),
    ]


main()
