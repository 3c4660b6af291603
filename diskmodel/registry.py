"""Names that a description may use, read from a registry: a `dict` from name to what it stands for.

A registry is the one list of a choice (schedulers, RAID levels, address patterns, arrival laws). Descriptions, both
engines, the tests, the lab and the documentation read it, so that adding a choice means adding it there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticKnownError, core_schema


class OneOf:
    """Annotation of a `str` field whose value must be a name of a registry.

    Parameters
    ----------
    names : callable
        Returns the names that are allowed. It is called at each validation, so that a name that is registered later is
        accepted, too.

    Examples
    --------
    >>> from typing import Annotated
    >>> from pydantic import TypeAdapter
    >>> registry = {"a": 1}
    >>> adapter = TypeAdapter(Annotated[str, OneOf(registry.keys)])
    >>> registry["b"] = 2
    >>> adapter.validate_python("b")
    'b'
    """

    def __init__(self, names: Callable[[], Iterable[str]]) -> None:
        self.names = names

    def _check(self, value: Any) -> str:
        names = tuple(self.names())
        if isinstance(value, str) and value in names:
            return value
        *others, last = (repr(name) for name in names)
        expected = f"{', '.join(others)} or {last}" if others else last
        raise PydanticKnownError("literal_error", {"expected": expected})

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self._check)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"type": "string", "enum": list(self.names())}
