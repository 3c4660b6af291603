"""Why the rule of thumb's number of disks differs from the simulated one, in words with figures."""

from __future__ import annotations

import math

from diskmodel.array import Array
from diskmodel.plan.answer.criterion import Verdict, tightest
from diskmodel.plan.answer.trial import Trial
from diskmodel.plan.trial.rule_of_thumb import calculator_disk_iops, operations_of
from diskmodel.plan.trial.trier import Trier
from diskmodel.result import PASSES
from diskmodel.units import in_digits
from diskmodel.workload import Stream, Workload


def difference_in_words(trier: Trier, trial: Trial, counted: int | None) -> tuple[str, ...]:
    """Return the reasons for the difference between `counted` disks and the trial's.

    Parameters
    ----------
    trier : Trier
        Also tries the rule of thumb's count.
    trial : Trial
        At the simulated answer, or nearest to one.
    counted : int or None
        The answer by the rule of thumb.
    """
    if counted is None:
        return ("the rule of thumb needs a rate, and the plan states none for this closed workload",)
    if trial.outcome is None or trial.outcome.method == "rule":
        return ()
    said = [_verdict_on(trier, trial, counted)]
    said += [text for text in (_service(trier, trial), _operations(trier, trial), _queueing(trial)) if text]
    return tuple(said)


def _verdict_on(trier: Trier, trial: Trial, counted: int) -> str:
    if counted == trial.disks:
        return f"the rule of thumb needs the same {counted} disks"
    counts = trier.case.counts
    if counted > counts[-1]:
        return f"the rule of thumb needs {counted} disks, more than the plan allows"
    if counted not in counts:
        return f"the rule of thumb needs {counted} disks, which make no groups of equal and allowed width"
    there = trier(counted)
    worst = tightest(there.criteria)
    if there.verdict is Verdict.HOLDS:
        return f"the rule of thumb needs {counted} disks, more than the simulation: with {counted}, {worst}"
    return f"the rule of thumb needs {counted} disks, too few in the simulation: with {counted}, {worst}"


def _service(trier: Trier, trial: Trial) -> str:
    """Compare the simulated service time with the IOPS that the rule of thumb assumes for a disk."""
    outcome = trial.outcome
    assert outcome is not None
    operations = outcome.iops.value * outcome.back_end_per_host
    working = trial.disks
    if not (operations > 0 and outcome.utilization_ratio > 0):
        return ""
    simulated_ms = 1000 * outcome.utilization_ratio * working / operations
    assumed = calculator_disk_iops(trier.case.family.drive)
    ratio = simulated_ms * assumed / 1000
    if 0.95 < ratio < 1.05:
        return ""
    if ratio < 1:
        cause = "seeks are short, and the elevator reorders waiting requests"
    else:
        layout = trier.case.array(trial.disks).layout
        cause = layout.slower_than_rated or trier.case.family.drive.slower_than_rated
    return (
        f"the rule of thumb assumes {assumed:,.0f} IOPS a disk, {in_digits(1000 / assumed)} ms an operation; "
        f"simulated, an operation takes {in_digits(simulated_ms)} ms ({cause})"
    )


def _operations(trier: Trier, trial: Trial) -> str:
    """Compare the simulated disk operations per request with the rule of thumb's write penalty."""
    outcome = trial.outcome
    assert outcome is not None
    case = trier.case
    array = case.array(trial.disks)
    counted = operations_of(array, case.workload, case.required_bytes)
    simulated = outcome.back_end_per_host
    if math.isnan(simulated) or abs(simulated - counted) <= 0.03 * counted:
        return ""
    cause = why_other_operations(case.workload, array, is_fewer=simulated < counted)
    return f"the rule of thumb counts {counted:.2f} disk operations a request; simulated, {simulated:.2f} ({cause})"


def why_other_operations(workload: Workload, array: Array, *, is_fewer: bool) -> str:
    """Return what makes the operations of a request differ from the write penalty; only what is true of this array."""
    controller = array.controller
    has_cache = controller.read_cache is not None
    has_write_cache = controller.write_cache is not None
    causes = []
    if array.layout.other_operations:
        return array.layout.other_operations
    if is_fewer:
        if has_cache or has_write_cache:
            causes.append("the cache saves operations")
        if array.layout.parity_strips:
            causes.append("writes of several strips share parity")
        return " and ".join(causes) or "operations are merged"
    if array.layout.rebuild is not None:
        return f"a {PASSES[array.layout.rebuild.action]} goes on"
    strip = array.layout.strip_bytes
    if any(crosses_strips(stream, strip) for stream in workload.streams):
        causes.append("some requests cross a strip boundary")
    if has_cache:
        causes.append("fewer requests hit the cache")
    if array.layout.bitmap is not None:
        causes.append("writes of the write-intent bitmap")
    if array.layout.parity_strips and not causes:
        causes.append("some writes read or write more than the block and its parity")
    return " or ".join(causes) or "operations are split"


def crosses_strips(stream: Stream, strip_bytes: int) -> bool:
    """Return whether some request of a stream lies on two strips or more."""
    # places within a strip are multiples of this, the last one so far from its end
    step = math.gcd(stream.alignment, strip_bytes)
    return any(share.size_bytes > step for share in stream.sizes)


def _queueing(trial: Trial) -> str:
    """Return what the rule of thumb ignores: queueing."""
    outcome = trial.outcome
    assert outcome is not None
    latency = [item for item in trial.criteria if item.name == "latency" and item.verdict is not Verdict.UNKNOWN]
    if not latency:
        return ""
    worst = min(latency, key=lambda item: item.margin_ratio)
    return (
        f"the rule of thumb ignores queueing; simulated, {worst.detail} latency is {in_digits(worst.figure.value)} ms "
        f"(limit {in_digits(worst.limit)} ms) with the disks {100 * outcome.utilization_ratio:.0f} % busy"
    )
