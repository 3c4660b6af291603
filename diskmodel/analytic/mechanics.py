"""Formulas of disk mechanics: seek distances, rotational latency, small parity writes, degraded reads, rebuilds.

Distances are shares of the full stroke, with targets and arms uniform over the cylinders. By logical address on a
zoned disk cylinders are *not* uniform: the outer ones hold more. Times are seconds.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from diskmodel.analytic.checks import Checks


def mean_seek_ratio(n_cylinders: int | None = None) -> float:
    """Mean distance of a random seek as a share of the stroke: 1/3; of n cylinders (n² - 1) / (3 n) / n.

    References
    ----------
    R. and A. Arpaci-Dusseau, *Operating Systems: Three Easy Pieces*, chapter "Hard disk drives".
    """
    if n_cylinders is None:
        return 1 / 3
    Checks().count(n_cylinders=n_cylinders).done()
    return (n_cylinders**2 - 1) / (3 * n_cylinders) / n_cylinders


def nearest_of_arms_ratio(n_arms: int) -> float:
    """Mean distance to the nearest of n arms that stand independently and uniformly: (n + 3) / (2 (n+1) (n+2)).

    1/3, 5/24, 3/20 for one, two, three mirrors. The estimate 1/(2n + 1) that is often quoted (1/5 for two) neglects
    the edges. Arms that always send the nearest one are *not* independent: their steady state for two is .1615.

    References
    ----------
    D. Bitton, J. Gray, "Disk shadowing", VLDB 1988, for the setting; the closed form is the integral of
    P(all arms farther than d).
    """
    Checks().count(n_arms=n_arms).done()
    return (n_arms + 3) / (2 * (n_arms + 1) * (n_arms + 2))


def farthest_of_arms_ratio(n_arms: int) -> float:
    """Mean of the largest of the seeks that n independent arms make to one target: a mirrored write.

    3/4 - 1/(n+1) + 1/(2 (n+1) (n+2)); 11/24 for two.
    """
    Checks().count(n_arms=n_arms).done()
    return 3 / 4 - 1 / (n_arms + 1) + 1 / (2 * (n_arms + 1) * (n_arms + 2))


def scan_farthest_ratio(n_requests: int) -> float:
    """How far a sweep over n uniform requests goes, as a share of the stroke: n / (n + 1)."""
    Checks().count(n_requests=n_requests).done()
    return n_requests / (n_requests + 1)


def scan_spacing_ratio(n_requests: int) -> float:
    """Mean distance between neighbors in a sweep over n uniform requests: 1 / (n + 1)."""
    Checks().count(n_requests=n_requests).done()
    return 1 / (n_requests + 1)


#: Mean seek under saturated SSTF with n uniform requests always outstanding, as a share of the stroke. No closed
#: form is known; means of a simulation of two million seeks each, which tests/theory/test_analytic_mechanics.py
#: repeats with another seed.
SSTF_SEEK_RATIOS = {1: 0.3333, 2: 0.2199, 4: 0.1371, 8: 0.0787, 16: 0.0427, 32: 0.0219}


def sstf_seek_ratio(n_requests: float) -> float:
    """Mean seek of shortest-seek-first with n requests always outstanding, between the rows of `SSTF_SEEK_RATIOS`.

    Interpolated in the logarithms; beyond 32 in proportion to 1/n.
    """
    if n_requests < 1:
        Checks().fault("n_requests", n_requests, "must be at least 1", "raise it").done()
    counts = list(SSTF_SEEK_RATIOS)
    if n_requests >= counts[-1]:
        return SSTF_SEEK_RATIOS[counts[-1]] * counts[-1] / n_requests
    logs = np.interp(np.log(n_requests), np.log(counts), np.log(list(SSTF_SEEK_RATIOS.values())))
    return float(np.exp(logs))


def vendor_average_seek_s(inward_s: Sequence[float], outward_s: Sequence[float]) -> float:
    """The "average seek time" of a data sheet: seeks between all pairs of cylinders, each equally likely.

    Parameters
    ----------
    inward_s, outward_s : sequence of float, seconds, shape (n_cylinders - 1,)
        Time of a seek over 1, 2, … cylinders in each direction.

    Notes
    -----
    Σ (max + 1 - n) (T_in(n) + T_out(n)) / ((max + 1) max).

    References
    ----------
    Hitachi/HGST OEM specifications, section "Average seek time".
    """
    largest = len(inward_s)
    checks = Checks().count(n_distances=largest)
    if len(outward_s) != largest:
        checks.fault(
            "outward_s",
            len(outward_s),
            f"must have as many entries as inward_s ({largest})",
            "give one for each distance",
        )
    checks.done()
    weights = np.arange(largest, 0, -1, dtype=np.float64)
    both = np.asarray(inward_s, dtype=np.float64) + np.asarray(outward_s, dtype=np.float64)
    return float(weights @ both / ((largest + 1) * largest))


def rotation_wait_s(revolution_s: float) -> float:
    """Mean wait for a sector: half a revolution."""
    Checks().positive(revolution_s=revolution_s).done()
    return revolution_s / 2


def shortest_rotation_wait_s(revolution_s: float, n_platters: int) -> float:
    """Mean of the least wait over n spindles that turn independently: T / (n + 1)."""
    Checks().positive(revolution_s=revolution_s).count(n_platters=n_platters).done()
    return revolution_s / (n_platters + 1)


def longest_rotation_wait_s(revolution_s: float, n_platters: int) -> float:
    """Mean of the longest wait over n spindles that turn independently: n T / (n + 1)."""
    Checks().positive(revolution_s=revolution_s).count(n_platters=n_platters).done()
    return n_platters * revolution_s / (n_platters + 1)


def held_read_modify_write_s(seek_s: float, revolution_s: float) -> float:
    """Time that a read-modify-write occupies a disk: S + T/2 + T, because the block must come round again.

    References
    ----------
    ACnodes DAS-208SA user's manual, p. 78: "each write still involves two disk revolutions".
    """
    Checks().not_negative(seek_s=seek_s).positive(revolution_s=revolution_s).done()
    return seek_s + 1.5 * revolution_s


def idle_parity_write_s(revolution_s: float, n_parity: int = 1) -> float:
    """Response of a small parity write on an idle array without seeks: the slowest read, then one revolution.

    With n = n_parity + 1 disks to read: n T / (n + 1) + T; 5 T / 3 for RAID 5.
    """
    Checks().count(n_parity=n_parity).done()
    return longest_rotation_wait_s(revolution_s, n_parity + 1) + revolution_s


def effective_write_penalty(seek_s: float, revolution_s: float, *, n_parity: int = 1, is_held: bool = True) -> float:
    """Disk time of a small parity write in units of one small random access.

    Parameters
    ----------
    seek_s, revolution_s : float, seconds
    n_parity : int
        1 for RAID 5, 2 for RAID 6.
    is_held : bool
        True: the arm waits between read and write, which takes one revolution. False: other requests are served in
        between, and the second visit costs a whole access: 2 (m + 1), the textbook's penalty.

    Notes
    -----
    If held: (m + 1) (S + 3T/2) / (S + T/2). RAID 5 with S = 3.5 ms at 15000 rpm: 3.45, not 4; without seeks: 6.
    """
    Checks().count(n_parity=n_parity).done()
    held = held_read_modify_write_s(seek_s, revolution_s)
    return (n_parity + 1) * (held / (seek_s + revolution_s / 2) if is_held else 2.0)


def parity_write_operations(n_written: int, n_disks: int, n_parity: int = 1) -> tuple[int, int]:
    """Disk operations of read-modify-write and of reconstruct-write.

    Parameters
    ----------
    n_written : int
        Data strips of one stripe that are written as a whole, at most n_disks - n_parity.
    n_disks, n_parity : int

    Returns
    -------
    tuple of int
        (2 (w + m), n_disks): the first reads and writes w strips and m parities; the second reads the other data
        strips and writes w strips and the parities.

    Examples
    --------
    >>> parity_write_operations(1, 5), parity_write_operations(2, 5)
    ((4, 5), (6, 5))
    """
    checks = Checks().count(n_written=n_written, n_parity=n_parity).count(minimum=n_parity + 1, n_disks=n_disks)
    if n_written > n_disks - n_parity:
        checks.fault("n_written", n_written, f"must be at most the data disks ({n_disks - n_parity})", "lower it")
    checks.done()
    return 2 * (n_written + n_parity), n_disks


def degraded_read_load(n_disks: int, n_parity: int = 1, n_failed: int = 1) -> float:
    """Factor of a survivor's read load in a parity group that lost disks: 1 + f (n - m) / (n - f).

    Notes
    -----
    A read of one of the f lost strips reads n - m of the n - f survivors. RAID 5: twice the load.

    Examples
    --------
    >>> degraded_read_load(5), degraded_read_load(6, n_parity=2)
    (2.0, 1.8)
    """
    checks = Checks().count(n_failed=n_failed, n_parity=n_parity).count(minimum=n_parity + 1, n_disks=n_disks)
    if n_failed > n_parity:
        checks.fault(
            "n_failed", n_failed, f"must be at most the parities ({n_parity}), or the data is lost", "lower it"
        )
    checks.done()
    return 1 + n_failed * (n_disks - n_parity) / (n_disks - n_failed)


def rebuild_hours(
    capacity_bytes: int, rebuild_bytes_per_s: float, *, host_utilization_ratio: float = 0.0, share_limit: float = 1.0
) -> float:
    """Return the hours to rebuild one disk when the rebuild uses the time that the host leaves idle.

    Parameters
    ----------
    capacity_bytes : int
        Bytes to write on the replacement.
    rebuild_bytes_per_s : float
        Rate of an undisturbed rebuild: the slowest participating disk, or the rate limit.
    host_utilization_ratio : float, in [0, 1)
        Utilization of the busiest survivor by host traffic.
    share_limit : float, in (0, 1]
        Largest share of a disk's time that the rebuild may take.

    Returns
    -------
    float
        Infinite when the host leaves no idle time.
    """
    Checks().positive(capacity_bytes=capacity_bytes, rebuild_bytes_per_s=rebuild_bytes_per_s).ratio(
        share_limit=share_limit
    ).not_negative(host_utilization_ratio=host_utilization_ratio).done()
    share = min(1 - host_utilization_ratio, share_limit)
    return capacity_bytes / (rebuild_bytes_per_s * share) / 3600 if share > 0 else float("inf")
