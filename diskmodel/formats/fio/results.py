"""What holds of results in every form of output: which of them count, when they ran, and what limited them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from diskmodel.errors import Fault, FormatError
from diskmodel.formats.fio.job import FioDirection, FioJob
from diskmodel.units import in_digits

#: A rate that was asked for counts as reached from this share of it on: short runs end before their last requests. At
#: half the distance a run of a second would fall short of its own rate; at double, one that lost a tenth would not.
_REACHED = 0.9
#: Requests in flight, as a share of those that the options allow, from which on the device was busy all the time; runs
#: that saturate a device reach 0.98. Then a rate that fell short by so little was no limit.
_BUSY, _SHORT_OF = 0.9, 0.98
#: Longest mean time for submission, as a share of the run, that is taken where fio was to measure no whole latency: it
#: then prints the time since the run began, half the run on average.
_LONGEST_SLAT = 0.05
#: Requests in flight beyond what the options allow by more are no rounding.
_ABOVE_ALLOWED = 1.1
#: Reads and writes of sizes that differ by more show in the mean of both how many of each there were.
_OTHER_SIZE = 0.05

#: The name under which fio adds up the results of several machines.
ALL_CLIENTS = "All clients"


def settled(jobs: Sequence[FioJob], source: str) -> list[FioJob]:
    """Return the jobs of results that count: without sums, without what moved nothing, limited as they were.

    Raises
    ------
    FormatError
        When no job completed a request.
    """
    counted = [without_impossible(directions_apart(without_empty(job))) for job in without_sums(jobs)]
    done = [job for job in counted if job.directions]
    if not done:
        errors = sorted({job.error for job in counted if job.error})
        why = f": fio ended with error {', '.join(map(str, errors))}" if errors else ""
        name = counted[0].name if counted else "job"
        fix = "run the job again; without results, give its job file"
        raise FormatError(Fault(name or "job", None, f"completed no request{why}", fix), source)
    idle = [job for job in counted if not job.directions]
    if idle:
        said = "; ".join(
            f"{job.name} completed no request" + (f" (error {job.error})" if job.error else "") for job in idle
        )
        done[0] = replace(done[0], notes=(*done[0].notes, f"left out: {said}"))
    return [limited_as_measured(job) for job in in_time(done)]


def without_sums(jobs: Sequence[FioJob]) -> list[FioJob]:
    """Return the jobs without the sum over several machines, which repeats them."""
    own = [job for job in jobs if job.name != ALL_CLIENTS]
    return own or list(jobs)


def without_empty(job: FioJob) -> FioJob:
    """Return a job without directions that moved no byte: a request that failed is counted, too."""

    def moved(part: FioDirection | None) -> FioDirection | None:
        return part if part is not None and part.total_bytes > 0 else None

    return replace(job, read=moved(job.read), write=moved(job.write), trim=moved(job.trim))


def in_time(jobs: Sequence[FioJob]) -> list[FioJob]:
    """Return the jobs with the groups that they ran in: `wait_for` opens no group of fio's own."""
    found: list[FioJob] = []
    group_of: dict[str, int] = {}
    for job in jobs:
        awaited = job.options.get("wait_for")
        group = job.group if awaited is None else max(job.group, group_of.get(awaited, -1) + 1)
        group_of[job.name] = max(group, group_of.get(job.name, 0))
        found.append(job if group == job.group else replace(job, group=group))
    return found


def without_impossible(job: FioJob) -> FioJob:
    """Return a job without latencies that cannot be: longer than the run, or more in flight than its options allow."""
    dropped: dict[str, float] = {}
    false_slat = False

    def possible(direction: FioDirection | None) -> FioDirection | None:
        nonlocal false_slat
        if direction is None or not direction.runtime_ns:
            return direction
        if _has_false_slat(job, direction):
            false_slat = True
            direction = replace(direction, slat=None)
        kinds = {kind: getattr(direction, kind) for kind in ("slat", "clat", "lat")}
        bad = {kind: found for kind, found in kinds.items() if found and found.mean_ns > direction.runtime_ns}
        dropped.update({kind: found.mean_ns / direction.runtime_ns for kind, found in bad.items()})
        # what is left of them would pass for all of the latency
        return replace(direction, slat=None, clat=None, lat=None) if bad else direction

    read, write, trim = (possible(direction) for direction in (job.read, job.write, job.trim))
    notes = []
    if false_slat:
        notes.append(
            "disable_lat leaves the time for submission unmeasured: what fio printed of it is left out, and latency "
            "counts from submission"
        )
    if dropped:
        notes.append(
            f"latencies are impossible and left out: their mean ({', '.join(dropped)}) is "
            f"{in_digits(max(dropped.values()))} times as long as the run"
        )
    return replace(job, read=read, write=write, trim=trim, notes=(*job.notes, *notes)) if notes else job


def _has_false_slat(job: FioJob, part: FioDirection) -> bool:
    """Whether the time for submission is none: `disable_lat` lets fio take the time since the run began for it."""
    if part.lat is not None or part.slat is None or part.clat is None:
        return False
    if part.slat.mean_ns > _LONGEST_SLAT * part.runtime_ns:
        return True
    in_flight = part.iops * (part.slat.mean_ns + part.clat.mean_ns) / 1e9
    return bool(job.options) and in_flight > _ABOVE_ALLOWED * job.outstanding


def limited_as_measured(job: FioJob) -> FioJob:
    """Return a job whose rates are those that limited it.

    A rate that was asked for and never reached limited nothing; where more was measured than was asked for, or less of
    one direction because the other held it, the measured rate counts.
    """
    asked = {kind: rate for kind, rate in job.rates_per_s.items() if kind in job.directions}
    if not asked:
        return job
    measured = {kind: job.directions[kind].iops for kind in asked}
    busy = job.measured_outstanding
    is_saturated = busy is not None and busy >= _BUSY * job.outstanding
    reached = _SHORT_OF if is_saturated else _REACHED
    if all(measured[kind] < reached * asked[kind] for kind in asked):
        note = f"{_compared(asked, measured)}: the rate was never reached and limited nothing, so it is left out"
        return replace(job, rates_per_s={}, notes=(*job.notes, note))
    off = {kind: rate for kind, rate in measured.items() if not _REACHED <= rate / asked[kind] <= 2 - _REACHED}
    if not off:
        return job
    note = f"{_compared({kind: asked[kind] for kind in off}, off)}: the measured rate is taken"
    if job.options.get("rate_process", "").strip() == "poisson" and any(off[kind] > asked[kind] for kind in off):
        note += " (older versions of fio run rate_process=poisson at up to twice the rate)"
    return replace(job, rates_per_s={**job.rates_per_s, **off}, notes=(*job.notes, note))


def _compared(asked: Mapping[str, float], measured: Mapping[str, float]) -> str:
    return ", ".join(
        f"{kind}s: {in_digits(rate, 4)}/s were asked for and {in_digits(measured[kind], 4)}/s measured"
        for kind, rate in asked.items()
    )


def directions_apart(job: FioJob) -> FioJob:
    """Return a job whose reads and writes were reported together (`unified_rw_reporting`) with figures of each.

    Without the share that was asked for, half of them are taken as reads.
    """
    both = job.read
    if not job.is_unified or both is None:
        return job
    share, is_known = job.read_fraction, job.is_complete
    is_mixed = job.pattern in ("rw", "randrw")
    if is_mixed:
        is_known = is_known or bool({"rwmixread", "rwmixwrite"} & set(job.options))
    by_size = None if is_known else _share_by_size(job, both)
    share = by_size or 0.5 if share is None or (is_mixed and not is_known) else share
    blocks = job.block_bytes or {}
    if set(blocks) == {"read"}:
        blocks = dict.fromkeys(("read", "write"), blocks["read"])
    sizes = [blocks.get(kind, 1.0) for kind in ("read", "write")]
    of_bytes = share * sizes[0] / (share * sizes[0] + (1 - share) * sizes[1])
    parts = {"read": _part_of(both, share, of_bytes), "write": _part_of(both, 1 - share, 1 - of_bytes)}
    how = "by the mean of their sizes" if by_size else "half and half where the output does not show it"
    note = (
        "reads and writes are reported together (unified_rw_reporting): they are taken apart by the mix asked for"
        f"{'' if is_known else f', {how}'}, with one latency for both"
    )
    notes = (*job.notes, note) if 0 < share < 1 else job.notes
    return replace(
        job,
        read=parts["read"],
        write=parts["write"],
        block_bytes=blocks,
        read_fraction=share,
        notes=notes,
        is_unified=False,
        has_one_latency=0 < share < 1,
    )


def _share_by_size(job: FioJob, both: FioDirection) -> float | None:
    """Return the share of reads among requests that are reported together, from their mean size; None where it may be
    any."""
    asked = [job.block_bytes.get(kind, 0.0) for kind in ("read", "write")]
    if job.pattern not in ("rw", "randrw") or not job.has_sizes or abs(asked[0] - asked[1]) <= _OTHER_SIZE * max(asked):
        return None
    if not both.iops:
        return None
    mean = both.mean_bytes or both.bandwidth_bytes_per_s / both.iops
    share = (asked[1] - mean) / (asked[1] - asked[0])
    return share if 0 < share < 1 else None


def _part_of(both: FioDirection, share: float, of_bytes: float) -> FioDirection | None:
    """Return a share of the requests, which has so much of the bytes; None for none."""
    if not share:
        return None
    return replace(
        both,
        n_ios=None if both.n_ios is None else max(round(both.n_ios * share), 1),
        total_bytes=max(round(both.total_bytes * of_bytes), min(both.total_bytes, 1)),
        iops=both.iops * share,
        bandwidth_bytes_per_s=both.bandwidth_bytes_per_s * of_bytes,
    )
