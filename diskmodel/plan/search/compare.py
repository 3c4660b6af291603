"""Several arrays under one workload: side by side, with differences, curves against load, and headroom."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from diskmodel.analytic.estimate import Estimate, estimate
from diskmodel.analytic.rule import rule_of_thumb
from diskmodel.array import Array
from diskmodel.errors import DescriptionError, Fault
from diskmodel.plan.answer.outcome import Evaluate, Figure, Outcome
from diskmodel.plan.question.families import read_fraction
from diskmodel.plan.search.headroom import Headroom, LoadPoint, find_headroom, load_points
from diskmodel.plan.search.rule_of_thumb import calculator_cache_hit, calculator_disk_iops
from diskmodel.plan.search.simulated import Simulated
from diskmodel.workload import Workload

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True)
class Difference:
    """Second array less the first, as a share of the first.

    Attributes
    ----------
    first, second : str
        Names of the arrays.
    statistic : str
        iops, mean or p99.
    ratio : Figure
    is_significant : bool
        The interval does not include 0.
    """

    first: str
    second: str
    statistic: str
    ratio: Figure
    is_significant: bool

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        ends = {key: value if math.isfinite(value) else None for key, value in vars(self.ratio).items()}
        return {
            "first": self.first,
            "second": self.second,
            "statistic": self.statistic,
            "significant": self.is_significant,
            **{f"{key}_ratio" if key != "value" else "ratio": value for key, value in ends.items()},
        }


@dataclass(frozen=True)
class Compared:
    """One of the arrays.

    Attributes
    ----------
    name : str
    array : Array
    healthy : Outcome
    degraded : Outcome or None
        With the first disk missing; None where that loses data, or the array is already degraded.
    rebuilding : Outcome or None
        With that disk being rebuilt onto a spare as fast as the disks go; None as above.
    rebuild_hours : float
        How long that takes; nan as above.
    curve : tuple of LoadPoint
        Latency against load, from light to beyond the knee.
    headroom : Headroom
    rule_of_thumb_iops : float
        Host requests per second that a calculator promises.
    estimate : Estimate
        By queueing formulas.
    differs : tuple of str
        Why the calculator's figure differs from the simulated limit.
    """

    name: str
    array: Array
    healthy: Outcome
    degraded: Outcome | None
    rebuilding: Outcome | None
    rebuild_hours: float
    curve: tuple[LoadPoint, ...]
    headroom: Headroom
    rule_of_thumb_iops: float
    estimate: Estimate
    differs: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        rule = self.rule_of_thumb_iops
        return {
            "name": self.name,
            "drive": self.array.drive.name,
            "level": self.array.layout.level,
            "disks": self.array.layout.disks,
            "usable_bytes": self.array.usable_bytes,
            **self.healthy.to_dict(),
            "degraded": self.degraded.to_dict() if self.degraded else None,
            "rebuilding": self.rebuilding.to_dict() if self.rebuilding else None,
            "rebuild_hours": self.rebuild_hours if math.isfinite(self.rebuild_hours) else None,
            "curve": [point.to_dict() for point in self.curve],
            "headroom": self.headroom.to_dict(),
            "rule_of_thumb_iops": rule if math.isfinite(rule) else None,
            "rule_of_thumb_difference": list(self.differs),
        }


@dataclass(frozen=True)
class Comparison:
    """Arrays under one workload.

    Attributes
    ----------
    workload : Workload
    arrays : tuple of Compared
    differences : tuple of Difference
        Of each array to the first.
    """

    workload: Workload
    arrays: tuple[Compared, ...]
    differences: tuple[Difference, ...]

    def __rich__(self) -> RenderableType:
        from diskmodel.plan.show.table import comparison_table

        return comparison_table(self)

    def _repr_html_(self) -> str:
        from diskmodel.plan.show.notebook import comparison_html

        return comparison_html(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "workload": self.workload.to_dict(),
            "arrays": [item.to_dict() for item in self.arrays],
            "differences": [item.to_dict() for item in self.differences],
        }


def compare(
    arrays: Sequence[Array],
    workload: Workload,
    *,
    seed: int = 0,
    n_requests: int = 30_000,
    growth_ratio: float | None = None,
    evaluate: Evaluate | None = None,
    executor: Executor | None = None,
    engine: str = "auto",
) -> Comparison:
    """Two or more arrays under one workload, with the same requests for each.

    Parameters
    ----------
    arrays : sequence of Array
    workload : Workload
    seed, n_requests : int
        Of every run.
    growth_ratio : float, optional
        Growth of load per year, to tell headroom in months too.
    evaluate : Evaluate, optional
        Default: the simulation.
    executor : concurrent.futures.Executor, optional
    engine : "auto", "native" or "simpy"

    Raises
    ------
    DescriptionError
        When there are no arrays, a growth makes no sense, or a workload does not fit one of them.
    """
    if not arrays:
        raise DescriptionError(Fault("arrays", None, "there is nothing to compare", "name at least one array"))
    if growth_ratio is not None and not -0.9 <= growth_ratio <= 10:
        raise DescriptionError(
            Fault("growth", growth_ratio, "must lie between -0.9 and 10 a year", "write 25 % as 0.25")
        )
    decide = evaluate if evaluate is not None else Simulated(engine)
    names = _names(arrays)
    jobs = [
        (name, array, workload, decide, seed, n_requests, growth_ratio)
        for name, array in zip(names, arrays, strict=True)
    ]
    if executor is None:
        with ThreadPoolExecutor(min(2, len(jobs))) as pool:
            found = list(pool.map(_compared, *zip(*jobs, strict=True)))
    else:
        found = [future.result() for future in [executor.submit(_compared, *job) for job in jobs]]
    differences = [
        difference
        for other in found[1:]
        for statistic in ("iops", "mean", "p99")
        if (difference := _difference(found[0], other, statistic)) is not None
    ]
    return Comparison(workload, tuple(found), tuple(differences))


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
) -> Compared:
    healthy = evaluate(array, workload, n_requests=n_requests, seed=seed)
    degraded = rebuilding = None
    hours = math.nan
    broken = degraded_array(array)
    if broken is not None:
        degraded = evaluate(broken, workload, n_requests=n_requests, seed=seed)
        rebuilding = evaluate(rebuilding_array(broken), workload, n_requests=n_requests, seed=seed)
        rate = rebuilding.rebuilt_bytes_per_s
        hours = array.drive.capacity_bytes / rate / 3600 if rate > 0 else math.nan
    guess = estimate(array, workload, seed=seed)
    curve = load_points(array, workload, healthy, evaluate, seed=seed, n_requests=max(n_requests // 2, 2000))
    headroom = find_headroom(curve, workload, growth_ratio)
    rule = rule_of_thumb(
        array.layout.level,
        read_fraction=read_fraction(workload),
        cache_hit=calculator_cache_hit(array),
        disks=array.layout.disks - len(array.layout.failed),
        per_disk_iops=calculator_disk_iops(array.drive),
        n_parity=array.layout.n_parity,
    )
    promised = rule.host_iops or math.inf
    words = _why(array, promised, rule.back_end_per_host, headroom, healthy)
    return Compared(name, array, healthy, degraded, rebuilding, hours, tuple(curve), headroom, promised, guess, words)


def degraded_array(array: Array) -> Array | None:
    """The array with its first disk missing; None where data is lost by it, or a disk is missing already."""
    if array.layout.failed or not array.layout.kind.is_redundant:
        return None
    try:
        layout = type(array.layout).parse({**array.layout.to_dict(), "failed": [0]})
    except DescriptionError:
        return None
    return array.model_copy(update={"layout": layout})


def rebuilding_array(degraded: Array) -> Array:
    """A degraded array with its first missing disk being rebuilt onto a spare, as fast as the disks go."""
    layout = degraded.layout
    changed = {**layout.to_dict(), "spares": max(1, layout.spares), "rebuild": {}}
    return degraded.model_copy(update={"layout": type(layout).parse(changed)})


def _difference(first: Compared, second: Compared, statistic: str) -> Difference | None:
    """Relative difference; its interval adds the two relative half-widths in squares (runs of one seed share requests,
    which makes the true interval narrower, never wider, as long as they react alike)."""
    a, b = (
        item.healthy.iops if statistic == "iops" else item.healthy.latency_ns.get("", {}).get(statistic)
        for item in (first, second)
    )
    if a is None or b is None or not (a.value > 0 and math.isfinite(b.value)):
        return None
    ratio = b.value / a.value - 1
    half = b.value / a.value * math.hypot((a.high - a.low) / 2 / a.value, (b.high - b.low) / 2 / b.value)
    figure = Figure(ratio, ratio - half, ratio + half)
    return Difference(first.name, second.name, statistic, figure, bool(figure.low > 0 or figure.high < 0))


def _why(array: Array, promised: float, counted: float, headroom: Headroom, outcome: Outcome) -> tuple[str, ...]:
    """Reasons for calculator and simulation to differ."""
    said = []
    if math.isfinite(promised):
        said.append(
            f"a calculator promises {promised:,.0f} requests/s; simulated, beyond {headroom.knee_iops:,.0f} (the knee) "
            "latency grows faster than throughput"
        )
    operations = outcome.iops.value * outcome.back_end_per_host
    working = array.layout.disks - len(array.layout.failed)
    if operations > 0 and outcome.utilization_ratio > 0:
        simulated_ms = 1000 * outcome.utilization_ratio * working / operations
        granted_ms = 1000 / calculator_disk_iops(array.drive)
        if abs(simulated_ms / granted_ms - 1) > 0.05:
            side = "elevator and short seeks" if simulated_ms < granted_ms else "seek and rotation"
            said.append(f"an operation holds a disk for {simulated_ms:.2f} ms, not {granted_ms:.2f} ms ({side})")
    if abs(outcome.back_end_per_host / counted - 1) > 0.03:
        said.append(
            f"a request costs {outcome.back_end_per_host:.2f} disk operations, not {counted:.2f} (cache, stripes and "
            "borders of strips)"
        )
    p99 = outcome.latency_ns.get("", {}).get("p99")
    if p99 is not None and math.isfinite(p99.value):
        said.append(f"at this load 99 of 100 are done within {p99.value / 1e6:.3g} ms; a calculator knows no latency")
    return tuple(said)
