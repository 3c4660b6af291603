"""Drives of a pool that are given by their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

#: Fields of a pool that are drives.
MEMBERS = ("drive", "db")


def with_members(value: Any, load: Callable[[str], Any]) -> Any:
    """Return the fields of a pool with the drives that it names; anything else as it is.

    Parameters
    ----------
    value : any
    load : callable
        Returns the drive of a name.
    """
    if not isinstance(value, Mapping) or value.get("kind") != "cluster":
        return value
    return {**value, **{name: load(value[name]) for name in MEMBERS if isinstance(value.get(name), str)}}
