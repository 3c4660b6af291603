"""Drives whose parameters are known with standard errors only."""

from __future__ import annotations

import math
from collections.abc import Iterator

from diskmodel.drive import Flash, Hdd
from diskmodel.drive.drawn import scalar_of, with_values
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
    return with_values(drive, {name: scalar_of(drive, name) + by})
