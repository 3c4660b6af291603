"""The array and the workload that a draw describes."""

from __future__ import annotations

import math
from typing import TypeVar

from diskmodel.array import Array
from diskmodel.controller import DESTAGES, DESTAGES_FACTOR, Controller
from diskmodel.description import Description
from diskmodel.drive import Drive, scaled_ns, with_values
from diskmodel.uncertainty.perturbation import Perturbation
from diskmodel.workload import TraceWorkload, Workload, part_of

AnyWorkload = Workload | TraceWorkload
_Part = TypeVar("_Part", bound=Description)
_Load = TypeVar("_Load", Workload, TraceWorkload, Workload | TraceWorkload)
#: Share of a recording that the load of a draw is like. A load without memory would differ from its recording by half
#: as much as its quarters do from each other, and one that is alike on all scales, as traffic of disks is, by as much.
#: Eighths make intervals of p99 a fifth wider without containing more; halves contain fewer.
PART_RATIO = 1 / 4


def perturbed(array: Array, workload: AnyWorkload, perturbation: Perturbation) -> tuple[Array, AnyWorkload]:
    """Return the array and the workload that a draw describes.

    Raises
    ------
    DescriptionError
        When no such drive is possible.
    """
    update: dict[str, object] = {"drive": _perturbed_drive(array.drive, perturbation)}
    if perturbation.host:
        names = ("submission_ns", "submission_sequential_ns", "lock_ns", "write_lock_ns")
        update["host"] = _slower(array.host, perturbation.host, names)
    if perturbation.command:
        update["controller"] = _slower(array.controller, perturbation.command, ("command_ns",))
    if perturbation.volume and array.controller.volume_depth:
        depth = max(round(array.controller.volume_depth * math.exp(perturbation.volume)), 1)
        update["controller"] = array.controller.model_copy(update={"volume_depth": depth})
    if perturbation.destaging:
        update["controller"] = _destaging(array, perturbation.destaging)
    return array.model_copy(update=update), workload_of(workload, perturbation)


def workload_of(workload: _Load, perturbation: Perturbation) -> _Load:
    """Return the workload that a draw describes; a trace is replayed as it was recorded."""
    if not isinstance(workload, Workload):
        return workload
    if perturbation.part is not None:
        workload = part_of(workload, perturbation.part, PART_RATIO)
    return workload.scaled(math.exp(perturbation.level)) if perturbation.level else workload


def _perturbed_drive(drive: Drive, perturbation: Perturbation) -> Drive:
    """Return the drive of a draw. To make it again takes less than to keep it, in memory that has to be cleared."""
    own = drive if perturbation.values is None else with_values(drive, perturbation.values)
    return own.perturbed(perturbation)


def _destaging(array: Array, power: float) -> Controller:
    """Return a controller with fewer or more destages outstanding on a disk at once."""
    controller, drive = array.controller, array.drive
    assert controller.write_cache is not None
    depth = min(round(DESTAGES * DESTAGES_FACTOR**power), drive.accepted_commands)
    return controller.model_copy(
        update={"write_cache": controller.write_cache.model_copy(update={"destage_depth": depth})}
    )


def _slower(part: _Part, log_factor: float, names: tuple[str, ...]) -> _Part:
    """Return a host or a controller whose times are longer by a factor."""
    times = {name: getattr(part, name) for name in names}
    return part.model_copy(update={name: scaled_ns(value, log_factor) for name, value in times.items() if value})
