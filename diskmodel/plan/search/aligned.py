"""Numbers of disks with which writes are whole rows: where these matter, more disks may be slower than fewer."""

from __future__ import annotations

from diskmodel.plan.question.case import Case

#: Strips of a write from which on it may be a whole row; with fewer than two data disks there is no parity to save.
_LEAST_STRIPS = 2


def aligned_counts(case: Case, counts: list[int]) -> list[int]:
    """Return those of the counts with which the writes that move most bytes are whole rows of parity groups.

    Such a write reads nothing before. With one disk more, it is a row and a part of the next, which must be read; so
    the fewest disks that meet an objective may be among these counts although larger ones miss it.
    """
    bytes_of: dict[int, float] = {}
    for stream in case.workload.streams:
        total = sum(share.weight for share in stream.sizes)
        for share in stream.sizes:
            weight = stream.row_weight * stream.write_ratio * share.weight / total
            bytes_of[share.size_bytes] = bytes_of.get(share.size_bytes, 0.0) + weight * share.size_bytes
    size_bytes = max(bytes_of, key=lambda size: bytes_of[size])
    strip_bytes = case.family.strip_bytes
    if not bytes_of[size_bytes] or size_bytes < _LEAST_STRIPS * strip_bytes:
        return []
    found = []
    for disks in counts:
        layout = case.array(disks).layout
        n_data = layout.data_strips
        if layout.parity_strips and n_data >= _LEAST_STRIPS and size_bytes % (n_data * strip_bytes) == 0:
            found.append(disks)
    return found
