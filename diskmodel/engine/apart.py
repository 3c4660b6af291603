"""What goes through the same data in order, begun apart where nobody says where it begins (rules W9 and R1).

Streams and a pass over the disks that go the same way from the same place find in the drives' buffers what the others
read: RAID 6 of ten kept 54 % of a reader's rate behind the fastest check from the front, and 1.2 % of it elsewhere.
"""

from __future__ import annotations

import numpy as np

from diskmodel.array import Array
from diskmodel.workload import TraceWorkload, Workload, starts_of

#: Part of an array within which a stream in order follows a pass, or the other way around. In the course of a run
#: neither gets so far; at half, fast passes do.
SAME_PLACE_RATIO = 0.02
#: Where a pass may be, as a share of the disks: from its beginning, where an array has lost most.
_PLACES_OF_A_PASS = (0.0, 0.5, 0.25, 0.75)


def begun_apart(array: Array, load: Workload | TraceWorkload) -> tuple[Array, Workload | TraceWorkload]:
    """Return array and load with everything that goes through data in order where nothing else does."""
    if isinstance(load, TraceWorkload):
        return array, load
    usable, rebuild = array.usable_bytes, array.layout.rebuild
    load = load.apart(usable)
    if rebuild is None or rebuild.done_ratio is not None:
        return array, load
    begins = _begins(load, usable)
    free = (place for place in _PLACES_OF_A_PASS if not _are_near(begins, place))
    place = next(free, 0.5)
    if not place:
        return array, load
    layout = array.layout.model_copy(update={"rebuild": rebuild.model_copy(update={"done_ratio": place})})
    return array.model_copy(update={"layout": layout}), load


def assumed_places(described: Array, load: Workload, array: Array, apart: Workload) -> tuple[str, ...]:
    """Return in sentences where streams and a pass begin that would have begun where others do."""
    said = []
    for before, after in zip(load.streams, apart.streams, strict=True):
        if after.addresses != before.addresses and after.begin_ratio:
            said.append(
                f"assumed: {before.name} begins {after.begin_ratio:.2g} of its region behind "
                "the front, from where another stream goes the same way; begin_ratio in its addresses says it"
            )
    stated, begun = described.layout.rebuild, array.layout.rebuild
    if stated is not None and begun is not None and stated.done_ratio != begun.done_ratio:
        said.append(
            f"assumed: the pass over the disks has done {begun.front_ratio:.0%} of its way, because a stream in order "
            "begins where it would; done_ratio in the rebuild says it"
        )
    return tuple(said)


def beside_a_pass(array: Array, load: Workload) -> tuple[str, ...]:
    """Return a sentence for each stream that begins where a pass is, because someone says so, and goes the same way."""
    rebuild = array.layout.rebuild
    if rebuild is None:
        return ()
    return tuple(
        f"{stream.name} begins where the pass over the disks is, and goes the same way: what one reads, the drives "
        "have for the other, so that it is slowed less than elsewhere; done_ratio = 0.5 in the rebuild simulates that"
        for stream in load.streams
        if _are_near(_begins(load.model_copy(update={"streams": (stream,)}), array.usable_bytes), rebuild.front_ratio)
    )


def _begins(load: Workload, usable_bytes: int) -> list[float]:
    """Return where streams in order begin, each of their readers, as shares of the array."""
    starts = [starts_of(stream.own_addresses, load.space(stream, usable_bytes)) for stream in load.streams]
    found: list[float] = (np.concatenate(starts) / usable_bytes).tolist()
    return found


def _are_near(begins: list[float], place: float) -> bool:
    return any(abs(begin - place) < SAME_PLACE_RATIO for begin in begins)
