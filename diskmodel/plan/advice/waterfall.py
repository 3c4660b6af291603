"""Why the answer is not the calculator's: give up its assumptions one after the other, and count disks at each step.

Every step is a search for the fewest disks that sustain the rate, by short simulations: a count of disks needs far
fewer requests than an interval of a 99th percentile. Only the last step, the tail of the latency, is the plan's own
answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from diskmodel.analytic import back_end_per_host
from diskmodel.analytic import write_penalty as penalty_of
from diskmodel.controller import Controller
from diskmodel.errors import DescriptionError
from diskmodel.plan.answer.candidate import Candidate
from diskmodel.plan.answer.criterion import Verdict, overall
from diskmodel.plan.answer.outcome import Outcome
from diskmodel.plan.answer.waterfall import Waterfall, WaterfallStep
from diskmodel.plan.question.case import Case
from diskmodel.plan.question.description import PlanDescription
from diskmodel.plan.trial.evaluation import Evaluate
from diskmodel.plan.trial.replay_check import PREFIX
from diskmodel.plan.trial.rule_of_thumb import calculator_cache_hit, calculator_disk_iops, read_fraction
from diskmodel.plan.trial.statics import static_criteria
from diskmodel.queue import Queue
from diskmodel.workload import Workload

#: Requests of a run. With 8,000 an overload of 3 % fills the queues visibly; with half, a step may be a disk too low;
#: double costs twice the time.
REQUESTS = 8_000
#: Largest utilization at which a step counts as sustained where the objective states none. An open system at 100 %
#: never settles; with 0.95 instead of 0.98 a count of 30 disks would be one higher.
SUSTAINED_RATIO = 0.98


def waterfall(plan: PlanDescription, candidate: Candidate, evaluate: Evaluate) -> Waterfall:
    """Return the steps from the rule of thumb's number of disks to the candidate's; none where it has no number.

    Parameters
    ----------
    plan : PlanDescription
    candidate : Candidate
        A feasible one.
    evaluate : Evaluate
    """
    counted, trial = candidate.rule_of_thumb_disks, candidate.trial
    is_simulated = trial is not None and trial.outcome is not None and trial.outcome.method != "rule"
    if counted is None or candidate.disks is None or not is_simulated:
        return ()
    case = Case(plan, candidate.family)
    if not case.array(candidate.disks).layout.has_strips:
        return ()  # its steps are those of strips
    found = [WaterfallStep("rule of thumb", counted, _rule_in_words(case))]
    near = counted
    for name, meaning, array_of, workload in _steps(case):
        disks = _fewest(case, near, lambda n, a=array_of, w=workload: _carries(case, evaluate, a(n), w))  # type: ignore[misc]
        found.append(WaterfallStep(name, disks, meaning))
        near = disks or case.counts[-1]
    limits = plan.objective.limited
    name = "queueing tail" if limits else "all criteria"
    meaning = (
        "Requests wait in queues, and the slowest ones have to meet the limits of the latency."
        if limits
        else "Every criterion of the objective has to be met with confidence."
    )
    if candidate.binds.startswith(PREFIX):
        name, meaning = f"{name}, bursts", f"{meaning} In the replay of the trace, too, with its bursts."
    described = candidate.nominal_disks or candidate.disks
    found.append(WaterfallStep(name, described, meaning))
    if candidate.disks != described:
        meaning = "Drives, controllers and hosts may differ from their descriptions: the chance has to be high."
        found.append(WaterfallStep("what is not known", candidate.disks, meaning))
    return tuple(found)


def _rule_in_words(case: Case) -> str:
    drive = case.family.drive
    iops = calculator_disk_iops(drive)
    return f"A fixed {iops:,.0f} IOPS a disk, a penalty for each write, no waiting."


def _steps(case: Case) -> list[tuple[str, str, Callable[[int], object], Workload]]:
    """Return the steps between the rule and the answer: name, meaning, array of a number of disks, workload."""
    plan, drive = case.plan, case.family.drive
    is_disk = drive.has_arms
    everywhere = _spread(case.workload)
    plain: dict[str, object] = {"controller": Controller()}
    if is_disk:
        plain["queue"] = Queue(scheduler="fcfs", drive_depth=1)
    simple = replace(case, plan=plan.model_copy(update=plain)).of(cache_bytes=0)
    steps: list[tuple[str, str, Callable[[int], object], Workload]] = []
    if case.workload.is_open and not case.workload.queue_depth:
        steps.append(
            (
                "seek and rotation" if is_disk else "service times",
                "The drive's own times for the same number of single operations, in order of arrival, over whole disks."
                if is_disk
                else "The drive's own times for the same number of single operations.",
                simple.of(level="raid0", groups=1).array,
                _as_single_operations(case, everywhere),
            )
        )
    parity = case.array(case.counts[0]).layout.has_rows
    steps.append(
        (
            "parity" if parity else "mirrors",
            "Small writes read old data and parity, wait for the platter to come round, and write both."
            if parity
            else "Reads go to the copy that serves them sooner, writes to all copies.",
            simple.array,
            everywhere,
        )
    )
    ordered = replace(simple, plan=simple.plan.model_copy(update={"queue": plan.queue}))
    if is_disk:
        text = "The drive and the scheduler choose among waiting commands."
        steps.append(("elevator", text, ordered.array, everywhere))
    if plan.stored_bytes is not None:
        text = "Requests fall on the stored data only, so that seeks are shorter."
        steps.append(("region", text, ordered.array, case.workload))
    if plan.controller.has_real_cache or plan.controller.read_cache is not None or case.family.cache_bytes:
        text = "The controller's caches serve hits and merge writes."
        steps.append(("cache", text, case.array, case.workload))
    return steps


def _spread(workload: Workload) -> Workload:
    """Return the workload with every stream on all of the array."""
    whole = {"span_ratio": 1.0, "span_bytes": None, "offset_bytes": None, "offset_ratio": None}
    streams = tuple(stream.model_copy(update=whole) for stream in workload.streams)
    return workload.model_copy(update={"streams": streams, "span_bytes": None, "span_ratio": None})


def _as_single_operations(case: Case, workload: Workload) -> Workload:
    """Return reads at the rate of disk operations that the rule of thumb counts."""
    array = case.array(case.counts[0])
    per_host = back_end_per_host(
        penalty_of(case.family.level, n_parity=array.layout.n_parity),
        read_fraction(workload),
        calculator_cache_hit(array, case.required_bytes),
    )
    single = {"read_ratio": 1.0, "kind": "requests", "record_bytes": None, "commit_delay_ns": 0, "sync": "none"}
    counted = [stream for stream in workload.streams if stream.kind != "flushes"] or workload.streams
    streams = tuple(stream.model_copy(update=single) for stream in counted)
    return workload.model_copy(update={"streams": streams}).scaled(per_host)


def _carries(case: Case, evaluate: Evaluate, array: object, workload: Workload) -> bool:
    """Return whether an array sustains the rate, whatever the latency."""
    outcome: Outcome = evaluate(array, workload, n_requests=REQUESTS, seed=case.search.seed)  # type: ignore[arg-type]
    if workload.queue_depth and case.objective.design_iops is not None:
        return outcome.iops.value >= case.objective.design_iops
    ceiling = case.objective.utilization_ceiling_ratio or SUSTAINED_RATIO
    return outcome.is_stable and not outcome.utilization_ratio > ceiling


def _fewest(case: Case, near: int, carries: Callable[[int], bool]) -> int | None:
    """Return the fewest disks with the space that is required and for which `carries` is true; None without any.

    The search walks away from `near` in growing strides, because neighboring steps differ by little, and ends by
    bisection.
    """
    counts = [n for n in case.counts if _has_space(case, n)]
    if not counts:
        return None
    known: dict[int, bool] = {}

    def is_enough(index: int) -> bool:
        if index not in known:
            try:
                known[index] = carries(counts[index])
            except DescriptionError:  # the array has no room for the regions that the workload names
                known[index] = False
        return known[index]

    at = min(range(len(counts)), key=lambda i: abs(counts[i] - near))
    bad, good, stride = -1, len(counts), 1
    if is_enough(at):
        good = at
        while good > 0 and bad < 0:
            lower = max(good - stride, 0)
            good, bad = (lower, bad) if is_enough(lower) else (good, lower)
            stride *= 2
    else:
        bad = at
        while bad < len(counts) - 1 and good == len(counts):
            upper = min(bad + stride, len(counts) - 1)
            good, bad = (upper, bad) if is_enough(upper) else (good, upper)
            stride *= 2
    while good - bad > 1 and good < len(counts):
        middle = (good + bad) // 2
        good, bad = (middle, bad) if is_enough(middle) else (good, middle)
    return counts[good] if good < len(counts) else None


def _has_space(case: Case, disks: int) -> bool:
    fixed = [item for item in static_criteria(case, case.array(disks)) if item.name == "capacity"]
    return overall(fixed) is not Verdict.FAILS
