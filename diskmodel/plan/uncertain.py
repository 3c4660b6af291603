"""Drives whose parameters are known with standard errors only."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from diskmodel.drive import Flash, Hdd, parse_drive
from diskmodel.errors import DescriptionError

#: Standard errors to either side.
SIGMAS = 2.0


def variants(drive: Hdd | Flash) -> Iterator[tuple[str, Hdd | Flash, Hdd | Flash]]:
    """Each uncertain parameter of a calibrated profile, with the drive at two standard errors below and above.

    One parameter at a time; a parameter whose ends are no possible drive is left out.
    """
    if drive.uncertainty is None:
        return
    for index, name in enumerate(drive.uncertainty.names):
        error = math.sqrt(drive.uncertainty.covariance[index][index])
        try:
            yield name, _moved(drive, name, -SIGMAS * error), _moved(drive, name, SIGMAS * error)
        except (DescriptionError, KeyError, TypeError):
            continue


def _moved(drive: Hdd | Flash, name: str, by: float) -> Hdd | Flash:
    data = drive.to_dict()
    *path, last = name.split(".")
    place: dict[str, Any] = data
    for part in path:
        place = place[part]
    value = place[last]
    place[last] = type(value)(round(value + by)) if isinstance(value, int) else value + by
    del data["uncertainty"]
    return parse_drive(data)
