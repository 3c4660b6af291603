"""Frozen dataclasses that share their methods: as those of the standard library in all that a record is used for."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from dataclasses import field, replace
from functools import cached_property
from typing import Any, ClassVar

import pytest

from diskmodel.loading import frozen

#: Both decorators: the same classes are made by each.
DECORATORS: dict[str, Callable[..., Any]] = {"own": frozen.dataclass, "usual": dataclasses.dataclass}


def classes(dataclass: Callable[..., Any]) -> dict[str, Any]:
    """Return classes by name, with all that records of diskmodel have."""

    @dataclass(frozen=True)
    class Point:
        """A place."""

        x: int
        y: int = 2
        #: Not a field.
        unit: ClassVar[str] = "mm"

        @cached_property
        def length(self) -> int:
            return self.x + self.y

    @dataclass(frozen=True)
    class Named(Point):
        """A subclass with what is made anew, hidden, not compared, and not given."""

        name: str = "a"
        parts: list[int] = field(default_factory=list)
        note: str = field(default="", repr=False, compare=False)
        total: int = field(init=False, default=0)
        made: dict[str, int] = field(init=False, default_factory=dict, compare=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "total", self.x + self.y)

    @dataclass(frozen=True, eq=False)
    class Unlike(Point):
        """A subclass that leaves comparing to what it inherits."""

        z: int = 3

    @dataclass(frozen=True, kw_only=True)
    class Keys(Point):
        """A subclass whose fields have to be named."""

        key: str
        more: int = field(default=1, kw_only=False)

    @dataclass(frozen=True)
    class Own:
        """A class with methods of its own."""

        value: int

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Own)

        def __repr__(self) -> str:
            return "own"

    @dataclass(frozen=True)
    class Names:
        """Names that are used inside, too."""

        own: int
        values: int = 1
        made: int = 2
        field: int = 3
        names: int = 4

    @dataclass(frozen=True)
    class Nothing:
        """A class without fields."""

    return {made.__name__: made for made in (Point, Named, Unlike, Keys, Own, Names, Nothing)}


OWN, USUAL = (classes(dataclass) for dataclass in DECORATORS.values())
CALLS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("Point", (1,), {}),
    ("Point", (1, 3), {}),
    ("Point", (), {"y": 3, "x": 1}),
    ("Named", (1,), {}),
    ("Named", (1, 2, "b", [1], "note"), {}),
    ("Named", (1, 2, "b"), {"parts": [1], "note": "other"}),
    ("Unlike", (1, 2, 3), {}),
    ("Unlike", (1, 2, 4), {}),
    ("Keys", (1,), {"key": "k"}),
    ("Keys", (1, 2, 5), {"key": "k"}),
    ("Own", (1,), {}),
    ("Own", (2,), {}),
    ("Names", (0, 1), {"field": 5}),
    ("Nothing", (), {}),
]


def outcome(call: Callable[[], Any]) -> Any:
    """Return what a call returns, or its error; a record as its text."""
    try:
        found = call()
    except (TypeError, AttributeError, ValueError) as error:
        return type(error), str(error)
    return repr(found) if dataclasses.is_dataclass(found) else found


@pytest.mark.parametrize("name", OWN)
def test_classes_are_described_as_usual(name: str) -> None:
    own, usual = OWN[name], USUAL[name]
    described = [[(f.name, f.type, f.init, f.kw_only, f.compare) for f in dataclasses.fields(c)] for c in (own, usual)]
    assert described[0] == described[1]
    assert str(inspect.signature(own)) == str(inspect.signature(usual))
    assert own.__match_args__ == usual.__match_args__
    assert own.__dataclass_params__.frozen


@pytest.mark.parametrize(("name", "args", "fields"), CALLS, ids=str)
def test_records_are_as_usual(name: str, args: tuple[Any, ...], fields: dict[str, Any]) -> None:
    own, usual = OWN[name](*args, **fields), USUAL[name](*args, **fields)
    assert repr(own) == repr(usual)
    assert vars(own) == vars(usual)
    assert dataclasses.asdict(own) == dataclasses.asdict(usual)
    assert outcome(lambda: hash(own) == hash(copy.copy(own))) == outcome(lambda: hash(usual) == hash(copy.copy(usual)))
    for change in ({"x": 9}, {"note": "n"}, {"total": 1}, {"key": "z"}, {"none": 1}, {}):
        changed = [outcome(lambda one=one, change=change: replace(one, **change)) for one in (own, usual)]
        assert changed[0] == changed[1]
    for deed in (lambda one: setattr(one, "x", 1), lambda one: delattr(one, "x")):
        with pytest.raises(dataclasses.FrozenInstanceError, match="field 'x'"):
            deed(own)


def test_comparisons_are_as_usual() -> None:
    own = [OWN[name](*args, **fields) for name, args, fields in CALLS]
    usual = [USUAL[name](*args, **fields) for name, args, fields in CALLS]
    for i, _ in enumerate(CALLS):
        for k, _ in enumerate(CALLS):
            assert (own[i] == own[k]) is (usual[i] == usual[k]), (CALLS[i], CALLS[k])
            assert outcome(lambda i=i, k=k: hash(own[i]) == hash(own[k])) == outcome(
                lambda i=i, k=k: hash(usual[i]) == hash(usual[k])
            )


@pytest.mark.parametrize(("args", "fields"), [((), {}), ((1, 2, 3), {}), ((1,), {"z": 1}), ((1,), {"x": 1})])
def test_wrong_calls_end_as_usual(args: tuple[Any, ...], fields: dict[str, Any]) -> None:
    found = [outcome(lambda made=made: made["Point"](*args, **fields)) for made in (OWN, USUAL)]
    assert found[0] == found[1]
    assert found[0][0] is TypeError


def test_a_usual_dataclass_can_extend_ours_and_ours_a_usual_one() -> None:
    @dataclasses.dataclass(frozen=True)
    class Longer(OWN["Point"]):  # type: ignore[misc]
        z: int = 3

    assert repr(Longer(1)).endswith("Longer(x=1, y=2, z=3)")
    assert Longer(1) == Longer(1) != Longer(2)

    @frozen.dataclass(frozen=True)
    class Later(USUAL["Point"]):  # type: ignore[misc]
        z: int = 3

    assert repr(Later(1)).endswith("Later(x=1, y=2, z=3)")
    assert Later(1) == Later(1) != Later(1, z=4)
    assert hash(Later(1)) == hash(Later(1))


@frozen.dataclass(frozen=True)
class Kept:
    """A record that can be pickled."""

    value: int
    others: tuple[Kept, ...] = ()


def test_records_can_be_kept_and_copied() -> None:
    one = Kept(1, (Kept(2),))
    assert pickle.loads(pickle.dumps(one)) == one == copy.deepcopy(one)
    assert OWN["Named"](1).parts is not OWN["Named"](1).parts
    assert OWN["Point"](1).length == 3


def test_a_default_that_can_change_is_refused() -> None:
    with pytest.raises(ValueError, match="default_factory"):

        @frozen.dataclass(frozen=True)
        class _Wrong:
            parts: list[int] = []  # noqa: RUF012
