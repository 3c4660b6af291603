"""Members that repeat some of their accesses: most take what they always do, and a few of them many times as long."""

from __future__ import annotations

from dataclasses import replace

from diskmodel.array import Array
from diskmodel.explanation.causes.cause import Ladder, Law, is_sequential
from diskmodel.explanation.causes.uneven import Network, UnevenLaw, accesses_of, bad_member
from diskmodel.uncertainty import AnyWorkload
from diskmodel.units import in_digits

#: Turns of a platter that a random access takes with its seek, where the drive has no others to choose from.
_ACCESS = 1.5

#: Strengths: share of the accesses that are repeated, and for how many turns.
REPEATS = {
    f"{ratio:g} % of the accesses, {turns} revolutions": (ratio / 100, turns)
    for ratio in (0.3, 1, 3, 10, 30, 80)
    for turns in (12, 40)
}

#: Of those, also as a part of the strengths of one member.
REPEATED = Ladder(
    lambda value: value[0],
    lambda value, ratio: (ratio, *value[1:]),
    lambda value: (
        f"{in_digits(100 * value[0], 2)} % of the accesses, {value[1]} revolutions"
        + (", of a half that is only read where the other is busy" if value[2:] == (1,) else "")
    ),
)


def repeating(
    array: Array, workload: AnyWorkload, strength: tuple[float, float], *, is_one: bool, half: int = 0
) -> Law | None:
    """Return what becomes of figures where one member, or all, repeat a share of their accesses for so many turns.

    None where members have no arms, or one of them has no equals.
    """
    ratio, turns = strength
    turn_ns = array.drive.period_ns
    bad = bad_member(array, half) if is_one else tuple(range(array.layout.disks))
    if turn_ns is None or bad is None:
        return None

    def wrong(network: Network, part: str) -> Network:
        transfer = workload.mean_size_bytes / network.touched / array.drive.sequential_bytes_per_s * 1e9 / turn_ns
        access = transfer + (0.0 if is_sequential(workload) else _ACCESS)
        several = 1 - (1 - ratio) ** accesses_of(array, workload, is_write=part != "reads")
        return replace(network, bad=bad, ratio=several, length=turns / access)

    return UnevenLaw(array, workload, wrong)
