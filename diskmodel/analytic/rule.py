"""The rule of thumb of the classical RAID calculators: write penalties, cache hits, a ceiling on utilization.

It counts disk operations and ignores queueing, seeks, rotation and scheduling. Its answers are reported next to those
of the simulation, with an explanation of the difference.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

from diskmodel.analytic.checks import Checks
from diskmodel.errors import choose_from
from diskmodel.layout import LEVELS, MAX_DISKS, POOLS, Shape, level_name, zfs_refusal
from diskmodel.loading import dataclass
from diskmodel.naming import signpost
from diskmodel.plain import Record

#: Back-end operations per small host write: one for each copy, or a read and a write of the data and of each parity.
WRITE_PENALTIES = {name: level.write_penalty for name, level in LEVELS.items() if level.n_parity is not None}

#: Requests per second, and disks, beyond which a question has a typing error: all disks ever made are some 1e10.
MAX_FIGURE = 1e15

#: IOPS that calculators assume per disk for small random requests, by rpm: the middle of the ranges in common use. The
#: numbers of disks by the rule of thumb are inversely proportional to them.
USUAL_DISK_IOPS = {15_000: 165.0, 10_000: 140.0, 7_200: 80.0, 5_400: 40.0}


def write_penalty(level: str, *, n_parity: int | None = None) -> int:
    """Return the back-end operations per small host write.

    A parity array reads the old data and each old parity, and writes the new ones: 2 (m + 1) with m parities.

    Parameters
    ----------
    level : str
        One of `WRITE_PENALTIES`, or "erasure" with `n_parity`.
    n_parity : int, optional
        Parities of an erasure code.

    Raises
    ------
    InputError
        When the level is not known.

    Examples
    --------
    >>> write_penalty("raid5"), write_penalty("erasure", n_parity=3)
    (4, 8)
    """
    name = level_name(level)
    if n_parity is not None and name != "erasure":
        Checks().fault("n_parity", n_parity, "only applies to level erasure", "leave it out").done()
    if name == "erasure":
        checks = Checks()
        if n_parity is None:
            checks.fault("n_parity", None, "is missing, but an erasure code needs it", "give the number of parities")
        checks.count(n_parity=n_parity).done()
        assert n_parity is not None
        if n_parity >= MAX_DISKS:
            fix = "give the number of parities, not of disks or bytes"
            checks.fault("n_parity", n_parity, f"must be less than {MAX_DISKS:,}, the most disks of an array", fix)
            checks.done()
        return 2 * (n_parity + 1)
    if name not in WRITE_PENALTIES:
        unknown = ("is not a known RAID level", choose_from(level, [*WRITE_PENALTIES, "erasure"]))
        if name in POOLS:
            unknown = (
                "is a vdev of OpenZFS, which has no write penalty",
                "ask `diskmodel capacity` about an array such as 2x6 seagate-exos-x18 raidz2",
            )
        if post := signpost(level):
            unknown = post.rule, post.fix
        Checks().fault("level", level, *(zfs_refusal(level) or unknown)).done()
    return WRITE_PENALTIES[name]


def back_end_per_host(penalty: float, read_fraction: float, cache_hit: float = 0.0) -> float:
    """Return the disk operations per host request: r (1 - h) + (1 - r) p.

    Parameters
    ----------
    penalty : float
        Operations per write.
    read_fraction : float, in [0, 1]
    cache_hit : float, in [0, 1]
        Share of the reads that the cache serves. Writes always reach the disks.
    """
    Checks().positive(penalty=penalty).ratio(read_fraction=read_fraction, cache_hit=cache_hit).done()
    return read_fraction * (1 - cache_hit) + (1 - read_fraction) * penalty


@dataclass(frozen=True)
class RuleOfThumb(Record):
    """The rule of thumb for an array; figures that the question does not determine are None.

    Attributes
    ----------
    level : str
    write_penalty : int
    back_end_per_host : float
        Disk operations per host request.
    iops : float or None
        Required host requests per second.
    back_end_iops : float or None
        Disk operations per second of all disks together.
    per_disk_iops : float or None
        Required rating of each disk, operations per second; with a ceiling, its load is lower.
    array_iops : float or None
        Rated operations per second of all disks.
    host_iops : float or None
        Host requests per second that the disks sustain at the ceiling.
    disks : int or None
        Number of disks in the question.
    disks_needed : int or None
        Fewest disks that sustain `iops` and that the level can have: at least 3 for RAID 5, an even number for RAID 10.
    utilization_ratio : float or None
        Load of each disk as a share of its rating, when disks, rating and `iops` are all given.
    """

    level: str
    write_penalty: int
    back_end_per_host: float
    iops: float | None = None
    back_end_iops: float | None = None
    per_disk_iops: float | None = None
    array_iops: float | None = None
    host_iops: float | None = None
    disks: int | None = None
    disks_needed: int | None = None
    utilization_ratio: float | None = None

    def json_fields(self) -> dict[str, Any]:
        """Return the determined figures, rounded to the precision of a rule of thumb."""
        digits = {"per_disk_iops": 2, "back_end_per_host": 4, "utilization_ratio": 4}
        data: dict[str, Any] = {}
        for name, value in super().json_fields().items():
            if isinstance(value, float) and math.isfinite(value):
                rounded = round(value, digits.get(name, 1))
                data[name] = int(rounded) if rounded.is_integer() else rounded
            elif isinstance(value, str | int):
                data[name] = value
        return data


def rule_of_thumb(
    level: str,
    *,
    read_fraction: float,
    cache_hit: float = 0.0,
    disks: int | None = None,
    iops: float | None = None,
    per_disk_iops: float | None = None,
    utilization_ceiling: float = 1.0,
    n_parity: int | None = None,
    counts_only: bool = False,
) -> RuleOfThumb:
    """Return the rule of thumb for an array: two of `disks`, `iops` and `per_disk_iops` determine the third.

    Parameters
    ----------
    level : str
        RAID level, see `WRITE_PENALTIES`.
    read_fraction : float, in [0, 1]
    cache_hit : float, in [0, 1]
        Share of the reads that the cache serves.
    disks : int, optional
        Disks that share the load.
    iops : float, optional, per second
        Host requests.
    per_disk_iops : float, optional, per second
        Rating of one disk.
    utilization_ceiling : float, in (0, 1]
        Highest load on a disk as a share of its rating.
    n_parity : int, optional
        Number of parities, for level "erasure".
    counts_only : bool
        Count operations whatever the number of disks: the caller knows the shape of the array, or asks about the
        disks that have not failed.

    Returns
    -------
    RuleOfThumb

    Raises
    ------
    InputError
        With every fault of the arguments.

    Notes
    -----
    back-end = iops (r (1 - h) + (1 - r) p); per disk = back-end / disks / ceiling;
    host = disks · per-disk · ceiling / (r (1 - h) + (1 - r) p). The rule applies only to small random requests: a
    full-stripe write costs a parity array far less, and a sequential stream is limited by bytes
    (`disks_for_throughput`).

    Examples
    --------
    >>> rule_of_thumb("raid5", disks=120, iops=10000, read_fraction=0.6, cache_hit=0.3).to_dict()["per_disk_iops"]
    168.33
    >>> rule_of_thumb("raid5", disks=5, per_disk_iops=140, read_fraction=0.6667, cache_hit=0.8).to_dict()["host_iops"]
    477.3
    """
    checks = Checks().ratio(read_fraction=read_fraction, cache_hit=cache_hit)
    checks.count(disks=disks).positive(iops=iops, per_disk_iops=per_disk_iops)
    for name, value in (("iops", iops), ("per_disk_iops", per_disk_iops)):
        if value is not None and value > MAX_FIGURE:
            checks.fault(name, value, f"must be at most {MAX_FIGURE:g}", "check its unit")
    if not 0 < utilization_ceiling <= 1:
        checks.fault("utilization_ceiling", utilization_ceiling, "must be above 0 and at most 1", "write 85 % as 0.85")
    if sum(given is not None for given in (disks, iops, per_disk_iops)) < 2:
        checks.fault("disks, iops, per_disk_iops", None, "at least two of them are required", "add another")
    checks.done()
    penalty = write_penalty(level, n_parity=n_parity)
    if disks is not None and not counts_only and (problem := _problem_of_count(level, disks, n_parity)):
        rule, _, fix = problem.partition("; ")
        checks.fault("disks", disks, rule, fix).done()
    per_host = back_end_per_host(penalty, read_fraction, cache_hit)
    back_end = None if iops is None else iops * per_host
    array = None if disks is None or per_disk_iops is None else disks * per_disk_iops
    host = None
    if array is not None:
        host = array * utilization_ceiling / per_host if per_host else math.inf
    rating, needed, utilization = per_disk_iops, None, None
    if iops is not None and back_end is not None and per_disk_iops is not None:
        served = _finite(back_end / (per_disk_iops * utilization_ceiling), iops=iops, per_disk_iops=per_disk_iops)
        needed = max(1, math.ceil(round(served, 9)))
        needed = needed if counts_only else _possible_count(level, needed, n_parity)
        utilization = None if disks is None else back_end / (disks * per_disk_iops)
    elif back_end is not None and disks is not None:
        rating = back_end / disks / utilization_ceiling
    return RuleOfThumb(
        level=level,
        write_penalty=penalty,
        back_end_per_host=per_host,
        iops=iops,
        back_end_iops=back_end,
        per_disk_iops=rating,
        array_iops=array,
        host_iops=host,
        disks=disks,
        disks_needed=needed,
        utilization_ratio=utilization,
    )


#: Counts above a minimum that are tried: every level takes one in so many (RAID 60 an even one from 8 on).
_TRIES = 64


def _problem_of_count(level: str, disks: int, n_parity: int | None) -> str:
    """Why an array of that level cannot have so many disks; "" where it can."""
    name = level_name(level)
    groups = None
    if name in ("raid50", "raid60"):
        groups = next((n for n in range(2, disks // 3 + 1) if disks % n == 0), 2)
    problem = Shape(name, disks, groups=groups, n_parity=n_parity).problem() or ""
    return problem.removeprefix(f"disks={disks}: ").replace(f"groups={groups}", "its groups")


def _possible_count(level: str, at_least: int, n_parity: int | None) -> int:
    """The smallest number of disks from `at_least` on that an array of that level can have."""
    if at_least <= MAX_DISKS:
        for disks in range(at_least, at_least + _TRIES):
            if not _problem_of_count(level, disks, n_parity):
                return disks
    return at_least


def _finite(value: float, **given: float) -> float:
    """`value`, refused where the figures that it was calculated from are too far apart for a number.

    Raises
    ------
    InputError
        When it is infinite.
    """
    if not math.isfinite(value) or value > MAX_FIGURE:
        checks = Checks()
        for name, figure in given.items():
            checks.fault(name, figure, "gives a number of disks beyond all bounds", "check its unit")
        checks.done()
    return value


def disks_for_throughput(bytes_per_s: float, per_disk_bytes_per_s: float) -> int:
    """Return the fewest disks whose total throughput reaches `bytes_per_s`.

    Examples
    --------
    >>> disks_for_throughput(1e9, 13e6)
    77
    """
    Checks().positive(bytes_per_s=bytes_per_s, per_disk_bytes_per_s=per_disk_bytes_per_s).done()
    return max(1, math.ceil(round(bytes_per_s / per_disk_bytes_per_s, 9)))


def link_ports(bytes_per_s: float, port_bits_per_s: float) -> int:
    """Return the fewest link ports that carry a throughput, at eight bits per byte (without line coding).

    Examples
    --------
    >>> link_ports(1e9, 8e9), link_ports(1e9, 2e9)
    (1, 4)
    """
    Checks().positive(bytes_per_s=bytes_per_s, port_bits_per_s=port_bits_per_s).done()
    return max(1, math.ceil(round(8 * bytes_per_s / port_bits_per_s, 9)))


def usual_disk_iops(rpm: float) -> float:
    """Return the IOPS that calculators assume per disk: linear between `USUAL_DISK_IOPS`, proportional outside."""
    Checks().positive(rpm=rpm).done()
    known = sorted(USUAL_DISK_IOPS.items())
    if rpm <= known[0][0]:
        return known[0][1] * rpm / known[0][0]
    for (slow, low), (fast, high) in itertools.pairwise(known):
        if rpm <= fast:
            return low + (high - low) * (rpm - slow) / (fast - slow)
    return known[-1][1] * rpm / known[-1][0]
