"""Completing the answer for a family: its description, how it survives a failed disk, and the floor of its latency."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace

from diskmodel.engine import writes_shingled
from diskmodel.engine.ledger import current
from diskmodel.errors import DescriptionError
from diskmodel.plan.answer.candidate import Candidate
from diskmodel.plan.answer.effort import together
from diskmodel.plan.answer.outcome import Outcome
from diskmodel.plan.answer.safety import USUAL_LOSS_PER_YEAR, Safety
from diskmodel.plan.answer.trial import Trial
from diskmodel.plan.question.case import Case
from diskmodel.plan.trial.beside_rebuild import beside_rebuild
from diskmodel.plan.trial.evaluation import Evaluate, Evaluation
from diskmodel.plan.trial.statics import OF_REBUILD, static_criteria, statics
from diskmodel.units import in_digits, in_disks
from diskmodel.workload import Workload

#: Rate of an array that is called idle, requests per second: a disk serves more than 50 a second, so that hardly any
#: request meets another. At double nothing changes; at half neither.
IDLE_PER_S = 1.0
#: Requests of the run on an idle array, as many as p99.9 takes to be reported. Its latencies depend on each other no
#: more than seeks do. At half, p99.9 has no value; at double, a shingled disk cleans twice as long between them.
IDLE_REQUESTS = 12_000


#: Purposes of simulations.
FAILED_DISK, REBUILD, IDLE, RECORDING = "failed disk", "rebuild", "idle array", "conventional recording"
_PURPOSES = (FAILED_DISK, REBUILD, IDLE, RECORDING)

#: Criteria that recording can be the reason of.
_OF_SPEED = ("iops", "commits", "throughput", "latency", "utilization")
#: How many times as fast the same disks have to be without shingled tracks for these to be named as the reason. At half
#: of the excess it is within many intervals; at double, disks that are twice as slow pass without a word.
WORTH_NAMING = 1.5


def complete(case: Case, evaluate: Evaluate, candidate: Candidate | None) -> Candidate:
    """Return a candidate with the array and workload behind its figures, its safety, and the floor where it misses one.

    Notes
    -----
    Costs an evaluation with a disk failed, and a second where no number of disks meets the latency.
    """
    return _completed(case, evaluate, candidate, with_rebuild=False)


def complete_with_rebuild(case: Case, evaluate: Evaluate, candidate: Candidate | None) -> Candidate:
    """Return the same with the rebuild simulated, too: two more evaluations."""
    return _completed(case, evaluate, candidate, with_rebuild=True)


def _completed(case: Case, evaluate: Evaluate, candidate: Candidate | None, *, with_rebuild: bool) -> Candidate:
    assert candidate is not None
    tallies = {purpose: Evaluation.part(evaluate) for purpose in _PURPOSES}
    found = _with_everything(case, tallies, candidate, with_rebuild=with_rebuild)
    return replace(
        found, efforts=together([candidate.efforts, {purpose: tally.effort for purpose, tally in tallies.items()}])
    )


def _with_everything(
    case: Case, tallies: Mapping[str, Evaluate], candidate: Candidate, *, with_rebuild: bool
) -> Candidate:
    trial = candidate.trial
    if trial is None:
        return candidate
    array = case.array(trial.disks)
    found = replace(candidate, array=array, workload=case.workload, seed=trial.seed)
    if trial.outcome is None or trial.outcome.method == "rule":
        return found
    found = replace(found, workload=case.workload.at_the_end(array.usable_bytes, trial.outcome.n_requests))
    if not found.is_feasible and not trial.outcome.is_stable:
        # with a disk failed it is overloaded, too
        return replace(found, shingled=found.shingled or _shingled(case, found, tallies[RECORDING]))
    if not found.is_feasible and current().is_spent:
        current().leave_out(["failed disks of arrays that miss the objective", "the least that their latency can be"])
        return found
    known = None if candidate.safety is None else candidate.safety.degraded
    if known is None:
        known = _degraded(case, trial, tallies[FAILED_DISK])
    safety = safety_of(case, trial, tallies[REBUILD], with_rebuild=with_rebuild, degraded=known)
    if with_rebuild:
        found = replace(found, trial=_with_rebuild(case, trial, safety))
    found = replace(found, safety=safety, shingled=found.shingled or _shingled(case, found, tallies[RECORDING]))
    return found if found.is_feasible or found.floor_ms is not None else _with_floor(found, case, tallies[IDLE])


def _with_rebuild(case: Case, trial: Trial, safety: Safety) -> Trial:
    """Return the trial with the simulated rebuild in its figures and criteria: a search ends at what is missed."""
    if math.isnan(safety.rebuild_beside_hours) or trial.outcome is None:
        return trial
    array, busy = case.array(trial.disks), trial.outcome.utilization_ratio
    hours = safety.rebuild_beside_hours
    about = {item.name: item for item in static_criteria(case, array, busy, hours) if item.name in OF_REBUILD}
    criteria = tuple(about.get(item.name, item) for item in trial.criteria)
    return replace(trial, criteria=criteria, statics=statics(case, array, busy, hours))


def safety_of(
    case: Case, trial: Trial, evaluate: Evaluate, *, with_rebuild: bool = True, degraded: Outcome | None = None
) -> Safety:
    """Return how an array fares with a disk failed: runs of the plan's shortest length, one or three.

    Parameters
    ----------
    case : Case
    trial : Trial
    evaluate : Evaluate
    with_rebuild : bool
        Whether the rebuild is simulated; its hours come from a formula otherwise.
    degraded : Outcome, optional
        With a disk failed, where that is known already.
    """
    assert trial.outcome is not None
    search = case.search
    limit = case.objective.data_loss_per_year or USUAL_LOSS_PER_YEAR
    array = case.array(trial.disks)
    busy = trial.outcome.utilization_ratio
    try:
        rebuilt = case.array(trial.disks, n_failed=1, is_rebuilding=True)
    except DescriptionError:  # no redundancy
        figures = statics(case, array, busy)
        return Safety(None, None, math.nan, figures.loss_per_year, limit)
    degraded = degraded or _degraded(case, trial, evaluate)
    assert degraded is not None
    if array.unknown_resilver:
        return Safety(degraded, None, math.nan, math.nan, limit, unknown=array.unknown_resilver)
    if not with_rebuild:
        figures = statics(case, array, busy)
        loss, unreadable = figures.loss_per_year, figures.read_error_ratio
        return Safety(degraded, None, figures.rebuild_hours, loss, limit, read_error_ratio=unreadable)
    beside = beside_rebuild(evaluate, rebuilt, case.workload, n_requests=search.requests, seed=search.seed)
    figures = statics(case, array, busy, beside.hours)
    alone = statics(case, array)
    return Safety(
        degraded,
        beside.worst,
        figures.rebuild_hours,
        figures.loss_per_year,
        limit,
        alone.rebuild_hours,
        math.nan if case.workload.queue_depth else case.workload.offered_rate_per_s,
        beside.hours,
        case.objective.busy_hours,
        alone.loss_per_year,
        figures.read_error_ratio,
    )


def _degraded(case: Case, trial: Trial, evaluate: Evaluate) -> Outcome | None:
    """Return how an array fares with a disk failed; None without redundancy."""
    try:
        failed = case.array(trial.disks, n_failed=1)
    except DescriptionError:
        return None
    return evaluate(failed, case.workload, n_requests=case.search.requests, seed=case.search.seed)


def idle(workload: Workload) -> Workload:
    """Return the workload at a load where no request waits: one client a stream, or about one request a second."""
    found = workload
    if workload.is_open:
        found = found.scaled(min(1.0, IDLE_PER_S / max(workload.offered_rate_per_s, IDLE_PER_S)))
    n_closed = sum(stream.is_closed for stream in workload.streams)
    return found.with_queue_depth(n_closed) if n_closed else found


def _shingled(case: Case, candidate: Candidate, evaluate: Evaluate) -> str:
    """Return what the disks that miss the objective would do with conventional recording: one more evaluation.

    "" where they do not write at random places of shingled tracks, or recording is not the reason.
    """
    drive, missed = case.family.drive, candidate.below if candidate.is_feasible else candidate.trial
    if missed is None or missed.outcome is None:
        return ""
    if not writes_shingled(drive, case.workload) or candidate.binds not in _OF_SPEED:
        return ""
    usual = drive.deviating("conventional")
    search = case.search
    array = case.of(drive=usual).array(missed.disks)
    was, now = missed.outcome, evaluate(array, case.workload, n_requests=search.requests, seed=search.seed)
    before, p99 = was.latency_of("p99"), now.latency_of("p99")
    if not now.is_stable:
        return ""
    is_slower = not was.is_stable or now.iops.value > WORTH_NAMING * was.iops.value
    if not is_slower and (p99 is None or before is None or before.value < WORTH_NAMING * p99.value):
        return ""
    words = (
        "these drives record in shingled tracks (SMR): random writes fill their media cache, and cleaning it takes the "
        f"time; with conventional recording {in_disks(missed.disks)} would do {now.iops.value:,.0f} requests/s"
    )
    # a short run has too few of the slowest
    return words if p99 is None else f"{words} at a p99 of {in_digits(p99.value / 1e6)} ms"


def _with_floor(candidate: Candidate, case: Case, evaluate: Evaluate) -> Candidate:
    """Return an infeasible candidate with the latency of the idle array, where latency is what it misses."""
    trial, binding = candidate.trial, candidate.binding
    if trial is None or binding is None or binding.name != "latency":
        return candidate
    array, n_requests = case.array(trial.disks), min(case.search.requests, IDLE_REQUESTS)
    outcome = evaluate(array, idle(case.workload), n_requests=n_requests, seed=case.search.seed)
    statistic, _, stream = binding.detail.partition(" of ")
    figure = outcome.latency_of(statistic, stream)
    if figure is None or not math.isfinite(figure.value):
        return candidate
    floor_ms = figure.value / 1e6
    of_what = re.sub("^an? ", "", candidate.level_in_words)  # "a pool of 2 RAID-Z2 of 6"
    joint = "of" if of_what == candidate.level_in_words else "with"
    name = f"idle {of_what} {joint} {trial.disks} disks"
    if floor_ms > binding.limit:
        words = f"even an {name} takes {in_digits(floor_ms)} ms at {statistic}"
    else:
        words = f"an {name} already takes {in_digits(floor_ms)} ms at {statistic}"
    return replace(candidate, floor_ms=floor_ms, reason=f"{candidate.reason}; {words}")
