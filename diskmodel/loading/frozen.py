"""Frozen dataclasses that are made in a quarter of the time.

`dataclasses` compiles six methods for each class, one after another. A command loads a hundred classes before it does
anything, and uses most of these methods never. Here a class gets an `__init__` of its own, and shares all others.
"""

from __future__ import annotations

import abc
import dataclasses
import inspect
from dataclasses import MISSING, FrozenInstanceError
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass as dataclass
else:

    def dataclass(*, frozen: bool, eq: bool = True, kw_only: bool = False) -> Callable[[type], type]:
        """Make a class a dataclass as `dataclasses.dataclass` does, which knows the options."""
        assert frozen, "use that of `dataclasses`"
        return lambda made: _made(made, eq=eq, kw_only=kw_only)


@dataclasses.dataclass(frozen=True)
class _Usual:
    """What any frozen dataclass has: `dataclasses` looks for these in ours."""

    field: None = None


_PARAMS, _A_FIELD = _Usual.__dataclass_params__, _Usual.__dataclass_fields__["field"]._field_type  # type: ignore[attr-defined]


class _New:
    """What a field without a value is given that is made anew each time."""

    def __repr__(self) -> str:
        return "<factory>"


_NEW = _New()


def _made(made: type, *, eq: bool, kw_only: bool) -> type:
    """Return a class with its fields, and the methods that it does not have itself."""
    fields: dict[str, dataclasses.Field[Any]] = {}
    for base in made.__mro__[:0:-1]:
        found = base.__dict__.get("__dataclass_fields__", {}).items()
        fields |= {name: field for name, field in found if field._field_type is _A_FIELD}
    own = made.__dict__
    for name, kind in inspect.get_annotations(made).items():
        if not (kind.startswith("ClassVar") if isinstance(kind, str) else "ClassVar" in repr(kind)):
            fields[name] = _field(made, name, kind, kw_only=kw_only)
    given = [field for field in fields.values() if field.init]
    first, last = ([f for f in given if f.kw_only is by_name] for by_name in (False, True))
    methods = {
        "__dataclass_fields__": fields,
        "__dataclass_params__": _PARAMS,
        "__match_args__": tuple(field.name for field in first),
        "__repr__": _repr,
        "__init__": _init(made, fields, first, last),
    }
    if eq:
        compared = tuple(name for name, field in fields.items() if field.compare)
        methods |= {"_compared": _values_of(compared), "__eq__": _eq}
        if "__hash__" not in own or (own["__hash__"] is None and "__eq__" in own):
            made.__hash__ = _hash  # type: ignore[method-assign, assignment]
    for name, method in methods.items():
        if name not in own:
            setattr(made, name, method)
    made.__setattr__, made.__delattr__ = _set, _delete  # type: ignore[method-assign, assignment]
    abc.update_abstractmethods(made)
    return made


def _field(made: type, name: str, kind: Any, *, kw_only: bool) -> dataclasses.Field[Any]:
    """Return a field of a class, which has its default afterwards, or nothing of that name."""
    value = made.__dict__.get(name, MISSING)
    field: Any = value if isinstance(value, dataclasses.Field) else dataclasses.field(default=value)
    if type(field.default).__hash__ is None:
        raise ValueError(f"{made.__name__}.{name}: use a default_factory for a value that can change")
    field.name, field.type, field._field_type = name, kind, _A_FIELD
    field.kw_only = kw_only if field.kw_only is MISSING else field.kw_only
    if field is value:
        if field.default is MISSING:
            delattr(made, name)
        else:
            setattr(made, name, field.default)
    return field  # type: ignore[no-any-return]


def _init(made: type, fields: dict[str, Any], first: list[Any], last: list[Any]) -> Any:
    """Return the `__init__` of a class: the fields by position, then those by name only."""
    names: dict[str, Any] = {"_NEW": _NEW}
    lines = ["_values = self.__dict__"]
    for name, field in fields.items():
        value = name
        if field.default_factory is not MISSING:
            names[f"_of_{name}"] = field.default_factory
            value = f"_of_{name}() if {name} is _NEW else {name}" if field.init else f"_of_{name}()"
        elif field.default is not MISSING:
            names[f"_of_{name}"] = field.default
        if value != name or field.init:
            lines.append(f"_values['{name}'] = {value}")
    if hasattr(made, "__post_init__"):
        lines.append("self.__post_init__()")
    parts = ["self", *map(_parameter, first), *(["*"] if last else []), *map(_parameter, last)]
    text = f"def __init__({', '.join(parts)}):\n " + "\n ".join(lines)
    exec(text, names)
    init: Any = names["__init__"]
    init.__module__, init.__qualname__ = made.__module__, f"{made.__qualname__}.__init__"
    init.__annotations__ = {field.name: field.type for field in (*first, *last)} | {"return": None}
    return init


def _parameter(field: Any) -> str:
    if field.default_factory is not MISSING:
        return f"{field.name}=_NEW"
    return field.name if field.default is MISSING else f"{field.name}=_of_{field.name}"


def _values_of(names: tuple[str, ...]) -> Any:
    """Return what returns attributes of these names as a tuple."""
    if len(names) > 1:
        return staticmethod(attrgetter(*names))
    return staticmethod(lambda one: tuple(getattr(one, name) for name in names))


def _eq(self: Any, other: Any) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    return self._compared(self) == self._compared(other)


def _hash(self: Any) -> int:
    return hash(self._compared(self))


@recursive_repr()
def _repr(self: Any) -> str:
    shown = (field.name for field in self.__dataclass_fields__.values() if field.repr)
    return f"{self.__class__.__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"


def _set(self: object, name: str, value: object) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _delete(self: object, name: str) -> NoReturn:
    raise FrozenInstanceError(f"cannot delete field {name!r}")
