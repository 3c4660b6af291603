"""What may be wrong with a flash drive, or other than it is described: each returns the drive like that, or None."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from diskmodel.drive.perturbation import DrivePerturbation

if TYPE_CHECKING:
    from diskmodel.drive.flash.description import Flash


def _throttled(drive: Flash, factor: float) -> Flash:
    """Pauses between commands, so that transfers are as slow as all else."""
    slower = drive.perturbed(DrivePerturbation(speed=-math.log(factor)))
    return slower.model_copy(update={"interface_bytes_per_s": drive.interface_bytes_per_s / factor})


def _fresh(drive: Flash, _: None) -> Flash | None:
    return None if drive.state == "fresh" else drive.model_copy(update={"state": "fresh"})


def _cleaning(drive: Flash, part: float) -> Flash:
    """Garbage collection with a part of the spare, or at all where it is described as fresh."""
    if drive.state == "fresh":
        return drive.model_copy(update={"state": "steady"})
    return drive.model_copy(update={"over_provisioning_ratio": drive.over_provisioning_ratio * part})


def _slow_flushes(drive: Flash, flush_ns: float) -> Flash:
    return drive.model_copy(update={"flush_ns": round(flush_ns), "power_loss_protected": False})


DEVIATIONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "throttled": _throttled,
    "fresh": _fresh,
    "cleaning": _cleaning,
    "slow-flushes": _slow_flushes,
}
