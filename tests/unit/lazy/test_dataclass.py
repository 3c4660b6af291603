"""Classes whose methods are made late behave like those of the standard library."""

import dataclasses
import pickle
from typing import Any, ClassVar

import pytest

from diskmodel.lazy import dataclass


def made(decorator: Any) -> tuple[Any, Any]:
    """Return a frozen class with fields of all kinds, and one derived from it, made by a decorator."""

    class Base:
        a: int
        b: list[int] = dataclasses.field(default_factory=list)
        c: str = dataclasses.field(default="c", repr=False, compare=False)
        shared: ClassVar[int] = 3

        def __post_init__(self) -> None:
            object.__setattr__(self, "total", self.a + len(self.b))

    base = decorator(frozen=True)(Base)

    class Derived(base):  # type: ignore[misc, valid-type]
        d: float = 0.5
        e: int = dataclasses.field(default=7, kw_only=True)

    return base, decorator(frozen=True)(Derived)


BOTH = [made(decorator) for decorator in (dataclass, dataclasses.dataclass)]


@pytest.mark.parametrize("words", [{"a": 1}, {"a": 1, "b": [2]}, {}, {"a": 1, "f": 2}])
@pytest.mark.parametrize("which", [0, 1])
def test_objects_are_as_those_of_the_standard_library(which: int, words: dict[str, Any]) -> None:
    found = []
    for kinds in BOTH:
        try:
            one = kinds[which](**words)
            same = dataclasses.replace(one)
            unlike = one != dataclasses.replace(one, a=9)
            found.append((repr(one), vars(one), one == same, unlike, kinds[which].__match_args__))
        except TypeError as error:
            found.append((str(error), {}, False, False, ()))
    assert found[0] == found[1]


def test_a_frozen_object_stays_as_it_is_and_has_a_hash() -> None:
    for _, derived in BOTH:
        one = derived(1, (), "x", e=2)
        assert hash(one) == hash((1, (), 0.5, 2))
        for change, words in ((setattr, ("a", 2)), (delattr, ("d",)), (setattr, ("new", 2))):
            with pytest.raises(dataclasses.FrozenInstanceError):
                change(one, *words)


@dataclass
class Plain:
    """One that changes."""

    a: int
    b: int = 2


def test_others_change_and_have_none() -> None:
    one = Plain(1)
    assert pickle.loads(pickle.dumps(one)) == one
    one.b = 5
    assert one == Plain(1, 5)
    with pytest.raises(TypeError, match="unhashable"):
        hash(one)
