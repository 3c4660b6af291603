"""The flash drive that a draw of what is not known describes: the same with other times and rates."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeVar

from diskmodel.drive.perturbation import DrivePerturbation, scaled_ns, scaled_times

if TYPE_CHECKING:
    from diskmodel.drive.flash.description import Flash

_Flash = TypeVar("_Flash", bound="Flash")

#: What a program takes longer while the drive is read, as a share of its time, of the one series that was measured to.
_BESIDE_READS_RATIO = 0.37


def perturbed_flash(drive: _Flash, perturbation: DrivePerturbation) -> _Flash:
    """Return a flash drive with other times and rates.

    Raises
    ------
    DescriptionError
        When no such drive is possible.
    """
    slower = -perturbation.speed
    read = perturbation.read_time + slower
    parallel = slower - perturbation.parallelism
    write = slower - perturbation.write_rate
    update: dict[str, Any] = {"uncertainty": None}
    for factor, names in (
        (read, ("read_ns", "read_latency_ns", "read_beside_writes_ns")),
        (parallel, ("read_overhead_ns",)),
        (write, ("program_ns", "erase_ns", "write_overhead_ns", "program_beside_reads_ns")),
        (slower + perturbation.write_latency, ("write_latency_ns",)),
    ):
        if factor:
            update |= scaled_times(drive, names, factor)
    for name, factor in (("read_delay_ns", read), ("write_delay_ns", slower)):
        if factor:
            update[name] = tuple(scaled_ns(value, factor) for value in getattr(drive, name))
    if flush := slower + perturbation.flush:
        update["flush_ns"] = scaled_ns(drive.time_of_flush_ns, flush)
    if drive.flush_ns is None and drive.power_loss_protected and perturbation.flush > 0:
        update["flush_ns"] = _beyond_a_command(drive, perturbation.flush)
    if perturbation.has_batches and drive.gc_batch_ns is None:
        update["gc_batch_ns"] = drive.typical_batch_ns
        if perturbation.is_slowed_by_reads and not drive.program_beside_reads_ns:
            update["program_beside_reads_ns"] = round(_BESIDE_READS_RATIO * drive.program_ns)
    if perturbation.paces_writes and drive.paces_writes is None:
        update["paces_writes"] = True
    if parallel:
        update["channel_bytes_per_s"] = drive.channel_bytes_per_s * math.exp(-parallel)
    return drive.model_copy(update=update)


def _beyond_a_command(drive: Flash, log_factor: float) -> int:
    """Return what a flush of a protected drive takes beyond its own command, where that takes so many times as long.

    Capacitors make it needless, and yet the only such drive on SATA that was measured with its cache on, a PM883, needs
    117 us for it (tests/data/flash/commits.csv), where its command takes 45. It is never shorter than a command.
    """
    command_ns = drive.write_overhead_ns + drive.write_latency_ns
    return scaled_ns(command_ns, log_factor) - command_ns
