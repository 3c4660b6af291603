"""Mean time to data loss: closed forms and Markov chains with unrecoverable read errors.

Disks fail independently at a constant rate 1/MTTF and are repaired one at a time at a constant rate 1/MTTR. Real
failures are neither independent nor memoryless (B. Schroeder, G. Gibson, FAST 2007): use the figures to rank layouts,
not as a forecast.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from diskmodel.analytic.checks import Checks
from diskmodel.errors import choose_from
from diskmodel.layout.levels import KINDS
from diskmodel.loading import dataclass
from diskmodel.plain import Record

#: 365.25 days.
HOURS_PER_YEAR = 8766.0


def mttf_hours_of(annual_failure_ratio: float) -> float:
    """Mean time to failure, hours, from the share of disks that fail within a year: -8766 / ln(1 - AFR)."""
    checks = Checks()
    if not 0 < annual_failure_ratio < 1:
        checks.fault("annual_failure_ratio", annual_failure_ratio, "must be between 0 and 1", "write 2 % as 0.02")
    checks.done()
    return -HOURS_PER_YEAR / math.log1p(-annual_failure_ratio)


def read_error_probability(n_bytes: float, ure_per_bit: float) -> float:
    """Probability of at least one unrecoverable error while reading: 1 - (1 - ber)^bits.

    Examples
    --------
    >>> round(read_error_probability(12e12, 1e-14), 4)
    0.6171
    """
    Checks().not_negative(n_bytes=n_bytes).ratio(ure_per_bit=ure_per_bit).done()
    return -math.expm1(8 * n_bytes * math.log1p(-ure_per_bit)) if ure_per_bit < 1 else float(n_bytes > 0)


def mttdl_mirror_hours(mttf_hours: float, mttr_hours: float) -> float:
    """MTTDL of a pair without read errors, exact: (3 λ + μ) / (2 λ²)."""
    Checks().positive(mttf_hours=mttf_hours, mttr_hours=mttr_hours).done()
    fail, repair = 1 / mttf_hours, 1 / mttr_hours
    return (3 * fail + repair) / (2 * fail**2)


def mttdl_single_parity_hours(n_disks: int, mttf_hours: float, mttr_hours: float, *, is_exact: bool = True) -> float:
    """MTTDL of RAID 5 without read errors.

    Notes
    -----
    Exact ((2N - 1) λ + μ) / (N (N - 1) λ²); the usual approximation MTTF² / (N (N - 1) MTTR) neglects λ against μ.

    References
    ----------
    D. Patterson, G. Gibson, R. Katz, "A case for redundant arrays of inexpensive disks", SIGMOD 1988.
    """
    Checks().positive(mttf_hours=mttf_hours, mttr_hours=mttr_hours).count(minimum=2, n_disks=n_disks).done()
    fail, repair = 1 / mttf_hours, 1 / mttr_hours
    if not is_exact:
        return mttf_hours**2 / (n_disks * (n_disks - 1) * mttr_hours)
    return ((2 * n_disks - 1) * fail + repair) / (n_disks * (n_disks - 1) * fail**2)


def mttdl_double_parity_hours(n_disks: int, mttf_hours: float, mttr_hours: float) -> float:
    """MTTDL of RAID 6 without read errors, approximately: MTTF³ / (N (N - 1) (N - 2) MTTR²)."""
    Checks().positive(mttf_hours=mttf_hours, mttr_hours=mttr_hours).count(minimum=3, n_disks=n_disks).done()
    return mttf_hours**3 / (n_disks * (n_disks - 1) * (n_disks - 2) * mttr_hours**2)


@dataclass(frozen=True)
class DataLoss(Record):
    """Probability and mean time of data loss of an array.

    Attributes
    ----------
    mttdl_hours : float
        Mean time to data loss of the whole array, from all disks good.
    loss_per_year : float
        Probability of at least one loss within the first year.
    read_error_share : float
        Probability of an unrecoverable read error during the rebuild of a group without remaining redundancy.
    n_groups : int
        Redundancy groups that fail independently.
    tolerance : int
        Failures that each of them survives for sure.
    """

    mttdl_hours: float
    loss_per_year: float
    read_error_share: float
    n_groups: int
    tolerance: int = 0


def group_generator(
    n_disks: int,
    tolerance: int,
    mttf_hours: float,
    mttr_hours: float,
    read_error_share: float = 0.0,
    fatal_shares: tuple[float, ...] = (),
) -> NDArray[np.float64]:
    """Generator matrix of a redundancy group, per hour; states 0 … tolerance disks failed, then data lost.

    Parameters
    ----------
    n_disks, tolerance : int
        Disks of the group; failures that it always or possibly survives.
    mttf_hours, mttr_hours : float
    read_error_share : float
        Share of the repairs in the last state before loss that meet an unrecoverable read error: those lose data.
    fatal_shares : tuple of float, optional
        For each state, share of further failures that lose data at once (RAID 1E: a neighbor of the failed disk).
        Default: 0 except for the last state.

    Returns
    -------
    float64, shape (tolerance + 2, tolerance + 2)
    """
    failed = np.arange(tolerance + 1)
    fatal = np.zeros(tolerance + 1)
    fatal[: len(fatal_shares)] = fatal_shares[: tolerance + 1]
    fatal[tolerance] = 1.0
    rate = (n_disks - failed) / mttf_hours
    bad = np.where((failed == tolerance) | (fatal > 0), read_error_share, 0.0)
    matrix = np.zeros((tolerance + 2, tolerance + 2))
    matrix[failed, -1] = rate * fatal
    matrix[failed[:-1], failed[1:]] = (rate * (1 - fatal))[:-1]
    matrix[failed[1:], -1] += (bad / mttr_hours)[1:]
    matrix[failed[1:], failed[:-1]] = ((1 - bad) / mttr_hours)[1:]
    matrix[failed, failed] = -matrix[:-1].sum(axis=1)
    return matrix


def absorption(generator: NDArray[np.float64], hours: float) -> tuple[float, float]:
    """Mean hours until the last state is reached from the first, and the probability of it within `hours`.

    The mean is to full relative precision, too: states are eliminated from the last one with sums, products and
    quotients of rates alone (W. Grassmann, M. Taksar, D. Heyman, Operations Research 33, 1985). Solving the equations
    as they stand loses all digits where a loss is 10¹⁶ times as rare as a repair: mirrors of four and more disks.
    """
    return _mean_hours(generator), _absorbed(generator, hours)


def _mean_hours(generator: NDArray[np.float64]) -> float:
    """Return the mean hours until the last state is reached from the first."""
    rates = generator.copy()
    np.fill_diagonal(rates, 0.0)
    stay = np.ones(len(rates) - 1)
    for state in range(len(stay) - 1, 0, -1):
        leave = np.r_[rates[state, :state], rates[state, -1]]
        for before in np.flatnonzero(rates[:state, state]):
            share = rates[before, state] / leave.sum()
            rates[before, :state] += share * leave[:-1]
            rates[before, -1] += share * leave[-1]
            rates[before, before] = 0.0
            stay[before] += share * stay[state]
    with np.errstate(divide="ignore", over="ignore"):
        return float(stay[0] / rates[0, -1])


#: States of a chain that are tried first: where a loss without more of them is as good as certain not to differ.
_STATES = 16
#: Chance of more states, as a part of that of a loss, which changes no digit of it.
_NO_DIGIT = 1e-17
#: By how much, as a part of it, a mean may differ from that with twice as many states.
_SAME_MEAN = 1e-13
#: Groups whose chance of a loss is kept: the draws and counts of a plan ask for the same ones again.
_GROUPS_KEPT = 4096


def _absorbed(generator: NDArray[np.float64], hours: float) -> float:
    """Return the probability of the last state within `hours`, from the first.

    The many states of large groups that are mirrored are cut off where reaching the rest changes no digit.
    """
    kept = _STATES
    while kept < len(generator) - 2:
        chain = np.zeros((kept + 2, kept + 2))
        chain[:kept, :kept] = generator[:kept, :kept]
        chain[:kept, kept] = generator[:kept, kept:-1].sum(axis=1)
        chain[:kept, -1] = generator[:kept, -1]
        *_, beyond, lost = transition(chain, hours)[0]
        if beyond <= max(lost * _NO_DIGIT, _LEAST):
            return float(lost)
        kept *= 2
    return float(transition(generator, hours)[0, -1])


#: Smaller probabilities are 0, as are products of them: processors take a hundred times as long for numbers that lie
#: near the smallest one.
_LEAST = 1e-150


def transition(generator: NDArray[np.float64], hours: float) -> NDArray[np.float64]:
    """Transition probabilities over `hours`, to full relative precision however small they are, down to 10⁻¹⁵⁰.

    Uniformization (A. Jensen, 1953) and squaring: every term is positive, so nothing is lost to cancellation.
    """
    rate = float(-generator.diagonal().min())
    doublings = max(0, math.ceil(math.log2(max(rate * hours, 1.0))))
    step = hours / 2**doublings
    jump = np.eye(len(generator)) + generator / rate
    term = total = np.eye(len(generator))
    for k in range(1, 25):
        term = _without_tiny(term @ jump * (rate * step / k))
        total = total + term
    total = _without_tiny(total * math.exp(-rate * step))
    for _ in range(doublings):
        total = _without_tiny(total @ total)
    return np.asarray(total)


def _without_tiny(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(values < _LEAST, 0.0, values)


def data_loss(
    level: str,
    n_disks: int,
    *,
    mttf_hours: float,
    mttr_hours: float,
    disk_bytes: float,
    ure_per_bit: float = 1e-15,
    n_groups: int = 1,
    n_parity: int | None = None,
    n_data: int | None = None,
    n_copies: int = 2,
) -> DataLoss:
    """Mean time to data loss of an array and the probability of a loss within a year.

    Parameters
    ----------
    level : str
        jbod, raid0, raid1, raid10, raid1e, raid3, raid4, raid5, raid50, raid6, raid60 or erasure; for a pool mirror,
        raidz1 to raidz3 or draid1 to draid3.
    n_disks : int
        Disks without spares.
    mttf_hours : float
        Mean time to failure of a disk.
    mttr_hours : float
        Mean time from a failure to restored redundancy: replacement (0 with a hot spare) plus rebuild.
    disk_bytes : float
        Bytes read from each survivor by a rebuild.
    ure_per_bit : float
        Rate of unrecoverable read errors.
    n_groups : int
        Groups of RAID 50, RAID 60 and an erasure code, vdevs of a pool.
    n_parity : int, optional
        Of an erasure code.
    n_data : int, optional
        Data disks of a group of dRAID, which has fewer disks than its vdev; of a vdev that has them all not needed.
    n_copies : int
        Of each block of RAID 10, whose groups have as many disks.

    Notes
    -----
    The groups of a dRAID vdev have its disks in so many ways that its chain is that of one group of all of them.

    One Markov chain per group; groups are independent, MTTDL = group MTTDL / groups (losses are rare and nearly
    memoryless), loss per year = 1 - (1 - p)^groups.

    References
    ----------
    S. Hetzler, "System impacts of HDD bit error rate", 2011; J. Elerath, M. Pecht, IEEE DSN 2007, for the limits
    of such chains.
    """
    name = level.lower()
    checks = Checks().positive(mttf_hours=mttf_hours, mttr_hours=mttr_hours, disk_bytes=disk_bytes)
    checks.count(n_disks=n_disks, n_groups=n_groups, n_copies=n_copies).ratio(ure_per_bit=ure_per_bit)
    tolerances = {"jbod": 0, "raid0": 0, "raid1": n_disks - 1, "raid10": n_copies - 1, "raid1e": n_disks // 2}
    for level_name, kind in KINDS.items():
        of_level = n_parity if kind.n_parity is None else kind.n_parity or n_disks // max(n_groups, 1) - 1
        tolerances.setdefault(level_name, of_level or 0)
    if name not in tolerances:
        checks.fault("level", level, "is not a known RAID level", choose_from(level, tolerances))
        checks.done()
    groups = max(n_disks // n_copies, 1) if name == "raid10" else n_groups if KINDS[name].has_groups else 1
    tolerance = tolerances[name]
    if n_disks % groups:
        checks.fault("n_disks", n_disks, f"must be a multiple of the groups ({groups})", "add or remove disks")
    elif n_disks // groups <= tolerance:
        checks.fault("n_disks", n_disks, f"must exceed the failures survived ({tolerance}) in each group", "add disks")
    checks.done()
    size = n_disks // groups
    fatal: tuple[float, ...] = ()
    if name == "raid1e":  # copies are on neighbors: of the n - k disks left, about 2 k hold the only copy of something
        fatal = tuple(min(1.0, 2 * k / (n_disks - k)) for k in range(tolerance + 1))
    sources = 1 if name in ("raid1", "raid10", "raid1e", "mirror") else n_data or size - tolerance
    bad = read_error_probability(sources * disk_bytes, ure_per_bit) if tolerance else 0.0
    # what is lost with the next failure for certain reaches no further state
    last = fatal.index(1.0) if 1.0 in fatal else tolerance
    mean, loss = _of_a_group(size, last, mttf_hours, mttr_hours, bad, fatal)
    return DataLoss(mean / groups, -math.expm1(groups * math.log1p(-min(loss, 1 - 1e-16))), bad, groups, tolerance)


@lru_cache(maxsize=_GROUPS_KEPT)
def _of_a_group(
    n_disks: int, last: int, mttf_hours: float, mttr_hours: float, read_error_share: float, fatal: tuple[float, ...]
) -> tuple[float, float]:
    """Return mean hours until a group loses data, and the probability of it within a year.

    Large groups that are mirrored have many states: those are left out whose chance changes no digit (`_absorbed`).
    """
    kept = _STATES
    while kept < last:
        generator = group_generator(n_disks, kept, mttf_hours, mttr_hours, read_error_share, fatal)
        chain = generator.copy()
        chain[kept] = 0.0  # who comes so far stays there
        *_, beyond, lost = transition(chain, HOURS_PER_YEAR)[0]
        if beyond <= max(lost * _NO_DIGIT, _LEAST):
            # what a year does not reach may still come: the mean has to be that of more states, too
            more = group_generator(n_disks, min(2 * kept, last), mttf_hours, mttr_hours, read_error_share, fatal)
            mean, further = _mean_hours(generator), _mean_hours(more)
            if abs(mean - further) <= _SAME_MEAN * further:
                return further, float(lost)
        kept *= 2
    return absorption(group_generator(n_disks, last, mttf_hours, mttr_hours, read_error_share, fatal), HOURS_PER_YEAR)


def either_lost(one: DataLoss, other: DataLoss) -> DataLoss:
    """Return the chance of losing at least one of two parts that fail independently, and all data with it."""
    return DataLoss(
        1 / (1 / one.mttdl_hours + 1 / other.mttdl_hours),
        one.loss_per_year + other.loss_per_year - one.loss_per_year * other.loss_per_year,
        one.read_error_share,
        one.n_groups + other.n_groups,
        one.tolerance,
    )
