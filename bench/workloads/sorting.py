"""Lists: sort, search, heaps, and the algorithms that people write by hand."""

import bisect
import heapq
import random


def quicksort(items):
    if len(items) <= 1:
        return items
    pivot = items[len(items) // 2]
    left = [x for x in items if x < pivot]
    middle = [x for x in items if x == pivot]
    right = [x for x in items if x > pivot]
    return quicksort(left) + middle + quicksort(right)


def merge_sort(items):
    if len(items) <= 1:
        return items
    half = len(items) // 2
    left, right = merge_sort(items[:half]), merge_sort(items[half:])
    merged, i, j = [], 0, 0
    while i < len(left) and j < len(right):
        if left[i] <= right[j]:
            merged.append(left[i])
            i += 1
        else:
            merged.append(right[j])
            j += 1
    merged.extend(left[i:])
    merged.extend(right[j:])
    return merged


def bubble_sort(items):
    items = list(items)
    n = len(items)
    for i in range(n):
        for j in range(n - i - 1):
            if items[j] > items[j + 1]:
                items[j], items[j + 1] = items[j + 1], items[j]
    return items


def dijkstra(size):
    graph = {
        n: [((n * 3 + 1) % size, n % 7 + 1), ((n * 5 + 2) % size, n % 11 + 2), ((n + 1) % size, 9)]
        for n in range(size)
    }
    distance = {0: 0}
    queue = [(0, 0)]
    while queue:
        d, node = heapq.heappop(queue)
        if d > distance[node]:
            continue
        for other, weight in graph[node]:
            candidate = d + weight
            if candidate < distance.get(other, 1 << 60):
                distance[other] = candidate
                heapq.heappush(queue, (candidate, other))
    return sum(distance.values())


def main():
    rng = random.Random(7)
    numbers = [rng.randrange(1_000_000) for _ in range(30_000)]
    records = [(rng.random(), f"name{n % 5000:04d}", n % 17) for n in numbers]
    by_number = sorted(numbers)
    by_name = sorted(records, key=lambda r: (r[1], -r[2]))
    by_length = sorted((str(n) for n in numbers), key=len, reverse=True)
    plain = sorted(records)
    positions = [bisect.bisect_left(by_number, n) for n in range(0, 1_000_000, 50)]
    assert quicksort(numbers) == by_number
    assert merge_sort(numbers[:20_000]) == sorted(numbers[:20_000])
    assert bubble_sort(numbers[:400]) == sorted(numbers[:400])
    return [
        by_number[15_000],
        by_name[100][1:],
        by_length[0],
        plain[5][1],
        sum(positions),
        heapq.nlargest(3, numbers),
        dijkstra(12_000),
    ]


main()
