"""Why the calculators' number of disks differs from the simulated one, in words with figures."""

from __future__ import annotations

import math

from diskmodel.analytic.rule import back_end_per_host
from diskmodel.analytic.rule import write_penalty as penalty_of
from diskmodel.plan.answer.criteria import Verdict, tightest
from diskmodel.plan.question.families import array_of, read_fraction
from diskmodel.plan.search.rule_of_thumb import calculator_cache_hit, calculator_disk_iops
from diskmodel.plan.search.statics import space_bytes
from diskmodel.plan.search.trial import Trial, Trier


def difference_in_words(trier: Trier, trial: Trial, counted: int | None, counts: list[int]) -> tuple[str, ...]:
    """Reasons for the difference between `counted` disks and the trial's.

    Parameters
    ----------
    trier : Trier
        May be asked to try the calculators' count.
    trial : Trial
        At the simulated answer, or nearest to one.
    counted : int or None
        The calculators' answer.
    counts : list of int
        Counts that the family can have.
    """
    if counted is None:
        return ("the calculators need a rate to count with: the plan names none for this closed workload",)
    if trial.outcome is None or trial.outcome.method == "rule":
        return ()
    said = [_verdict_on(trier, trial, counted, counts)]
    said += [text for text in (_service(trier, trial), _operations(trier, trial), _queueing(trial)) if text]
    return tuple(said)


def _verdict_on(trier: Trier, trial: Trial, counted: int, counts: list[int]) -> str:
    if counted == trial.disks:
        return f"the calculators ask for the same {counted} disks"
    if counted not in counts:
        return f"the calculators ask for {counted} disks, more than the plan allows"
    there = trier(counted)
    worst = tightest(there.criteria)
    if there.verdict is Verdict.HOLDS:
        return f"the calculators ask for {counted} disks, more than needed: there {worst}"
    return f"the calculators ask for {counted} disks, which do not hold: there {worst}"


def _service(trier: Trier, trial: Trial) -> str:
    """Seek, rotation and elevator against a flat number of IOPS."""
    outcome = trial.outcome
    assert outcome is not None
    operations = outcome.iops.value * outcome.back_end_per_host
    working = trial.disks
    if not (operations > 0 and outcome.utilization_ratio > 0):
        return ""
    simulated_ms = 1000 * outcome.utilization_ratio * working / operations
    granted = calculator_disk_iops(trier.family.drive)
    ratio = simulated_ms * granted / 1000
    if 0.95 < ratio < 1.05:
        return ""
    if ratio < 1:
        cause = "seeks are short, and the elevator chooses among the requests that wait"
    elif trier.family.drive.kind == "flash":
        cause = "a flash drive reaches its rated IOPS only with many requests outstanding"
    else:
        cause = "seek and rotation, and parity writes that wait for the platter to come round again"
    return (
        f"they grant a disk {granted:.0f} IOPS, {1000 / granted:.2f} ms for each operation; simulated, an operation "
        f"holds a disk for {simulated_ms:.2f} ms: {cause}"
    )


def _operations(trier: Trier, trial: Trial) -> str:
    """Cache, coalescing and whole stripes against a flat penalty."""
    outcome = trial.outcome
    assert outcome is not None
    array = array_of(trier.plan, trier.family, trial.disks)
    space = space_bytes(trier.plan.objective, trier.workload)
    counted = back_end_per_host(
        penalty_of(trier.family.level, n_parity=array.layout.n_parity),
        read_fraction(trier.workload),
        calculator_cache_hit(array, space),
    )
    simulated = outcome.back_end_per_host
    if math.isnan(simulated) or abs(simulated / counted - 1) < 0.03:
        return ""
    cause = (
        "the cache and writes of whole stripes or neighbouring blocks spare the disks some"
        if simulated < counted
        else "some requests cross a border of strips, or the cache holds less of what is asked for"
    )
    return f"they count {counted:.2f} disk operations for a request; simulated, there are {simulated:.2f}: {cause}"


def _queueing(trial: Trial) -> str:
    """What a calculator does not know at all: waiting."""
    outcome = trial.outcome
    assert outcome is not None
    latency = [item for item in trial.criteria if item.name == "latency" and item.verdict is not Verdict.UNKNOWN]
    if not latency:
        return ""
    worst = min(latency, key=lambda item: item.margin_ratio)
    return (
        f"they know no waiting; simulated, {worst.detail} is {worst.figure.value:.3g} ms (at most "
        f"{worst.limit:.3g} ms) with disks that are {100 * outcome.utilization_ratio:.0f} % busy"
    )
