"""Drives from plain data: the list of all kinds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from pydantic import Field

from diskmodel.drive.cached.description import CachedVolume
from diskmodel.drive.cluster.description import ClusterPool
from diskmodel.drive.members import MEMBERS, AnyMember
from diskmodel.errors import DescriptionError, Fault

#: Descriptions of all kinds, by the `kind` that decides; what is a volume as a whole is added here and in the union
#: below, what arrays are made of in `members.py`.
KINDS: Mapping[str, Any] = {
    **MEMBERS,
    "cluster": ClusterPool,
    "cached": CachedVolume,
}

Drive = Annotated[
    AnyMember
    | ClusterPool
    | CachedVolume,
    Field(discriminator="kind"),
]  # fmt: skip
"""A drive: `kind` (a key of `KINDS`) decides which it is."""


def parse_drive(data: Mapping[str, Any], source: str = "") -> Drive:
    """Return the drive in plain data; its `kind` (a key of `KINDS`) decides which.

    Raises
    ------
    DescriptionError
        With every fault.
    """
    kind = data.get("kind")
    if isinstance(kind, str) and kind in KINDS:
        drive: Drive = KINDS[kind].parse(data, source)
        return drive
    *others, last = (f'"{name}"' for name in KINDS)
    rule = f"must be {', '.join(others)} or {last}"
    raise DescriptionError(Fault("kind", kind, rule, "say which kind of drive this is"), source)


def volume_of_words(words: str, of_array: Callable[[str], Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return the fields of the volume of some kind that words describe as a whole; None where they describe none."""
    found = (kind.of_words(words, of_array) for kind in KINDS.values())
    return next((fields for fields in found if fields is not None), None)


def planners() -> list[str]:
    """Return the functions that plan what is no array of drives (`Card.planned_by`)."""
    return list(dict.fromkeys(kind.planned_by for kind in KINDS.values() if kind.planned_by))


def system_around(data: Mapping[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """Return the key that puts an array into a system, and the fields of that system; None without such a key."""
    found = (kind for kind in KINDS.values() if kind.array_key and kind.array_key in data)
    return next(((kind.array_key, kind.of_array(data)) for kind in found), None)


def bought_in(part: str) -> dict[str, Any]:
    """Return what a part of the words of an array says is bought of its drives; nothing where it says none of that."""
    return next(filter(None, (kind.bought_in(part) for kind in MEMBERS.values())), {})


def bought_by_name(name: str, is_bought: Callable[[str], bool]) -> tuple[str, dict[str, Any]]:
    """Return a drive's name, and what the name itself says is bought of it: "aws-gp2-500GB".

    Parameters
    ----------
    name : str
    is_bought : callable
        Whether anything is bought by the piece of the drive of a name.
    """
    found = (kind.bought_by_name(name) for kind in MEMBERS.values())
    return next(((plain, own) for plain, own in filter(None, found) if is_bought(plain)), (name, {}))


def with_members(value: Any, load: Callable[[str], Any]) -> Any:
    """Return the fields of a drive with the drives that it names; anything else as it is.

    Parameters
    ----------
    value : any
    load : callable
        Returns the drive of a name.
    """
    if not isinstance(value, Mapping) or value.get("kind") not in KINDS:
        return value
    found = dict(value)
    for path in KINDS[value["kind"]].members:
        part, _, name = path.rpartition(".")
        own = found.get(part) if part else found
        if not isinstance(own, Mapping) or not isinstance(own.get(name), str):
            continue
        if part:
            found[part] = {**own, name: load(own[name])}
        else:
            found[name] = load(own[name])
    return found if found != value else value
