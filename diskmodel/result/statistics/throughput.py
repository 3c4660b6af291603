"""Rate of completions with its interval."""

from __future__ import annotations

import numpy as np

from diskmodel.records import Int64
from diskmodel.result.statistics.batches import Interval, mean_interval

#: Equal slots of the window whose completions are counted: a multiple of each number of batches (20, 15, 10), so that
#: no slot is left out.
N_SLOTS = 240


def throughput_interval(done_ns: Int64, start_ns: int, end_ns: int, *, confidence: float = 0.95) -> Interval:
    """Estimate completions per second in (start_ns, end_ns] by batch means over equal slots of time.

    Parameters
    ----------
    done_ns : int64, shape (n,)
        Times of completion, all of them in the window, in any order.
    """
    seconds = (end_ns - start_ns) / 1e9
    # a completion at the very end of a slot belongs to it: edges are met from above, as in the window itself
    edges = start_ns + (np.arange(1, N_SLOTS + 1, dtype=np.float64) / N_SLOTS * (end_ns - start_ns))
    in_order = done_ns if (done_ns[:-1] <= done_ns[1:]).all() else np.sort(done_ns)
    # whole edges, so that the times are not all copied as floats
    counts = np.diff(np.searchsorted(in_order, np.floor(edges).astype(np.int64), side="right"), prepend=0)
    slots = mean_interval(counts * (N_SLOTS / seconds), confidence=confidence)
    return slots.about(len(done_ns) / seconds)
