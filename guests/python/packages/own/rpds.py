"""The part of rpds that jsonschema and referencing use, which elsewhere is
written in Rust: containers that never change, and give a changed copy.

A copy costs as much as it is long. They hold schemas and their names here.
"""

__all__ = ["HashTrieMap", "HashTrieSet", "List"]


class HashTrieMap:
    __slots__ = ("_items",)

    def __init__(self, value=(), **items):
        self._items = dict(value._items if type(value) is HashTrieMap else value, **items)

    @classmethod
    def convert(cls, value):
        return value if isinstance(value, cls) else cls(value)

    @classmethod
    def fromkeys(cls, keys, value=None):
        return cls(dict.fromkeys(keys, value))

    def insert(self, key, value):
        return HashTrieMap({**self._items, key: value})

    def update(self, *others, **items):
        changed = HashTrieMap(self)
        for other in others:
            changed._items.update(other._items if type(other) is HashTrieMap else other)
        changed._items.update(items)
        return changed

    def remove(self, key):
        changed = HashTrieMap(self)
        del changed._items[key]
        return changed

    def discard(self, key):
        return self.remove(key) if key in self._items else self

    def get(self, key, default=None):
        return self._items.get(key, default)

    def keys(self):
        return self._items.keys()

    def values(self):
        return self._items.values()

    def items(self):
        return self._items.items()

    def __getitem__(self, key):
        return self._items[key]

    def __contains__(self, key):
        return key in self._items

    def __iter__(self):
        return iter(self._items)

    def __len__(self):
        return len(self._items)

    def __eq__(self, other):
        return self._items == getattr(other, "_items", other)

    def __hash__(self):
        return hash(frozenset(self._items.items()))

    def __repr__(self):
        return f"HashTrieMap({self._items!r})"


class HashTrieSet(frozenset):
    __slots__ = ()

    def insert(self, item):
        return HashTrieSet(self | {item})

    def update(self, *others):
        return HashTrieSet(self.union(*others))

    def discard(self, item):
        return HashTrieSet(self - {item})

    def remove(self, item):
        if item not in self:
            raise KeyError(item)
        return self.discard(item)


class List(tuple):
    """Its first item is the one that was pushed last."""

    __slots__ = ()

    def __new__(cls, *items):
        only = items[0] if len(items) == 1 and hasattr(items[0], "__iter__") and not isinstance(items[0], str) else items
        return super().__new__(cls, only)

    @property
    def first(self):
        if not self:
            raise IndexError("empty list has no first element")
        return self[0]

    @property
    def rest(self):
        return List(tuple(self[1:]))

    def push_front(self, item):
        return List((item, *self))

    def drop_first(self):
        if not self:
            raise IndexError("empty list has no first element")
        return self.rest
