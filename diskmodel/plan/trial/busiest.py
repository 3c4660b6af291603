"""How busy the busiest disk is in the long run, from the utilization of all disks in one run.

Part of what the busiest disk of a run has is noise: of 60 disks about 2.4 standard errors more than the mean. Near full
utilization, where a percent decides, only long runs are free of it. Where disks get equal shares in the long run,
whichever has most is known to be as busy as the others, and the mean of all is a better estimate, of a run many times
as short.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from diskmodel.array import Array
from diskmodel.result.statistics import student_t
from diskmodel.workload import Uniform, Workload

#: Rows of strips that a region covers at least where disks are said to get equal shares. What its ends take of a row
#: moves a disk's share by up to so much less: a hundredth of a percent. At half nothing changes; with a tenth, it is as
#: much as utilization near its limit is judged by.
MIN_ROWS = 10_000


def busiest_of(array: Array, workload: Workload, used: Sequence[float], half_width: float) -> tuple[float, float]:
    """Return the utilization of the busiest disk, and the half-width of its 95 % interval as a part of it.

    Parameters
    ----------
    array : Array
    workload : Workload
    used : sequence of float
        Utilization of each disk that works, in order.
    half_width : float
        Relative half-width of the interval of their mean.
    """
    n_classes = classes_of(array, workload)
    if n_classes:
        # a part of the disks varies by no more than disks that vary on their own
        means = [sum(used[at::n_classes]) / len(used[at::n_classes]) for at in range(n_classes)]
        return max(means), half_width * math.sqrt(n_classes)
    return max(used), _half_width_of_one(used, half_width)


def classes_of(array: Array, workload: Workload) -> int:
    """Return into how many classes disks fall that get equal shares in the long run, by turns; 0: that is not known.

    All disks of rotating parity are alike under uniformly random requests, and so are all first copies. Which copy a
    read goes to depends on the policy.
    """
    layout = array.layout
    row_bytes = layout.strip_bytes * layout.disks
    if layout.failed or layout.rebuild is not None:
        return 0
    for stream in workload.streams:
        is_even = isinstance(stream.addresses, Uniform) and stream.excerpts is None
        if not is_even or workload.space(stream, array.usable_bytes).span_bytes < MIN_ROWS * row_bytes:
            return 0
    return layout.classes_of_disks


def _half_width_of_one(used: Sequence[float], half_width: float) -> float:
    """Return the relative half-width of the interval of one disk's utilization, by that of the mean.

    One disk varies by what all vary by together, and by what sets it apart from the others, which their spread shows;
    at most by as much as disks that vary on their own. Where requests go to many disks at once, that is far less.
    """
    n, mean = len(used), sum(used) / len(used)
    apart_at_most = half_width * math.sqrt(n)
    if n < 2 or not mean or math.isnan(half_width):
        return apart_at_most
    spread = student_t(0.975, n - 1) * math.sqrt(sum((one - mean) ** 2 for one in used) / (n - 1)) / mean
    return min(math.hypot(half_width, spread), apart_at_most)
