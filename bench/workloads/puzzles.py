"""Small algorithms: nested lists, dynamic programming, backtracking, generators."""

from itertools import permutations


def matmul(a, b):
    columns = list(zip(*b))
    return [[sum(x * y for x, y in zip(row, column)) for column in columns] for row in a]


def queens(n):
    solutions = 0
    columns, rising, falling = set(), set(), set()

    def place(row):
        nonlocal solutions
        if row == n:
            solutions += 1
            return
        for col in range(n):
            if col in columns or row + col in rising or row - col in falling:
                continue
            columns.add(col)
            rising.add(row + col)
            falling.add(row - col)
            place(row + 1)
            columns.discard(col)
            rising.discard(row + col)
            falling.discard(row - col)

    place(0)
    return solutions


def common_subsequence(a, b):
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            if a[i - 1] == b[j - 1]:
                table[i][j] = table[i - 1][j - 1] + 1
            else:
                table[i][j] = max(table[i - 1][j], table[i][j - 1])
    return table[-1][-1]


def knapsack(items, capacity):
    best = [0] * (capacity + 1)
    for weight, value in items:
        for room in range(capacity, weight - 1, -1):
            candidate = best[room - weight] + value
            if candidate > best[room]:
                best[room] = candidate
    return best[capacity]


def life(size, generations):
    cells = {(x, y) for x in range(size) for y in range(size) if (x * 3 + y * 5) % 7 < 2}
    for _ in range(generations):
        neighbours = {}
        for x, y in cells:
            for dx in (-1, 0, 1):
                for dy in (-1, 0, 1):
                    if dx or dy:
                        key = ((x + dx) % size, (y + dy) % size)
                        neighbours[key] = neighbours.get(key, 0) + 1
        cells = {k for k, n in neighbours.items() if n == 3 or (n == 2 and k in cells)}
    return len(cells)


def pythagorean(limit):
    for a in range(1, limit):
        for b in range(a, limit):
            c = int((a * a + b * b) ** 0.5)
            if c < limit and c * c == a * a + b * b:
                yield a, b, c


def main():
    size = 90
    a = [[(i * j) % 10 for j in range(size)] for i in range(size)]
    b = [[(i + j) % 10 for j in range(size)] for i in range(size)]
    product = matmul(a, b)
    text = "acgtgacctgatgcca" * 32
    items = [(i % 23 + 1, (i * 31) % 97 + 1) for i in range(60)]
    return [
        sum(map(sum, product)),
        queens(8),
        common_subsequence(text, text[::-1]),
        knapsack(items, 3000),
        life(32, 20),
        sum(1 for _ in pythagorean(450)),
        sum(1 for p in permutations(range(8)) if all(p[i] != i for i in range(8))),
    ]


main()
