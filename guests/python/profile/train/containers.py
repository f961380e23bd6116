"""Dicts, lists, sets, tuples: inverted index, graph search, matrix, caches, joins."""
import bisect
import heapq
import random
import statistics
from collections import Counter, defaultdict, deque

rng = random.Random(99)
out = []
people = [{"id": i, "name": f"p{i % 900}", "dept": f"d{i % 12}", "salary": rng.randint(20, 200) * 100, "skills": ["py", "go", "sql"][: i % 4]} for i in range(9000)]
by_dept = {}
for p in people:
    by_dept.setdefault(p["dept"], []).append(p)
report = {}
for dept, members in sorted(by_dept.items()):
    salaries = [m["salary"] for m in members]
    report[dept] = {"n": len(members), "mean": sum(salaries) / len(salaries), "max": max(salaries), "top": max(members, key=lambda m: m["salary"])["name"]}
out.append(report["d3"])
out.append(statistics.median(p["salary"] for p in people))
out.append(round(statistics.stdev([p["salary"] for p in people[:800]]), 3))
index = defaultdict(set)
for p in people:
    for s in p["skills"]:
        index[s].add(p["id"])
out.append(len(index["py"] & index["go"] - index["sql"]))
lookup = {p["id"]: p for p in people}
orders = [(rng.randrange(10000), rng.randrange(1, 50)) for _ in range(15000)]
joined, missing = 0, 0
for pid, amount in orders:
    p = lookup.get(pid)
    if p is None:
        missing += 1
    elif p["salary"] > 5000:
        joined += amount
out += [joined, missing]
graph = defaultdict(list)
for i in range(9000):
    a, b = rng.randrange(2500), rng.randrange(2500)
    graph[a].append(b)
    graph[b].append(a)
seen, todo = {0}, deque([0])
while todo:
    n = todo.popleft()
    for m in graph[n]:
        if m not in seen:
            seen.add(m)
            todo.append(m)
out.append(len(seen))
def dfs(n, visited):
    visited.add(n)
    for m in graph[n]:
        if m not in visited and len(visited) < 600:
            dfs(m, visited)
    return len(visited)
out.append(dfs(1, set()))
n = 40
m = [[(i * j) % 7 + (i == j) for j in range(n)] for i in range(n)]
t = [[m[j][i] for j in range(n)] for i in range(n)]
r = [[0] * n for _ in range(n)]
for i in range(n):
    for j in range(n):
        s = 0
        for k in range(n):
            s += m[i][k] * t[k][j]
        r[i][j] = s
out.append(sum(r[i][i] for i in range(n)))
data = [rng.random() for _ in range(12000)]
data.sort()
data.sort(reverse=True)
out.append(data.index(max(data)))
mixed = [(rng.randrange(100), f"k{rng.randrange(500)}", rng.random()) for _ in range(8000)]
mixed.sort(key=lambda x: (x[0], x[1]))
out.append(sorted(mixed, key=lambda x: x[2])[0][0])
out.append(sorted(str(x[0]) + x[1] for x in mixed)[5])
def insertion(a):
    for i in range(1, len(a)):
        x, j = a[i], i - 1
        while j >= 0 and a[j] > x:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = x
    return a
out.append(insertion([rng.randrange(1000) for _ in range(350)])[7])
def binary(a, x):
    lo, hi = 0, len(a)
    while lo < hi:
        mid = (lo + hi) // 2
        if a[mid] < x:
            lo = mid + 1
        else:
            hi = mid
    return lo
ordered = list(range(0, 40000, 3))
out.append(sum(binary(ordered, x) + bisect.bisect(ordered, x) for x in range(0, 40000, 9)))
heap = []
for i in range(12000):
    heapq.heappush(heap, (rng.randrange(10000), i))
out.append([heapq.heappop(heap) for _ in range(9000)][-1][0])
words = [f"w{rng.randrange(3000)}" for _ in range(25000)]
c = Counter(words)
out.append(c.most_common(2)[0][1] + (c + Counter(words[:100]))["w1"])
fresh = list(dict.fromkeys(words))
out.append(len(fresh))
d = {}
for i in range(30000):
    d[i % 5000] = i
    if i % 3 == 0 and (i + 1) % 5000 in d:
        del d[(i + 1) % 5000]
out.append(sum(v for k, v in d.items() if k % 2) + len({v: k for k, v in d.items()}))
grid = [[0] * 60 for _ in range(60)]
for y in range(60):
    for x in range(60):
        grid[y][x] = (x ^ y) & 15
out.append(sum(1 for y in range(1, 59) for x in range(1, 59) if grid[y][x] > max(grid[y - 1][x], grid[y + 1][x], grid[y][x - 1], grid[y][x + 1])))
memo = {}
def paths(x, y):
    if x == 0 or y == 0:
        return 1
    if (x, y) not in memo:
        memo[x, y] = paths(x - 1, y) + paths(x, y - 1)
    return memo[x, y]
out.append(paths(90, 90) % 1009)
lst = []
for i in range(20000):
    lst.append(i)
    lst[-1] += 1
    if len(lst) > 500:
        lst.pop(0) if i % 97 == 0 else lst.pop()
lst.extend(range(100)); lst.insert(3, 7); lst.reverse(); lst.remove(7)
out.append(sum(lst[10:200:3]) + lst.count(9))
s = set(range(0, 9000, 2)); s2 = frozenset(range(0, 9000, 3))
out.append(len(s | s2) + len(s ^ s2) + (s <= s2) + sum(1 for x in range(9000) if x in s and x not in s2))
tri = [[1]]
for _ in range(120):
    row = tri[-1]
    tri.append([1] + [row[i] + row[i + 1] for i in range(len(row) - 1)] + [1])
out.append(tri[100][50] % 1000003)
queue = deque(range(1000))
for i in range(20000):
    queue.rotate(3); queue.append(queue.popleft())
out.append(queue[0])
pairs = {(a, b): a * b for a in range(120) for b in range(120)}
out.append(sum(pairs[k] for k in pairs if k[0] < k[1]))
transposed = list(zip(*[[1, 2, 3]] * 3000))
out.append(len(transposed[0]) + sum(a for a, *_ in ([i, i, i] for i in range(6000))))
copy_ = [dict(p) for p in people[:2000]]
for p in copy_:
    p.update(bonus=p.pop("salary") * 0.1)
    {**p, "z": 1}
out.append(round(sum(p["bonus"] for p in copy_)) + len(list(reversed(copy_))))
rng.shuffle(fresh)
out += [rng.choice(fresh), rng.sample(range(10**6), 5), round(rng.gauss(0, 1), 4), rng.uniform(1, 2) > 1]
print(out)
