"""Comparing several arrays under one workload."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import replace

from diskmodel.analytic import has_formula
from diskmodel.array import Array
from diskmodel.doing import doing
from diskmodel.engine import (
    DRAWS,
    DrawnRuns,
    check_draws,
    check_rare,
    prediction_of,
    simulate_drawn_runs,
    writes_shingled,
)
from diskmodel.engine.ledger import as_question
from diskmodel.errors import DescriptionError, Fault
from diskmodel.layout import Rebuild
from diskmodel.plan.answer.comparison import Compared, Comparison, Difference
from diskmodel.plan.answer.load_curve import MOST, RATES, LoadPoint
from diskmodel.plan.answer.outcome import Outcome
from diskmodel.plan.comparison.highest_rate import CONFIDENCE, HighestRate, highest_rate, points_to_overload
from diskmodel.plan.comparison.load_curve import find_headroom, load_points, refined
from diskmodel.plan.search.difference import why_other_operations
from diskmodel.plan.trial.at_once import at_once
from diskmodel.plan.trial.beside_rebuild import beside_rebuild, scrub_hours
from diskmodel.plan.trial.evaluation import Evaluate, Evaluation
from diskmodel.plan.trial.rule_of_thumb import calculator_disk_iops, rule_of_an_array
from diskmodel.plan.trial.simulated import Simulated
from diskmodel.plan.trial.statics import idle_rebuild_hours, loss_beside
from diskmodel.result import MIDDLE, combined, middle_of
from diskmodel.result.statistics import Interval
from diskmodel.workload import Workload

#: Of each run, where nobody says how many.
REQUESTS = 30_000
#: Hours until a failed disk is replaced where there is no hot spare: as in plans.
REPLACEMENT_HOURS = 24.0


@as_question
def compare(
    arrays: Sequence[Array],
    workload: Workload,
    *,
    seed: int = 0,
    n_requests: int | None = None,
    growth_ratio: float | None = None,
    p99_limit_ms: float | None = None,
    evaluate: Evaluate | None = None,
    executor: Executor | None = None,
    engine: str = "auto",
    n_draws: int = DRAWS,
    with_estimates: bool = True,
    with_curves: bool = True,
) -> Comparison:
    """Return a comparison of two or more arrays under one workload, with the same requests for each.

    Parameters
    ----------
    arrays : sequence of Array
    workload : Workload
    seed : int
    n_requests : int, optional
        Of every run. Default: 30,000, or fewer where so many would take longer than a question may
        (`Outcome.is_cut`).
    growth_ratio : float, optional
        Growth of load per year, to report headroom in months, too.
    p99_limit_ms : float, optional
        Headroom is the load that can be added until p99 latency reaches this limit. Default: until the knee.
    evaluate : Evaluate, optional
        Default: the simulation.
    executor : concurrent.futures.Executor, optional
    engine : "auto", "native" or "simpy"
    n_draws : int
        Draws of everything that is not known, for intervals of the figures and of the differences: the same drives in
        both arrays are equally fast in both. 0: intervals are of the noise of the runs alone.
    with_estimates : bool
        Whether the formulas' estimates are made, which no table shows.
    with_curves : bool
        Whether open workloads are simulated at loads far below the highest rate, too, for curves and knees. No other
        figure depends on them. A limit of p99 latency or a growth needs them in any case.

    Raises
    ------
    DescriptionError
        When there are no arrays, a growth makes no sense, or a workload does not fit one of them.
    """
    if not arrays:
        raise DescriptionError(Fault("arrays", None, "there is nothing to compare", "name at least one array"))
    if growth_ratio is not None and not -0.9 <= growth_ratio <= 10:
        raise DescriptionError(
            Fault(
                "growth", growth_ratio, "must lie between -0.9 and 10 a year (-90 % and 1000 %)", "write 25 % as 0.25"
            )
        )
    if p99_limit_ms is not None and not 0 < p99_limit_ms < math.inf:
        raise DescriptionError(Fault("p99", p99_limit_ms, "must be a time above 0", "write for example 20 ms"))
    if n_draws:
        check_draws(n_draws)
    decide = Evaluation.of(evaluate if evaluate is not None else Simulated(engine, is_bounded=n_requests is None))
    n_requests = n_requests or REQUESTS
    arrays = [array.for_use(workload) for array in arrays]
    for array in arrays:
        workload.check_fits(array.usable_bytes)  # what does not fit is said before the first run
        check_rare(array, workload)
    names = _names(arrays)
    with_curves = with_curves or p99_limit_ms is not None or growth_ratio is not None
    jobs = [
        (
            name,
            array,
            workload.at_peak(),
            decide,
            seed,
            n_requests,
            growth_ratio,
            p99_limit_ms,
            with_estimates,
            with_curves,
        )
        for name, array in zip(names, arrays, strict=True)
    ]
    if executor is None:
        with doing(f"simulating {len(jobs)} arrays from light load to overload"), at_once(decide) as pool, decide:
            found = list(pool.map(_compared, *zip(*jobs, strict=True)))
    else:
        found = [future.result() for future in [executor.submit(_compared, *job) for job in jobs]]
    load, n_draws = workload.at_peak(), n_draws if decide.is_simulated else 0
    with doing("finding the intervals of the figures"):
        truths = [_truths(item, load, n_requests, seed, n_draws) for item in found]
    with doing("finding the intervals of the highest rates"):
        most = [_most(item, load, n_requests, seed, n_draws) for item in found]
    differences = [
        difference
        for other, true, rate in zip(found[1:], truths[1:], most[1:], strict=True)
        for difference in _differences(found[0], other, (truths[0], true), (most[0], rate))
    ]
    predicted = [_predicted(item, true, rate) for item, true, rate in zip(found, truths, most, strict=True)]
    return Comparison(workload, tuple(predicted), tuple(differences))


def _truths(item: Compared, workload: Workload, n_requests: int, seed: int, n_draws: int) -> DrawnRuns | None:
    """Return what may be true of an array; None where all is known, nothing is drawn, or the load is too much."""
    if not (n_draws and item.healthy.is_stable):
        return None
    load = workload.at_the_end(item.array.usable_bytes, n_requests)
    return simulate_drawn_runs(item.array, load, n_requests, seed=seed, n_draws=n_draws)


def _most(item: Compared, workload: Workload, n_requests: int, seed: int, n_draws: int) -> HighestRate | None:
    """Return the highest rate of an open workload, with what is not known of it; None where no rate is stable."""
    most = item.headroom.most_iops
    if not (workload.is_open and most > 0):
        return None
    over = [point.offered for point in item.curve if not point.outcome.is_stable and point.offered > most]
    over_per_s = min(over, default=most)
    return highest_rate(item.array, workload, most, over_per_s, n_requests=n_requests, seed=seed, n_draws=n_draws)


def _predicted(item: Compared, truths: DrawnRuns | None, most: HighestRate | None) -> Compared:
    """Return an array with intervals that include what is not known of it."""
    if most is not None:
        item = replace(item, most_per_s=most.interval, most_middle_per_s=most.middle)
    if truths is None:
        return item
    own = {"iops": item.healthy.iops, **item.healthy.latency_ns[""]}
    prediction = prediction_of(truths, own, CONFIDENCE)
    latency = {name: interval for name, interval in prediction.intervals.items() if name != "iops"}
    healthy = replace(
        item.healthy, iops=prediction.intervals["iops"], latency_ns={**item.healthy.latency_ns, "": latency}
    )
    return replace(item, healthy=healthy, prediction=prediction)


def _names(arrays: Sequence[Array]) -> list[str]:
    names = [array.name or f"{array.drive.name} {array.layout.level} x {array.layout.disks}" for array in arrays]
    return [f"{name} ({i + 1})" if names.count(name) > 1 else name for i, name in enumerate(names)]


def _compared(
    name: str,
    array: Array,
    workload: Workload,
    evaluate: Evaluate,
    seed: int,
    n_requests: int,
    growth_ratio: float | None,
    p99_limit_ms: float | None,
    with_estimates: bool,
    with_curve: bool,
) -> Compared:
    healthy = evaluate(array, workload, n_requests=n_requests, seed=seed)
    degraded = rebuilding = None
    hours = math.nan
    broken = degraded_array(array)
    if broken is not None:
        degraded = evaluate(broken, workload, n_requests=n_requests, seed=seed)
    if broken is not None and broken.layout.failed and not array.unknown_resilver:
        beside = beside_rebuild(evaluate, rebuilding_array(array, broken), workload, n_requests=n_requests, seed=seed)
        rebuilding, hours = beside.worst, beside.hours
    scrubbed_hours = scrub_hours(evaluate, array, workload, n_requests=n_requests, seed=seed)
    guess = None
    if with_estimates and has_formula(array.layout.kind, array.drive, workload):
        from diskmodel.analytic.estimate import estimate  # takes a while to load

        guess = estimate(array, workload, seed=seed)
    if workload.is_open:
        tried = points_to_overload(array, workload, evaluate, seed=seed, n_requests=n_requests, with_curve=with_curve)
        curve = sorted([*tried, LoadPoint(1.0, workload.offered_rate_per_s, healthy)], key=lambda at: at.offered)
    else:
        half = max(n_requests // 2, 2000)
        curve = tried = load_points(array, workload, healthy, evaluate, seed=seed, n_requests=half)
    if p99_limit_ms is not None:
        curve = refined(curve, array, workload, p99_limit_ms, evaluate, seed=seed, n_requests=n_requests)
    is_whole = with_curve or not workload.is_open
    headroom = find_headroom(curve, workload, growth_ratio, p99_limit_ms, tried, is_whole=is_whole)
    rule = rule_of_an_array(array, workload)
    predicted = rule.host_iops or math.inf
    words = _why(array, workload, rule.back_end_per_host, healthy)
    return Compared(
        name=name,
        array=array,
        healthy=healthy,
        degraded=degraded,
        rebuilding=rebuilding,
        rebuild_hours=hours,
        curve=tuple(curve),
        headroom=headroom,
        rule_of_thumb_iops=predicted,
        estimate=guess,
        differs=words,
        scrub_hours=scrubbed_hours,
        loss_per_year=loss_beside(array, hours, REPLACEMENT_HOURS).loss_per_year,
        idle_loss_per_year=loss_beside(array, idle_rebuild_hours(array), REPLACEMENT_HOURS).loss_per_year,
    )


def degraded_array(array: Array) -> Array | None:
    """Return the array with its first disk failed; None where that loses data, or a disk has failed already.

    Of a volume with parts of its own, one of these has failed.
    """
    if (broken := array.drive.broken()) is not None:
        return array.model_copy(update={"drive": broken})
    if array.layout.failed or not array.layout.kind.is_redundant:
        return None
    try:
        layout = type(array.layout).parse({**array.layout.to_dict(), "failed": [0], "rebuild": None})
    except DescriptionError:
        return None
    return array.model_copy(update={"layout": layout})


def rebuilding_array(array: Array, degraded: Array) -> Array:
    """Return an array's degraded one with its first failed disk being rebuilt onto a spare, halfway, by md or OpenZFS.

    A pool is as full as where the array itself is being scrubbed.
    """
    layout, scrub = degraded.layout, array.layout.rebuild
    rebuild = Rebuild(used_ratio=None if scrub is None else scrub.used_ratio).halfway()
    changed = {**layout.to_dict(), "spares": layout.spares_to_rebuild, "rebuild": rebuild.to_dict()}
    return degraded.model_copy(update={"layout": type(layout).parse(changed)})


def _differences(
    first: Compared,
    second: Compared,
    truths: tuple[DrawnRuns | None, DrawnRuns | None],
    most: tuple[HighestRate | None, HighestRate | None],
) -> Iterator[Difference]:
    """Yield the differences in figures under the load, and in the highest rate, as far as they are known."""
    for statistic in ("iops", "mean", "p99"):
        a, b = (
            item.healthy.iops if statistic == "iops" else item.healthy.latency_of(statistic) for item in (first, second)
        )
        if a is not None and b is not None and a.value > 0 and math.isfinite(b.value):
            yield _difference(first, second, statistic, (a, b), truths)
    one, other = most
    if one is not None and other is not None:
        yield _difference(first, second, MOST, (one.own, other.own), (one.drawn, other.drawn))


def _difference(
    first: Compared,
    second: Compared,
    statistic: str,
    figures: tuple[Interval, Interval],
    drawn: tuple[DrawnRuns | None, DrawnRuns | None],
) -> Difference:
    """Return the relative difference of two figures, whose intervals are of their runs.

    The noise of the runs makes its half-width the root of the sum of squares of their two relative half-widths. Runs of
    one seed share their requests, which makes the true interval narrower as long as the two arrays react alike. What is
    not known is drawn for both together, and the ratio of each pair of truths widens the interval.
    """
    a, b = figures
    ratio = b.value / a.value
    half = ratio * math.hypot((a.high - a.low) / 2 / a.value, (b.high - b.low) / 2 / b.value)
    figure = Interval(ratio, ratio - half, ratio + half)
    # of one there may have been time for fewer
    known = min((one for one in drawn if one is not None), key=lambda one: len(one.figures), default=None)
    pairs, middle, n_better = [], None, 0
    if known is not None:
        pairs = _pairs(*drawn, "iops" if statistic in RATES else statistic)
        ratios = [b / a for a, b in pairs]
        middle = combined(middle_of(figure, CONFIDENCE), 1.0, ratios, MIDDLE, known.half_width_factor(MIDDLE))
        figure = combined(figure, 1.0, ratios, CONFIDENCE, known.half_width_factor(CONFIDENCE))
        n_better = sum(_is_better(a, b, ratio, statistic) for a, b in pairs)
    figure = Interval(figure.value - 1, figure.low - 1, figure.high - 1)
    is_significant = bool(figure.low > 0 or figure.high < 0)
    return Difference(first.name, second.name, statistic, figure, is_significant, len(pairs), n_better, middle)


def _is_better(first: float, second: float, ratio: float, statistic: str) -> bool:
    """Return whether the second array is the better one in a truth, whose figures are parts of those described."""
    if math.isnan(first) or math.isnan(second):  # one that is overloaded is worse
        return math.isnan(first) and not math.isnan(second)
    return second * ratio > first if statistic in RATES else second * ratio < first


def _pairs(of_first: DrawnRuns | None, of_second: DrawnRuns | None, statistic: str) -> list[tuple[float, float]]:
    """Return a statistic of two arrays in each truth, as parts of those of their descriptions; nan: overloaded.

    Of truths that only one of them was simulated with there are no pairs.
    """
    n = min(len(truths.figures) for truths in (of_first, of_second) if truths is not None)
    first, second = ([1.0] * n if truths is None else truths.ratios(statistic) for truths in (of_first, of_second))
    possible = [[True] * n if truths is None else truths.are_possible for truths in (of_first, of_second)]
    both = zip(*(can_be[:n] for can_be in possible), strict=True)
    return [(a, b) for a, b, can_be in zip(first[:n], second[:n], both, strict=True) if all(can_be)]


def _why(array: Array, workload: Workload, counted: float, outcome: Outcome) -> tuple[str, ...]:
    """Return the reasons for the rule of thumb and the simulation to differ."""
    said = []
    operations = outcome.iops.value * outcome.back_end_per_host
    working = array.layout.disks - len(array.layout.failed)
    # a flash drive is busy while it serves several operations, so that its time says nothing about one
    if operations > 0 and outcome.utilization_ratio > 0 and array.drive.has_arms:
        simulated_ms = 1000 * outcome.utilization_ratio * working / operations
        assumed_ms = 1000 / calculator_disk_iops(array.drive)
        if abs(simulated_ms / assumed_ms - 1) > 0.05:
            side = "elevator and short seeks" if simulated_ms < assumed_ms else "seek and rotation"
            if simulated_ms > assumed_ms and writes_shingled(array.drive, workload):
                side = "cleaning of the media cache of shingled tracks"
            said.append(f"an operation takes {simulated_ms:.2f} ms, by rule of thumb {assumed_ms:.2f} ms ({side})")
    # a cache that has all of the data leaves none to the disks
    if abs(outcome.back_end_per_host - counted) > 0.03 * counted:
        said.append(
            f"a request takes {outcome.back_end_per_host:.2f} disk operations, by rule of thumb {counted:.2f} "
            f"({why_other_operations(workload, array, is_fewer=outcome.back_end_per_host < counted)})"
        )
    return tuple(said)
