import attr
import attrs


@attrs.define(order=True)
class Item:
    price: float = attrs.field(converter=float, validator=attrs.validators.ge(0))
    name: str = "none"
    tags: list = attrs.field(factory=list, eq=False)


@attr.s(auto_attribs=True, frozen=True)
class Point:
    x: int
    y: int = 2


def refused(make):
    try:
        make()
    except (ValueError, attrs.exceptions.FrozenInstanceError) as e:
        return type(e).__name__


items = [Item("3.5", "b"), Item(1, "a", ["x"]), Item(3.5, "a")]
[
    attrs.asdict(max(items)), [item.name for item in sorted(items)], repr(Point(1)), attr.astuple(Point(3)),
    refused(lambda: Item(-1)), refused(lambda: setattr(Point(1), "x", 2)), repr(attrs.evolve(items[1], price=9)),
]
