import typing_extensions as t


class Movie(t.TypedDict, total=False):
    name: t.Required[str]
    year: int


class Named(t.Protocol):
    name: str


@t.runtime_checkable
class Sized(t.Protocol):
    def __len__(self) -> int: ...


[sorted(Movie.__required_keys__), isinstance([], Sized), isinstance(1, Sized), t.get_args(t.Literal["a", "b"]), t.is_typeddict(Movie)]
