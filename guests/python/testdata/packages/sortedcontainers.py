from sortedcontainers import SortedDict, SortedKeyList, SortedList, SortedSet

times = SortedList([5, 1, 9, 3])
times.add(4)
prices = SortedDict({"b": 2, "a": 1, "c": 3})
[
    list(times), times.bisect_left(4), list(times.irange(3, 5)), times[-1], list(prices), prices.peekitem(0), prices.bisect("b"),
    list(SortedSet("hello") & SortedSet("world")), list(SortedKeyList(["ccc", "a", "bb"], key=len)),
]
