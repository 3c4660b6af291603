"""Where streams in order and a pass over the disks begin, in words (rules W9 and R1)."""

from __future__ import annotations

from diskmodel.array import Array
from diskmodel.workload import Workload


def assumed_places(described: Array, load: Workload, array: Array, apart: Workload) -> tuple[str, ...]:
    """Return in sentences where streams and a pass begin that would have begun where others do."""
    said = [
        f"assumed: {before.name} begins {after.begin_ratio:.2g} of its region behind the front, from where another "
        "stream goes the same way; begin_ratio in its addresses says it"
        for before, after in zip(load.streams, apart.streams, strict=True)
        if after.addresses != before.addresses and after.begin_ratio
    ]
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
        f"{name} begins where the pass over the disks is, and goes the same way: what one reads, the drives "
        "have for the other, so that it is slowed less than elsewhere; done_ratio = 0.5 in the rebuild simulates that"
        for name in load.begins_near(rebuild.front_ratio, array.usable_bytes)
    )
