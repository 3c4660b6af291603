"""The virtual disk that a draw of what is not known describes: a faster or a slower one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeVar

from diskmodel.drive.perturbation import DrivePerturbation, scaled_ns, scaled_times

if TYPE_CHECKING:
    from diskmodel.drive.virtual.description import Virtual

_Virtual = TypeVar("_Virtual", bound="Virtual")


def perturbed_virtual(drive: _Virtual, perturbation: DrivePerturbation) -> _Virtual:
    """Return a virtual disk that is faster or slower.

    Raises
    ------
    DescriptionError
        When no such disk is possible.
    """
    slower = -perturbation.speed
    update: dict[str, Any] = {"uncertainty": None}
    if slower:
        names = ("read_overhead_ns", "write_overhead_ns", "read_latency_ns", "write_latency_ns")
        update |= scaled_times(drive, names, slower)
        update["wake_ns"] = tuple(scaled_ns(value, slower) for value in drive.wake_ns)
        for name in ("read_copy_bytes_per_s", "write_copy_bytes_per_s"):
            rate = getattr(drive, name)
            if rate is not None:
                update[name] = rate * math.exp(-slower)
    return drive.model_copy(update=update)
