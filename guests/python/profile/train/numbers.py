"""Arithmetic in loops: ints small and big, floats, bit tricks."""
import math
import cmath


def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


def is_prime(n):
    if n < 4:
        return n > 1
    if n % 2 == 0:
        return False
    f = 3
    while f * f <= n:
        if n % f == 0:
            return False
        f += 2
    return True


def nbody(steps):
    bodies = [[0.0, 0.0, 0.0, 0.0, 40.0], [5.0, 0.0, 0.0, 2.7, 0.1], [0.0, 9.0, -2.0, 0.0, 0.3], [-14.0, 1.0, 0.1, -1.6, 0.7]]
    for _ in range(steps):
        for i, a in enumerate(bodies):
            for b in bodies[i + 1:]:
                dx = a[0] - b[0]
                dy = a[1] - b[1]
                force = 0.001 / (dx * dx + dy * dy) ** 1.5
                a[2] -= dx * b[4] * force
                a[3] -= dy * b[4] * force
                b[2] += dx * a[4] * force
                b[3] += dy * a[4] * force
        for b in bodies:
            b[0] += 0.001 * b[2]
            b[1] += 0.001 * b[3]
    return bodies[1][0]


def fannkuch(n):
    perm, best = list(range(n)), 0
    count = [0] * n
    i = 1
    while i < n:
        if count[i] < i:
            j = count[i] if i & 1 else 0
            perm[i], perm[j] = perm[j], perm[i]
            p, flips = perm[:], 0
            while p[0]:
                k = p[0] + 1
                p[:k] = p[k - 1::-1] if k < n else p[::-1]
                flips += 1
                if flips > 60:
                    break
            best = flips if flips > best else best
            count[i] += 1
            i = 1
        else:
            count[i] = 0
            i += 1
    return best


def integrate(f, a, b, n):
    h = (b - a) / n
    total = 0.5 * (f(a) + f(b))
    for i in range(1, n):
        total += f(a + i * h)
    return total * h


def popcount(n):
    bits = 0
    while n:
        bits += n & 1
        n >>= 1
    return bits


x = 12345
seen = 0
for _ in range(60000):
    x = (x * 1664525 + 1013904223) & 0xFFFFFFFF
    x ^= x >> 7
    if x & 0x10 or x % 3 == 1:
        seen += 1
out = [sum(gcd(i, 360) for i in range(1, 20000)), sum(1 for n in range(30000) if is_prime(n)), nbody(2500), fannkuch(7)]
out.append(integrate(math.sin, 0, math.pi, 40000) + integrate(lambda t: t * t - 2 * t + math.sqrt(t), 0, 3, 40000))
out.append(sum(popcount(i) for i in range(20000)))
big = 1
for i in range(1, 900):
    big *= i
out.append(len(str(big)))
a, b = 0, 1
for i in range(3000):
    a, b = b, a + b
out += [a % 10**9, pow(7, 10**6, 10**9 + 7), divmod(big, a)[1] % 97, big // 10**500 % 1000, int(str(big)[:400]) >> 30]
out.append(round(sum(abs(cmath.exp(1j * i / 50)) for i in range(3000)), 6))
temperature = [15 + 10 * math.sin(i / 58) + (i * 37 % 11) / 3 for i in range(20000)]
mean = sum(temperature) / len(temperature)
var = sum((t - mean) ** 2 for t in temperature) / (len(temperature) - 1)
smooth, level = [], temperature[0]
for t in temperature:
    level = 0.9 * level + 0.1 * t
    smooth.append(level)
out += [round(var ** 0.5, 4), min(smooth), max(smooth), [round(t, 1) for t in temperature[:5000]][7]]
i = 0
while True:
    i += 1
    if i % 2:
        continue
    if i > 50000:
        break
print(seen, out)
