"""What the description of an array leaves unsaid and its answer depends on: the other case, simulated.

An assumption is one entry of `ASSUMPTIONS`: where it applies, what is assumed, the array of the other case, and what
says it. Texts and JSON read the registry.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from diskmodel.array import Array
from diskmodel.engine.ledger import current
from diskmodel.engine.simulate import simulate
from diskmodel.host import HOSTS, HostKind
from diskmodel.host.assumed import kind_of
from diskmodel.layout.pools import VOLUME_RECORD_BYTES
from diskmodel.loading import dataclass
from diskmodel.plain import Record
from diskmodel.result import Result
from diskmodel.units import in_digits, pretty_bytes
from diskmodel.workload import TraceWorkload, Workload, reach_bytes

if TYPE_CHECKING:
    from diskmodel.drive import OtherPrograms
    from diskmodel.plan import Outcome

AnyWorkload = Workload | TraceWorkload

#: Requests of the other case at most. Its mean is then known to a few percent; an interval takes 16 runs that are
#: longer. Half as many would not end the warm-up of a large write cache.
_N_REQUESTS = 8_000
#: The same where nothing fills: the first requests are as the last ones.
_N_QUICK = 4_000
#: Part of the usual time of a run that the other case takes at most. At half, the mean of large requests is from
#: too few of them; at double, seven assumptions take as long as the answer.
_PART_OF_TIME = 0.2
#: By how much the mean or the rate has to differ for an assumption to be shown. At half, strips are shown that no one
#: can feel; at double, a tenth of the disks is passed over in silence.
_SHOWN_RATIO = 0.1
#: Most assumptions that are shown.
MOST_SHOWN = 3
#: Assumptions about drives, which a plan does not look into itself.
OF_DRIVES = ("drive_write_cache", "order", "used")
#: Share of an array that a load reaches from which on there is nothing to trim. At 99 %, rounding would count.
_FULL_RATIO = 0.98
#: Part of the array that holds the data of the other case, where a load is taken to reach all of it: seeks are then a
#: third as long. At a third they are half as long; at a thirtieth a track is a large part of it.
_PART = 0.1
#: Outstanding requests for each disk of a closed load, from which its order of commands matters.
_QUEUED = 2
#: The host of the other case: what is met by it is met by every host of the table.
_OLDER: HostKind = "libaio-2014"
#: The chunk that `mdadm` gives a new array.
_MDADM_CHUNK = 512 << 10


class Assumption(NamedTuple):
    """Something that a description need not say.

    Attributes
    ----------
    name : str
    applies : callable
        Whether it was assumed of an array as it is described, and can matter under a load.
    assumed : callable
        What was, in words.
    otherwise : callable
        Array and load of the other case.
    said_by : callable
        What says the other case, in words or as an option.
    n_requests : int
        Of the other case at most.
    """

    name: str
    applies: Callable[[Array, AnyWorkload], bool]
    assumed: Callable[[Array], str]
    otherwise: Callable[[Array, AnyWorkload], tuple[Array, AnyWorkload]]
    said_by: Callable[[Array, AnyWorkload], str]
    n_requests: int = _N_REQUESTS


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
        return f"Assumed: {self.assumed}; with {self.said_by}: {self.figures(is_closed=is_closed)}"

    def figures(self, *, is_closed: bool) -> str:
        """Return the answer of the other case."""
        if not self.is_stable:
            return "overloaded"
        if is_closed:
            return f"{self.iops:,.0f} IOPS, mean {in_digits(self.mean_ms)} ms"
        return f"mean {in_digits(self.mean_ms)} ms, p99 {in_digits(self.p99_ms)} ms"


def otherwise(
    array: Array, load: AnyWorkload, result: Result | Outcome, *, seed: int, names: Sequence[str] = ()
) -> tuple[Otherwise, ...]:
    """Return what was assumed of an array, with the answers of the other cases, the one that differs most first.

    Parameters
    ----------
    array : Array
        As it is described.
    load : Workload or TraceWorkload
    result : Result or Outcome
        Of the array as it is assumed to be.
    seed : int
        Of the result: the requests are the same.
    names : sequence of str
        The assumptions that are looked at; without any, all.
    """
    found = []

    @cache
    def as_assumed(n_requests: int) -> Result | Outcome:
        is_as_long = n_requests >= (result.n_requests or n_requests)
        return result if is_as_long else _short(array, load, seed, n_requests)

    for one in ASSUMPTIONS:
        if (names and one.name not in names) or not one.applies(array, load):
            continue
        if not current().has_time_for("what was assumed"):
            break
        n = min(one.n_requests, result.n_requests or one.n_requests)
        other, own = _short(*one.otherwise(array, load), seed, n), as_assumed(n)
        change = _change(own, other, is_open=load.is_open)
        if change >= _SHOWN_RATIO:
            rate, mean_ms, p99_ms = _figures(result, own, other)
            said = (one.name, one.assumed(array), one.said_by(array, load))
            found.append((change, Otherwise(*said, rate, mean_ms, p99_ms, other.is_stable)))
    return tuple(said for _, said in sorted(found, key=lambda item: -item[0])[:MOST_SHOWN])


def _short(array: Array, load: AnyWorkload, seed: int, n_requests: int) -> Result:
    """Return the result of a short run."""
    return simulate(
        array,
        load,
        seed=seed,
        n_requests=n_requests,
        profile_draws=0,
        with_angles=False,
        with_operations=False,
        is_one_of_many=_PART_OF_TIME,
    )


def _figures(result: Result | Outcome, own: Result | Outcome, other: Result) -> tuple[float, float, float]:
    """Return rate, mean and p99 in milliseconds of the other case.

    A short run may see a part of what a long one does: what memory serves, or a cache before it is cleaned. So the long
    run's figures change as those of the short runs do, which have the same requests.
    """
    if own is result or not (result.is_stable and own.is_stable and other.is_stable):
        mean, p99 = (float(other.mean), float(other.p99)) if other.is_stable else (math.nan, math.nan)
        return other.run_iops.value, mean, p99
    rate = result.iops.value * other.run_iops.value / own.iops.value
    mean, p99 = (
        float(getattr(result, name)) * float(getattr(other, name)) / float(getattr(own, name))
        for name in ("mean", "p99")
    )
    return rate, mean, p99


def _change(result: Result | Outcome, other: Result, *, is_open: bool) -> float:
    """Return by how much two results differ, as a share; infinity where only one of them is stable."""
    if result.is_stable != other.is_stable:
        return math.inf
    if not result.is_stable or not is_open:
        return abs(other.run_iops.value / result.iops.value - 1)
    return abs(float(other.mean) / float(result.mean) - 1)


def _caches_are_assumed(array: Array, load: AnyWorkload) -> bool:
    if array.drive_write_cache is not None:
        return False
    if array.has_needless_flushes:
        return isinstance(load, Workload) and load.has_syncs
    return array.layout.disks > 1 and array.has_disks_that_buffer and load.has_writes


def _about_caches(array: Array) -> str:
    state = "on" if array.has_drive_write_cache else "off"
    return f"the drives' own write caches are {state}, {array.why_drive_write_cache}"


def _with_caches(array: Array) -> Array:
    return array.model_copy(update={"drive_write_cache": not array.has_drive_write_cache})


def _strip_is_assumed(array: Array, load: AnyWorkload) -> bool:
    layout = array.layout
    has_strips = layout.has_strips_to_cut and layout.has_strips and layout.n_copies < layout.disks
    is_md = has_strips and not array.is_hardware and "strip_bytes" not in layout.model_fields_set
    return is_md and load.longest_request_bytes > layout.strip_bytes


def _with_chunks(array: Array) -> Array:
    return array.model_copy(update={"layout": array.layout.model_copy(update={"strip_bytes": _MDADM_CHUNK})})


def _full_is_assumed(array: Array, load: AnyWorkload) -> bool:
    is_open_question = array.used_ratio is None and array.drive.full_unless_said and array.layout.writes_in_place
    return is_open_question and load.has_writes and _reached_ratio(array, load) <= _FULL_RATIO


def _reached_ratio(array: Array, load: AnyWorkload) -> float:
    """Return the share of an array that a load reaches, in whole percent."""
    return math.ceil(100 * min(reach_bytes(load, array.usable_bytes) / array.usable_bytes, 1.0)) / 100


def _with_rest_trimmed(array: Array, load: AnyWorkload) -> Array:
    return array.model_copy(update={"used_ratio": _reached_ratio(array, load)})


def _span_is_assumed(array: Array, load: AnyWorkload) -> bool:
    is_said = isinstance(load, TraceWorkload) or (load.span_bytes, load.span_ratio) != (None, None)
    return not is_said and array.drive.has_arms and _reached_ratio(array, load) > _FULL_RATIO and _is_random(load)


def _is_random(load: AnyWorkload) -> bool:
    return isinstance(load, Workload) and any(stream.addresses.pattern == "uniform" for stream in load.streams)


def _within_a_part(array: Array, load: AnyWorkload) -> tuple[Array, AnyWorkload]:
    return array, load.model_copy(update={"span_ratio": _PART}) if isinstance(load, Workload) else load


def _order_is_assumed(array: Array, load: AnyWorkload) -> bool:
    return array.drive.assumption is not None and load.queue_depth >= _QUEUED * array.layout.disks


def _order_of(array: Array) -> str:
    return "" if array.drive.assumption is None else array.drive.assumption.words.partition(":")[0]


def _bitmap_is_assumed(array: Array, load: AnyWorkload) -> bool:
    return load.has_writes and array.lacks_usual_bitmap


def _with_bitmap(array: Array) -> Array:
    return array.model_copy(update={"controller": array.controller.model_copy(update={"linux_md": True})})


def _host_is_assumed(array: Array, load: AnyWorkload) -> bool:
    return array.host.kind is None and array.host.submission_ns is None and array.behind_host(load).host.has_work


def _with_older_host(array: Array) -> Array:
    return array.model_copy(update={"host": array.host.model_copy(update={"kind": _OLDER})})


def _record_is_assumed(array: Array, load: AnyWorkload) -> bool:
    return array.layout.record_bytes is None and array.for_use(load) is not array


def _with_other_records(array: Array) -> str:
    record = pretty_bytes(array.with_records_of_files().layout.pool_record_bytes).replace(" ", "")
    return f'"record {record}" (of files)'


def _about_programs(name: str) -> Assumption:
    """Return the assumption about programs of a system that its card has by this name."""

    def of(array: Array) -> OtherPrograms:
        return array.drive.other_programs()[name]

    return Assumption(
        name=name,
        applies=lambda array, load: name in array.drive.other_programs() and (load.has_writes or name != "build"),
        assumed=lambda array: of(array).assumed,
        otherwise=lambda array, load: (array.model_copy(update={"drive": of(array).system}), load),
        said_by=lambda array, _: of(array).said_by,
        n_requests=_N_QUICK,
    )


ASSUMPTIONS = (
    Assumption(
        name="record",
        applies=_record_is_assumed,
        assumed=lambda _: f"records of {pretty_bytes(VOLUME_RECORD_BYTES)}, as volumes of virtual machines have",
        otherwise=lambda array, load: (array.with_records_of_files(), load),
        said_by=lambda array, _: _with_other_records(array),
    ),
    Assumption(
        name="drive_write_cache",
        applies=_caches_are_assumed,
        assumed=_about_caches,
        otherwise=lambda array, load: (_with_caches(array), load),
        said_by=lambda array, _: f"--drive-write-cache {'off' if array.has_drive_write_cache else 'on'}",
    ),
    Assumption(
        name="strip",
        applies=_strip_is_assumed,
        assumed=lambda array: f"strips of {pretty_bytes(array.layout.strip_bytes)}",
        otherwise=lambda array, load: (_with_chunks(array), load),
        said_by=lambda *_: f"--strip {pretty_bytes(_MDADM_CHUNK).replace(' ', '')} (mdadm's)",
    ),
    Assumption(
        name="used",
        applies=_full_is_assumed,
        assumed=lambda _: "other data fills the drives",
        otherwise=lambda array, load: (_with_rest_trimmed(array, load), load),
        said_by=lambda array, load: f"--used {_reached_ratio(array, load):.0%} (the rest trimmed)",
    ),
    Assumption(
        name="span",
        applies=_span_is_assumed,
        assumed=lambda _: "the requests are spread over the whole array",
        otherwise=_within_a_part,
        said_by=lambda *_: "the data in a tenth of it (--span)",
        n_requests=_N_QUICK,
    ),
    Assumption(
        name="order",
        applies=_order_is_assumed,
        assumed=lambda array: f"queued commands are ordered {_order_of(array)}",
        otherwise=lambda array, load: (array.model_copy(update={"drive": array.drive.one_at_a_time()}), load),
        said_by=lambda *_: "disks that take one command at a time (NCQ off)",
        n_requests=_N_QUICK,
    ),
    Assumption(
        name="bitmap",
        applies=_bitmap_is_assumed,
        assumed=lambda _: "Linux md has no write-intent bitmap",
        otherwise=lambda array, load: (_with_bitmap(array), load),
        said_by=lambda *_: "mdadm's (--controller linux-md)",
        n_requests=_N_QUICK,
    ),
    _about_programs("release"),
    _about_programs("build"),
    Assumption(
        name="host",
        applies=_host_is_assumed,
        assumed=lambda array: kind_of(array.host).title,
        otherwise=lambda array, load: (_with_older_host(array), load),
        said_by=lambda *_: f"--host {_OLDER}, {HOSTS[_OLDER].title}",
        n_requests=_N_QUICK,
    ),
)
