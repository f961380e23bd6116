import toolz
from toolz import curried

rows = [{"r": "n", "u": 3}, {"r": "s", "u": 1}, {"r": "n", "u": 2}]
[
    {k: len(v) for k, v in toolz.groupby("r", rows).items()}, toolz.reduceby("r", lambda total, row: total + row["u"], rows, 0),
    toolz.pipe(range(5), curried.map(lambda n: n * n), curried.filter(lambda n: n % 2), list), toolz.merge_with(sum, {"a": 1}, {"a": 2, "b": 3}),
    list(toolz.partition_all(2, [1, 2, 3])), toolz.get_in(["a", 0, "b"], {"a": [{"b": 7}]}), list(toolz.sliding_window(2, "abc")), toolz.frequencies("hello"),
    sorted(map(list, toolz.join("r", rows, "k", [{"k": "n", "x": 9}]) and [[1]])), toolz.assoc({"a": 1}, "b", 2), toolz.compose(len, str)(12345),
]
