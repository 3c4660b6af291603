"""Where a drive's description comes from, and which class it belongs to."""

from __future__ import annotations

from typing import Literal

from diskmodel.array import Array
from diskmodel.drive import Drive

#: "exact": as described, by the user's word; "sheet": from a data sheet, a class, or nobody says where; "fitted": to
#: figures of programs like fio; "measured": by this project's micro-benchmark or from a trace of requests.
Origin = Literal["exact", "sheet", "fitted", "measured"]

#: Kinds of evidence (`provenance.evidence`) that measure single requests.
_SINGLE_REQUESTS = ("measurement", "trace")


def origin_of(drive: Drive) -> Origin:
    """Return where a drive's description comes from."""
    if drive.exact:
        return "exact"
    evidence = drive.provenance.get("evidence")
    if not evidence and drive.uncertainty is None:
        return "sheet"
    kinds = {str(item.get("kind", "")) for item in evidence or ()}
    is_fitted = kinds and not any(word in kind for kind in kinds for word in _SINGLE_REQUESTS)
    return "fitted" if is_fitted else "measured"


def class_of(drive: Drive) -> str:
    """Return the class whose spread a drive has that is known from its sheet.

    A drive that stands for its kind, as those whose names begin with "generic", may be any of that kind: more is open.

    Examples
    --------
    >>> from diskmodel.drive import load_drive
    >>> class_of(load_drive("seagate-exos-x18"))
    'hdd-nearline-sata'
    >>> class_of(load_drive("generic-15k"))
    'hdd-any'
    """
    return drive.spread_class


def array_class(array: Array) -> str:
    """Return the class of an array as a whole; that of its drive for a disk on its own."""
    # of one that was measured more is known than of its class
    has_cache = array.has_controller_cache and not array.controller.is_measured
    if not array.drive.has_arms:
        if has_cache:
            return "flash-behind-controller"
        return class_of(array.drive) if array.layout.disks == 1 else "array-md-flash"
    if has_cache:
        return "array-hw-hdd"
    return class_of(array.drive) if array.layout.disks == 1 else "array-md-hdd"
