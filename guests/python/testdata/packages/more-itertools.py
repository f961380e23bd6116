import more_itertools as mit

[
    list(mit.chunked(range(7), 3)), list(map(list, mit.windowed([1, 2, 3, 4], 2))), {k: sorted(v) for k, v in mit.map_reduce(["ab", "c", "de"], len).items()},
    [list(g) for g in mit.consecutive_groups([1, 2, 3, 10, 11, 15], lambda x: x)] , list(mit.flatten([[1], [2, 3]])),
    mit.first([], "none"), list(mit.interleave_longest([1, 2, 3], "ab")), list(mit.split_when([1, 2, 4, 3, 5], lambda a, b: b < a)),
    [list(p) for p in mit.partition(lambda x: x % 2, range(6))], mit.nth_or_last("abc", 9), list(mit.running_median([5, 1, 3])) if hasattr(mit, "running_median") else None,
]
