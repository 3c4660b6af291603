"""What is made when it is first used, so that a command pays for what it needs and no more."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass", "pattern"]

if TYPE_CHECKING:
    from dataclasses import dataclass
    from re import compile as pattern
else:

    class pattern:
        """A regular expression that is compiled when it is first asked for something."""

        def __init__(self, text, flags=0):
            self._how = text, flags

        def __getattr__(self, name):
            """Return what the compiled expression has of that name."""
            found = getattr(re.compile(*self._how), name)
            setattr(self, name, found)
            return found

    def dataclass(cls=None, /, *, eq=True, frozen=False, kw_only=False):
        """Make a class as `dataclasses.dataclass` does, whose `__init__` is compiled when an object is first made.

        The standard decorator compiles up to six methods of each class from text. For the records of this project that
        took a third of the time of `import diskmodel.simulate`, and most are never made in a command. Here the other
        methods are closures. To that decorator such a class is not frozen: one that is derived from it uses this one.
        """
        if cls is None:
            return lambda cls: dataclass(cls, eq=eq, frozen=frozen, kw_only=kw_only)
        own = set(vars(cls))
        # "__eq__" alone sets "__hash__" to None
        own -= {"__hash__"} if "__eq__" in own and cls.__hash__ is None else set()
        cls = dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=kw_only)(cls)
        methods = {"__init__": _init(cls, frozen), "__repr__": _repr}
        if eq:
            methods |= _comparison(cls, frozen)
        if frozen:
            methods |= _refusals(cls)
        for name, method in methods.items():
            if name not in own:
                setattr(cls, name, method)
        return cls


def _init(cls: Any, frozen: bool) -> Callable[..., None]:
    """Return an `__init__` that compiles the one that takes its place, and calls that."""

    def __init__(self: Any, *args: Any, **named: Any) -> None:
        cls.__init__ = written = _compiled(cls, "_set(self, {0!r}, {1})" if frozen else "self.{0} = {1}")
        written(self, *args, **named)

    return __init__


def _compiled(cls: Any, assignment: str) -> Callable[..., None]:
    """Return the `__init__` of a class from text, as the standard library writes it."""
    given: list[str] = []
    by_name: list[str] = []
    body: list[str] = []
    known: dict[str, Any] = {"_set": object.__setattr__, "_absent": object()}
    for field in dataclasses.fields(cls):
        name, parameter, value = field.name, field.name, field.name
        if field.default is not dataclasses.MISSING:
            known[f"_of_{name}"] = field.default
            parameter = f"{name}=_of_{name}"
        elif field.default_factory is not dataclasses.MISSING:
            known[f"_of_{name}"] = field.default_factory
            parameter = f"{name}=_absent"
            value = f"_of_{name}() if {name} is _absent else {name}" if field.init else f"_of_{name}()"
        elif not field.init:
            continue
        if field.init:
            (by_name if field.kw_only else given).append(parameter)
        if field.init or value != name:
            body.append(assignment.format(name, value))
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    parameters = ", ".join(["self", *given, *(["*", *by_name] if by_name else [])])
    exec("\n    ".join([f"def __init__({parameters}):", *(body or ["pass"])]), known)
    written: Callable[..., None] = known["__init__"]
    written.__qualname__ = f"{cls.__qualname__}.__init__"
    return written


@recursive_repr()
def _repr(self: Any) -> str:
    shown = (f"{field.name}={getattr(self, field.name)!r}" for field in dataclasses.fields(self) if field.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _comparison(cls: Any, frozen: bool) -> dict[str, Any]:
    """Return what compares objects by their fields, and a hash of these where they stay as they are."""
    names = [field.name for field in dataclasses.fields(cls) if field.compare]
    get: Callable[[Any], Any] = (
        attrgetter(*names) if len(names) > 1 else lambda self: tuple(getattr(self, name) for name in names)
    )

    def __eq__(self: Any, other: object) -> Any:
        return get(self) == get(other) if type(other) is type(self) else NotImplemented

    def __hash__(self: Any) -> int:
        return hash(get(self))

    return {"__eq__": __eq__, "__hash__": __hash__ if frozen else None}


def _refusals(cls: Any) -> dict[str, Any]:
    """Return what keeps the fields of an object as they were when it was made."""
    names = frozenset(field.name for field in dataclasses.fields(cls))

    def __setattr__(self: object, name: str, value: Any) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        object.__setattr__(self, name, value)

    def __delattr__(self: object, name: str) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        object.__delattr__(self, name)

    return {"__setattr__": __setattr__, "__delattr__": __delattr__}
