"""What a run does not see: ends of the regions of sequential streams, rates that change over the day, and what a
stream is like where a pass over the disks does not go before it.
"""

from __future__ import annotations

import math

import numpy as np

from diskmodel.array import Array
from diskmodel.drive import DriveTables
from diskmodel.engine.messages.places import beside_a_pass
from diskmodel.workload import Workload

#: Difference of the rates from which it is reported. At half, it would be of workloads whose latency hardly moves; at
#: double, a disk that cannot keep up at the end of its region would be unreported where it does at 85 % of its load.
MIN_SLOWER_RATIO = 0.05


def unseen(array: Array, workload: Workload, n: int, seconds: float) -> tuple[str, ...]:
    """Return a sentence for everything in the workload that a run of `n` requests in `seconds` may not have seen."""
    return (
        *_higher_rates(workload, seconds),
        *_slower_ends(array, workload, n),
        *beside_a_pass(array, workload),
    )


def _higher_rates(workload: Workload, seconds: float) -> tuple[str, ...]:
    """Return a sentence for each stream whose rate changes so slowly that the run saw part of it (rule W10)."""
    found = []
    peaks = workload.peaks()
    for stream in workload.streams:
        mean, peak = peaks.get(stream.name, (0.0, 0.0))
        if not peak or 1e9 * seconds >= 2 * stream.arrival.cycle_ns:
            continue
        plain = "without a profile" if getattr(stream.arrival, "profile", None) else "without bursts"
        found.append(
            f"the rate of {stream.name} changes, and this run saw {seconds:.3g} s of it; at its busiest it has "
            f"{peak:,.4g} requests per second (on average {mean:,.4g}): that rate {plain} simulates it, as a plan does"
        )
    return tuple(found)


def _slower_ends(array: Array, workload: Workload, n: int) -> tuple[str, ...]:
    """Return a sentence for each stream that goes in order through its region, of which `n` requests see a fast part.

    Disks transfer more from outer tracks than from inner ones, and a run begins where the region does (rule W9).
    """
    tables, usable = array.drive.tables(), array.usable_bytes
    found = []
    for before, after in zip(workload.streams, workload.at_the_end(usable, n).streams, strict=True):
        begin = getattr(after.addresses, "begin_ratio", None)
        if before is after or not begin:
            continue
        space = workload.space(before, usable)
        n_readers = getattr(before.addresses, "n_readers", 1)
        here, there = (
            np.mean([_track(tables, (space.first_byte + at * space.span_bytes) / usable) for at in places])
            for places in (
                [reader / n_readers for reader in range(n_readers)],
                [(reader + 1) / n_readers for reader in range(n_readers)],
            )
        )
        slower = 1 - there / here
        if slower >= MIN_SLOWER_RATIO:
            found.append(
                f"{before.name} goes through its region in order, and this run saw the outer "
                f"{100 / n_readers - 100 * begin:.2g} % of it; where it ends, disks transfer "
                f"{100 * slower:.0f} % less: "
                f"begin_ratio = {math.floor(1e4 * begin) / 1e4:.4g} in its addresses simulates that, as a plan does"
            )
    return tuple(found)


def _track(tables: DriveTables, place_ratio: float) -> int:
    """Return the blocks of a track at a place in the array, 0 to 1, of a disk that is used in the same order."""
    return tables.track_sectors(min(int(place_ratio * tables.n_sectors), tables.n_sectors - 1))
