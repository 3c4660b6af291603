"""How large a burst of writes is absorbed above the stationary level (rule Z9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from diskmodel.engine.steady.levels import cache_room
from diskmodel.records import Int64
from diskmodel.result import AbsorbedBurst

if TYPE_CHECKING:
    from diskmodel.engine.scenario import Scenario


def burst_of(
    scenario: Scenario, levels: Int64, start_ns: int, write_bytes: float, *, are_safe: bool = False
) -> AbsorbedBurst | None:
    """The burst that the outermost write-back cache takes; None where there is none, or nothing is written.

    Parameters
    ----------
    scenario : Scenario
    levels : int64, shape (n, 5)
        Of the run (`records.Run.levels`).
    start_ns : int
        End of the warm-up.
    write_bytes : float
        Mean size of a write; nan without writes.
    are_safe : bool
        Whether writes are made safe from a power cut, which only a cache that survives one absorbs.
    """
    if not write_bytes > 0 or not len(levels):
        return None
    kept = levels[levels[:, 0] > start_ns]
    mean = (kept if len(kept) else levels[-1:])[:, 1:].mean(axis=0)
    tables, controller, layout = scenario.drive, scenario.controller, scenario.layout
    host = scenario.host_tables
    pages = host.page_cache
    response = float(host.submission_ns[1] + host.lock_ns[1])

    def absorbed(by: str, room: float, held: np.float64, response_ns: float, least_bytes: float = 0) -> AbsorbedBurst:
        n = max(int((room - held) / max(write_bytes, least_bytes)), 0)
        return AbsorbedBurst(by, int(n * write_bytes), n, response_ns)

    if pages is not None and not pages.is_synchronous and not are_safe:
        return absorbed("host", pages.limit_pages * host.page_sectors * tables.sector_bytes, mean[2], response)
    response += controller.command_ns + _transfer_ns(write_bytes, scenario.link_bytes_per_s)
    if controller.write_cache is not None:
        if are_safe and not controller.write_cache.protected:
            return None
        return absorbed("controller", cache_room(scenario), mean[0], response + controller.hit_ns)
    # a parity write reads first, whatever the drives buffer
    times_ns = tables.burst_write_ns(write_bytes, are_safe)
    if times_ns is not None and not layout.has_rows:
        response += times_ns[0]
        response += times_ns[1]
        copies = layout.copies_written
        buffer = tables.buffer_sectors - scenario.start.buffers_apart
        room = buffer * tables.sector_bytes * (layout.n_disks - len(layout.failed))
        least = tables.write_room_sectors * tables.sector_bytes
        return absorbed("drives", room / copies, mean[1] / copies, response, least)
    return None


def _transfer_ns(n_bytes: float, bytes_per_s: int) -> float:
    return n_bytes / bytes_per_s * 1e9 if bytes_per_s else 0.0
