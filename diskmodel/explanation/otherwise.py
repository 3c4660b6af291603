"""What the description of an array leaves unsaid and its answer depends on: the other case, simulated.

An assumption is one entry of `ASSUMPTIONS`: where it applies, what is assumed, the array of the other case, and what
says it. Texts and JSON read the registry.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from diskmodel.array import Array
from diskmodel.engine.simulate import simulate
from diskmodel.plain import Record
from diskmodel.result.result import Result
from diskmodel.units import in_digits, pretty_bytes
from diskmodel.workload import TraceWorkload, Workload
from diskmodel.workload.used import reach_bytes

AnyWorkload = Workload | TraceWorkload

#: Requests of the other case at most. Its mean is then known to a few percent; an interval takes 16 runs that are
#: longer. Half as many would not end the warm-up of a large write cache.
_N_REQUESTS = 8_000
#: By how much the mean or the rate has to differ for an assumption to be shown. At half, strips are shown that no one
#: can feel; at double, a tenth of the disks is passed over in silence.
_SHOWN_RATIO = 0.1
#: Most assumptions that are shown.
MOST_SHOWN = 3
#: Share of an array that a load reaches from which on there is nothing to trim. At 99 %, rounding would count.
_FULL_RATIO = 0.98
#: The chunk that `mdadm` gives a new array.
_MDADM_CHUNK = 512 << 10


@dataclass(frozen=True)
class Assumption:
    """Something that a description need not say.

    Attributes
    ----------
    name : str
    applies : callable
        Whether it was assumed of an array as it is described, and can matter under a load.
    assumed : callable
        What was, in words.
    otherwise : callable
        The array of the other case under a load.
    said_by : callable
        What says the other case, in words or as an option.
    """

    name: str
    applies: Callable[[Array, AnyWorkload], bool]
    assumed: Callable[[Array], str]
    otherwise: Callable[[Array, AnyWorkload], Array]
    said_by: Callable[[Array, AnyWorkload], str]


@dataclass(frozen=True)
class Otherwise(Record):
    """An assumption, and the answer of the other case.

    Attributes
    ----------
    name, assumed, said_by : str
    iops : float, per second
    mean_ms, p99_ms : float
        nan where the other array is overloaded.
    is_stable : bool
    """

    name: str
    assumed: str
    said_by: str
    iops: float
    mean_ms: float
    p99_ms: float
    is_stable: bool

    def in_words(self, *, is_closed: bool) -> str:
        """Return it as a sentence."""
        if not self.is_stable:
            other = "overloaded"
        elif is_closed:
            other = f"{self.iops:,.0f} IOPS, mean {in_digits(self.mean_ms)} ms"
        else:
            other = f"mean {in_digits(self.mean_ms)} ms, p99 {in_digits(self.p99_ms)} ms"
        return f"assumed: {self.assumed}; with {self.said_by}: {other}"


def otherwise(array: Array, load: AnyWorkload, result: Result, *, seed: int) -> tuple[Otherwise, ...]:
    """Return what was assumed of an array, with the answers of the other cases, the one that differs most first.

    Parameters
    ----------
    array : Array
        As it is described.
    load : Workload or TraceWorkload
    result : Result
        Of the array as it is assumed to be.
    seed : int
        Of the result: the requests are the same.
    """
    found = []
    for one in ASSUMPTIONS:
        if not one.applies(array, load):
            continue
        other = simulate(
            one.otherwise(array, load),
            load,
            seed=seed,
            n_requests=min(_N_REQUESTS, result.n_requests),
            profile_draws=0,
            with_angles=False,
            with_operations=False,
        )
        change = _change(result, other, is_open=load.is_open)
        if change >= _SHOWN_RATIO:
            mean, p99 = (other.mean.mean, other.p99.mean) if other.is_stable else (math.nan, math.nan)
            said = (one.name, one.assumed(array), one.said_by(array, load))
            found.append((change, Otherwise(*said, other.iops.mean, mean, p99, other.is_stable)))
    return tuple(said for _, said in sorted(found, key=lambda item: -item[0])[:MOST_SHOWN])


def _change(result: Result, other: Result, *, is_open: bool) -> float:
    """Return by how much two results differ, as a share; infinity where only one of them is stable."""
    if result.is_stable != other.is_stable:
        return math.inf
    if not result.is_stable or not is_open:
        return abs(other.iops.mean / result.iops.mean - 1)
    return abs(other.mean.mean / result.mean.mean - 1)


def _caches_are_assumed(array: Array, load: AnyWorkload) -> bool:
    is_open = array.drive_write_cache is None and array.layout.disks > 1
    return is_open and array.has_disks_that_buffer and load.has_writes


def why_cached(array: Array) -> str:
    """Return why the drives' own write caches are assumed to be as they are, for people."""
    if array.is_hardware:
        return "as most RAID controllers set them"
    if array.drive.is_sold_with_cache_on:
        return "though SATA disks are sold with them on: what they hold is lost in a power cut"
    return "as SAS disks are sold"


def _about_caches(array: Array) -> str:
    return f"the drives' own write caches are {'on' if array.has_drive_write_cache else 'off'}, {why_cached(array)}"


def _with_caches(array: Array) -> Array:
    return array.model_copy(update={"drive_write_cache": not array.has_drive_write_cache})


def _strip_is_assumed(array: Array, load: AnyWorkload) -> bool:
    layout = array.layout
    has_strips = layout.kind.family in ("copies", "parity") and layout.n_copies < layout.disks
    is_md = has_strips and not array.is_hardware and "strip_bytes" not in layout.model_fields_set
    return is_md and load.longest_request_bytes > layout.strip_bytes


def _with_chunks(array: Array) -> Array:
    return array.model_copy(update={"layout": array.layout.model_copy(update={"strip_bytes": _MDADM_CHUNK})})


def _full_is_assumed(array: Array, load: AnyWorkload) -> bool:
    is_open_question = array.used_ratio is None and array.drive.full_unless_said and not array.layout.kind.is_pool
    return is_open_question and load.has_writes and _reached_ratio(array, load) <= _FULL_RATIO


def _reached_ratio(array: Array, load: AnyWorkload) -> float:
    """Return the share of an array that a load reaches, in whole percent."""
    return math.ceil(100 * min(reach_bytes(load, array.usable_bytes) / array.usable_bytes, 1.0)) / 100


def _with_rest_trimmed(array: Array, load: AnyWorkload) -> Array:
    return array.model_copy(update={"used_ratio": _reached_ratio(array, load)})


ASSUMPTIONS = (
    Assumption(
        name="drive_write_cache",
        applies=_caches_are_assumed,
        assumed=_about_caches,
        otherwise=lambda array, _: _with_caches(array),
        said_by=lambda array, _: f"--drive-write-cache {'off' if array.has_drive_write_cache else 'on'}",
    ),
    Assumption(
        name="strip",
        applies=_strip_is_assumed,
        assumed=lambda array: f"strips of {pretty_bytes(array.layout.strip_bytes)}",
        otherwise=lambda array, _: _with_chunks(array),
        said_by=lambda *_: f"--strip {pretty_bytes(_MDADM_CHUNK).replace(' ', '')} (mdadm's)",
    ),
    Assumption(
        name="used",
        applies=_full_is_assumed,
        assumed=lambda _: "other data fills the drives",
        otherwise=_with_rest_trimmed,
        said_by=lambda array, load: f"--used {_reached_ratio(array, load):.0%} (the rest trimmed)",
    ),
)
