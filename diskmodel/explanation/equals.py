"""Equals compared with each other: members of an array, halves of a mirror, paths, jobs, and one time with another.

This needs no model and no description: what does the same as the others should take as long as they do. It comes first,
since a mean over all members shows little of the one that is slow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, fields, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from diskmodel.formats import SERIES, DeviceLoad, FioJob
from diskmodel.loading import dataclass
from diskmodel.plain import Record
from diskmodel.units import in_digits

Floats = NDArray[np.float64]

#: By how much one differs from its equals at least: sound disks of one make differ by a few percent (random reads of
#: eight equal ones by 1.8 %, buffered writes by 7 %: H. Kiehl, LKML, 2005-08-29), and a queue makes up to ten times
#: as much of it. Of two, nobody knows which is usual.
_LEAST, _LEAST_OF_TWO = 1.5, 2.0
#: The same in standard deviations of the others.
_DEVIATIONS = 4.0
#: Requests below which the times of one are left alone, and spread of sound equals, as a logarithm, at least.
_FEWEST, _USUAL = 50.0, 0.08
#: Load, relative to that of the others, from which longer times are no fault of the disk: it has more to do.
_MORE = 1.5
#: Rate, relative to that of the others, below which one does nothing.
_IDLE = 0.01
#: Times of a step in a recording: by how much each request is longer, by how much the rate may have grown meanwhile,
#: and samples on either side.
_STEP, _GROWN, _SAMPLES = 1.5, 1.15, 4
#: A sample's own spread, as a logarithm, is taken from the differences of neighbors, and is at least this.
_SAMPLE_SPREAD = 0.1
#: Probability of what was seen directly: the rest is what no comparison of equals shows.
_SEEN = 0.95

_SECONDS = 60.0  # of a sample that does not say how long it is, as when recordings are weighed


@dataclass(frozen=True)
class Difference(Record):
    """One that is not like its equals.

    Attributes
    ----------
    cause : str
        As causes are named.
    title, check : str
        In words, and what decides.
    who : str
        Name of the one.
    ratio : float
        Its time over that of the others; of a load, its rate over theirs.
    probability : float
    without : float
        The mean time of all requests over that of the others, which would be left without it.
    """

    cause: str
    title: str
    check: str
    who: str
    ratio: float
    probability: float
    without: float


@dataclass(frozen=True)
class Equal:
    """One of several that should do the same.

    Attributes
    ----------
    name : str
    n : float
        Requests that were counted.
    rate_per_s : float
    times_ns : mapping of str to float
        Mean time of "reads" and "writes".
    parts_per_s : mapping of str to float
        Rates of these.
    """

    name: str
    n: float
    rate_per_s: float
    times_ns: Mapping[str, float] = field(default_factory=dict)
    parts_per_s: Mapping[str, float] = field(default_factory=dict)


def equals_of_devices(loads: Sequence[DeviceLoad]) -> list[Equal]:
    """Return devices of a recording to compare."""
    found = []
    for load in loads:
        seconds = (load.interval_s or _SECONDS) * np.count_nonzero(np.isfinite(load.ios_per_s))
        times, rates = {}, {}
        for part, own in (("reads", "read"), ("writes", "write")):
            rate, time = getattr(load, f"{own}s_per_s"), getattr(load, f"{own}_await_ns")
            known = np.isfinite(rate) & np.isfinite(time) & (rate > 0)
            if known.any() and (mean := float(np.average(time[known], weights=rate[known]))) > 0:
                times[part], rates[part] = mean, float(np.nanmean(rate))
        known = np.isfinite(load.ios_per_s) & np.isfinite(load.await_ns) & (load.ios_per_s > 0)
        if not times and known.any():
            mean = float(np.average(load.await_ns[known], weights=load.ios_per_s[known]))
            if mean > 0:
                times["requests"], rates["requests"] = mean, float(np.nanmean(load.ios_per_s))
        rate = float(np.nan_to_num(np.nanmean(load.ios_per_s))) if len(load) else 0.0
        found.append(Equal(load.device.strip(), rate * seconds, rate, times, rates))
    return found


def equals_of_jobs(jobs: Sequence[FioJob]) -> list[Equal]:
    """Return jobs of fio that ran at the same time and were asked for the same; none where they were not."""
    if len(jobs) < 2 or len({(job.pattern, job.depth, job.n_jobs, str(job.block_bytes)) for job in jobs}) > 1:
        return []
    if any(job.rates_per_s for job in jobs):
        return []
    found = []
    for at, job in enumerate(jobs):
        own = {f"{kind}s": one for kind, one in job.directions.items() if one.iops > 0}
        times = {part: one.response_ns for part, one in own.items() if one.response_ns}
        rates = {part: one.iops for part, one in own.items()}
        n = sum(one.n_ios or one.iops for one in own.values())
        twice = sum(other.name == job.name for other in jobs) > 1
        found.append(Equal(f"{job.name} {at + 1}" if twice else job.name, n, sum(rates.values()), times, rates))
    return found


def differences(equals: Sequence[Equal], what: str = "disk") -> list[Difference]:
    """Return those that are not like the others, the one that differs most first.

    Parameters
    ----------
    equals : sequence of Equal
        At least two.
    what : "disk" or "job"
    """
    busy = [one for one in equals if one.n >= _FEWEST]
    if len(busy) < 2:
        return []
    usual = float(np.median([one.rate_per_s for one in busy]))
    idle = [one for one in equals if one.rate_per_s <= _IDLE * usual]
    found = [_idle(one, busy) for one in idle if what == "disk" and len(idle) < len(equals) / 2]
    for one in busy:
        others = [other for other in busy if other is not one]
        found += [_late(one, others, part, what) for part in one.times_ns if _is_late(one, others, part)][:1]
    named: dict[str, Difference] = {}
    for difference in sorted(found, key=lambda other: -other.ratio):
        named.setdefault(difference.who, difference)
    return list(named.values())


def _ratio(one: Equal, others: Sequence[Equal], part: str) -> float:
    theirs = [other.times_ns[part] for other in others if part in other.times_ns]
    return one.times_ns[part] / float(np.median(theirs)) if theirs else 1.0


def _is_late(one: Equal, others: Sequence[Equal], part: str) -> bool:
    """Whether one takes longer than its equals by more than they differ."""
    theirs = np.log([other.times_ns[part] for other in others if part in other.times_ns])
    n = one.n * one.parts_per_s.get(part, one.rate_per_s) / one.rate_per_s
    if not len(theirs) or n < _FEWEST:
        return False
    spread = max(1.4826 * float(np.median(np.abs(theirs - np.median(theirs)))), _USUAL)
    least = _LEAST_OF_TWO if len(theirs) == 1 else _LEAST
    beyond = max(np.log(least), _DEVIATIONS * np.hypot(spread, n**-0.5))
    return bool(np.log(_ratio(one, others, part)) > beyond)


def _late(one: Equal, others: Sequence[Equal], part: str, what: str) -> Difference:
    ratio = _ratio(one, others, part)
    theirs = one.times_ns[part] / ratio
    more = one.rate_per_s / float(np.median([other.rate_per_s for other in others]))
    n_all = sum(other.parts_per_s.get(part, 0.0) for other in (one, *others))
    times = [other.parts_per_s.get(part, 0.0) * other.times_ns.get(part, 0.0) for other in (one, *others)]
    without = max(sum(times) / n_all / theirs, 1.0) if n_all else ratio
    rest = "the other" if len(others) == 1 else "the others"
    both = f"{in_digits(one.times_ns[part] / 1e6)} ms, {'that' if len(others) == 1 else 'theirs'} {_ms(theirs)}"
    if what == "job":
        title = f"{one.name} waits {in_digits(ratio, 2)} times longer than {rest}: {part} of {both}"
        check = "the same jobs one after the other (--stonewall), and each of them on the place of another one"
        return Difference("one-slow-job", title, check, one.name, ratio, _SEEN, without)
    if more > _MORE:
        title = (
            f"{one.name} gets {in_digits(more, 2)} times as many requests as {rest}, and {part} take "
            f"{in_digits(ratio, 2)} times longer there: {both}"
        )
        check = f"what lies on it: lsblk -s, lvs -o +devices, filefrag -v FILE; iostat -x 5 {one.name}"
        return Difference("uneven-load", title, check, one.name, ratio, _SEEN, without)
    title = f"{one.name} answers {in_digits(ratio, 2)} times later than {rest}: {part} take {both}"
    other = _named(others[0].name)
    only = _only(one, others, part)
    check = f"smartctl -x {_named(one.name)}, and beside it that of {other}: errors, link speed, temperature"
    if only == "writes":
        title += "; its reads take as long as theirs"
        check = f"hdparm -W {_named(one.name)} {other} (write cache on or off); then {check}"
    return Difference("one-slow-disk", title, check, one.name, ratio, _SEEN, without)


def _only(one: Equal, others: Sequence[Equal], part: str) -> str:
    """Return the direction that alone is slower: the other one is as that of the equals."""
    rest = [name for name in one.times_ns if name != part]
    return part if rest and all(_ratio(one, others, name) < _LEAST for name in rest) else ""


def _idle(one: Equal, busy: Sequence[Equal]) -> Difference:
    title = f"{one.name} does nothing, while {len(busy)} others work: it has failed, is a spare, or holds no data"
    check = f"cat /proc/mdstat; zpool status; smartctl -H {_named(one.name)} (all only read)"
    return Difference("member-failed", title, check, one.name, float(len(busy)), 0.6, 1.0)


def _named(name: str) -> str:
    return name if "/" in name or ":" in name else f"/dev/{name}"


def _ms(value_ns: float) -> str:
    return f"{in_digits(value_ns / 1e6)} ms"


# ---------------------------------------------------------------- before and after

Load = TypeVar("Load", bound=DeviceLoad)


@dataclass(frozen=True)
class Step:
    """A time in a recording from which on each request takes longer, or shorter, while no more of them come.

    Attributes
    ----------
    at : int
        The first sample of the time after it.
    n : int
        All samples.
    ratio : float
        Time of a request after it over that before.
    seconds : float or None
        From the beginning of the recording, where samples say how long they are.
    """

    at: int
    n: int
    ratio: float
    seconds: float | None

    def __str__(self) -> str:
        when = f", {in_digits(self.seconds)} s after the beginning" if self.seconds is not None else ""
        words = f"{in_digits(self.ratio, 2)} times as long" if self.ratio > 1 else f"1/{in_digits(1 / self.ratio, 2)}"
        return f"from sample {self.at + 1} of {self.n} on{when}, a request takes {words} as before"


def step_of(loads: Sequence[DeviceLoad]) -> Step | None:
    """Return the step in a recording; None where there is none, or where more was asked from then on."""
    rates = np.sum([load.ios_per_s for load in loads], axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        spent = np.sum([load.ios_per_s * _await(load) for load in loads], axis=0)
        times = spent / rates
    known = np.flatnonzero(np.isfinite(times) & (times > 0) & (rates > 0))
    if len(known) < 2 * _SAMPLES:
        return None
    logs, asked = np.log(times[known]), rates[known]
    spread = max(1.4826 * float(np.median(np.abs(np.diff(logs)))) / np.sqrt(2), _SAMPLE_SPREAD)
    places = np.arange(_SAMPLES, len(logs) - _SAMPLES + 1)
    sums = np.cumsum(logs)
    before = sums[places - 1] / places
    after = (sums[-1] - sums[places - 1]) / (len(logs) - places)
    # the squares that a step takes away from those of a constant
    gains = (after - before) ** 2 * places * (len(logs) - places) / len(logs)
    at = int(places[np.argmax(gains)])
    first, last = float(np.median(logs[:at])), float(np.median(logs[at:]))
    rest = float(np.sqrt(np.mean(np.concatenate([(logs[:at] - first) ** 2, (logs[at:] - last) ** 2]))))
    size = last - first
    is_step = abs(size) > max(np.log(_STEP), _DEVIATIONS * spread, 3 * rest)
    grown = float(np.median(asked[at:]) / np.median(asked[:at]))
    if not is_step or size < 0 or grown > _GROWN:
        return None
    seconds = loads[0].interval_s * known[at] if loads[0].interval_s else None
    return Step(int(known[at]), len(rates), float(np.exp(size)), seconds)


def _await(load: DeviceLoad) -> Floats:
    """Return the mean time of a request in each sample, 0 where there was none."""
    found = np.where(load.ios_per_s > 0, load.await_ns, 0.0)
    for rate, time in ((load.reads_per_s, load.read_await_ns), (load.writes_per_s, load.write_await_ns)):
        is_alone = ~np.isfinite(found) & np.isfinite(time) & (rate >= load.ios_per_s)
        found = np.where(is_alone, time, found)
    return np.asarray(found)


def part_of(load: DeviceLoad, samples: slice) -> DeviceLoad:
    """Return some samples of a recording."""
    series: dict[str, Any] = {name: getattr(load, name)[samples] for name in SERIES}
    assert set(series) <= {one.name for one in fields(load)}
    return replace(load, **series)
