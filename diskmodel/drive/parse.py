"""Drives from plain data: the list of all kinds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from pydantic import Field

from diskmodel.drive.cached.description import CachedVolume
from diskmodel.drive.cloud.description import CloudVolume
from diskmodel.drive.cluster.description import ClusterPool
from diskmodel.drive.flash.description import Flash
from diskmodel.drive.hdd import Hdd
from diskmodel.drive.virtual.description import Virtual
from diskmodel.errors import DescriptionError, Fault

#: Descriptions of all kinds, by the `kind` that decides; a kind is added here and in the union below.
KINDS: Mapping[str, Any] = {
    "hdd": Hdd,
    "flash": Flash,
    "virtual": Virtual,
    "cloud": CloudVolume,
    "cluster": ClusterPool,
    "cached": CachedVolume,
}

Drive = Annotated[
    Hdd
    | Flash
    | Virtual
    | CloudVolume
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


def planner_of(words: str) -> str:
    """Return which function plans the volumes that words describe without their drives; "" where they describe none."""
    return next((kind.planned_by for kind in KINDS.values() if kind.is_scheme(words)), "")


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
