"""IOPS and p99 latency against load, within a budget of simulated requests."""

from __future__ import annotations

import math
from typing import Any, Literal

from diskmodel.analytic import write_penalty
from diskmodel.array import Array
from diskmodel.engine import native, resolve
from diskmodel.engine.simulate import simulate
from diskmodel.errors import DescriptionError, Fault
from diskmodel.lab.calculator import calculator
from diskmodel.lab.drives import drive_of
from diskmodel.lab.effort import check_curve
from diskmodel.lab.quick_interval import quick_quantile_interval
from diskmodel.lab.settings import Settings
from diskmodel.loading import dataclass
from diskmodel.result import Result
from diskmodel.result.statistics import PERCENTILES

Stage = Literal["quick", "refined"]

#: Disk commands that one curve may cost, by engine and stage, chosen by time on two cores: a quick curve takes about
#: 200 ms, so that it follows a slider, and a refined one a few seconds. Doubled, the slider lags; halved, the intervals
#: are wider by 40 %.
BUDGET: dict[tuple[str, Stage], int] = {
    ("native", "quick"): 45_000,
    ("native", "refined"): 1_200_000,
    ("simpy", "quick"): 1_500,
    ("simpy", "refined"): 40_000,
}
#: Limits on the requests of each point: fewer give no useful mean, more only cost time on the fastest settings.
MIN_REQUESTS = 60
MAX_REQUESTS: dict[Stage, int] = {"quick": 5_000, "refined": 100_000}
#: Loads of the points: requests outstanding, and shares of the rate at which the array saturates. They are dense below
#: saturation, where the knee of the curve is.
LOADS: dict[Stage, tuple[int, ...]] = {
    "quick": (1, 4, 16, 64, 256),
    "refined": (1, 2, 4, 8, 16, 32, 64, 128, 256),
}
SHARES: dict[Stage, tuple[float, ...]] = {
    "quick": (0.1, 0.4, 0.65, 0.85, 1.0, 1.2),
    "refined": (0.05, 0.2, 0.35, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2),
}
#: Requests outstanding per disk in the run that finds the saturation rate. With 32 the rate of eight generic-15k in
#: RAID 5 is 10 % lower; 128 change nothing, because the short run limits the number of clients.
SATURATING = 64


@dataclass(frozen=True)
class Question:
    """A curve to simulate.

    Attributes
    ----------
    settings : Settings
    stage : "quick" or "refined"
    array : Array
    loads : tuple of float
        In ascending order; they include the chosen load.
    n_requests : int
        Requests in each run.
    engine : str
        The engine that runs it.
    """

    settings: Settings
    stage: Stage
    array: Array
    loads: tuple[float, ...]
    n_requests: int
    engine: str


def ask(settings: Settings, stage: Stage, effort: float = 1.0) -> Question:
    """Return the runs that answer `settings`.

    Parameters
    ----------
    settings : Settings
    stage : "quick" or "refined"
    effort : float in [0.1, 1]
        Share of the stage's budget, for machines that are slow or busy.

    Raises
    ------
    DescriptionError
        When the settings contradict each other, with every fault, or when the curve would take too much memory.
    """
    if not 0.1 <= effort <= 1:
        raise DescriptionError(Fault("effort", effort, "must be between 0.1 and 1", "leave it out for 1"))
    array = settings.array()
    check_curve(settings, MIN_REQUESTS)
    scenario = resolve(array, settings.seed)
    sample = settings.workload().requests(capacity_bytes=array.usable_bytes, n=1, seed=settings.seed)
    engine = "native" if native.covers(scenario, sample) is None else "simpy"
    loads = _loads(settings, array, engine, stage if engine == "native" else "quick")
    per_host = _commands_per_host(settings)
    n = int(effort * BUDGET[engine, stage] / (len(loads) * per_host))
    n = min(max(n, MIN_REQUESTS), MAX_REQUESTS[stage])
    check_curve(settings, n)
    return Question(settings, stage, array, loads, n, engine)


def point(question: Question, load: float) -> dict[str, Any]:
    """Simulate one point of the curve; return it as plain data."""
    settings = question.settings
    n = question.n_requests
    # the page shows no prediction interval, so that a profile's uncertainty would only cost time
    result = simulate(
        question.array, settings.workload(load), seed=settings.seed, n_requests=n, precision=0.05, profile_draws=0
    )
    absorbed = 0 if result.burst is None else result.burst.n_requests
    return {"load": load, "absorbed_writes": absorbed, **figures(result)}


def answer(question: Question, points: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the curve with the chosen point, and the rule of thumb for comparison."""
    settings = question.settings
    chosen = next(point for point in points if point["load"] == settings.chosen_load)
    return {
        "stage": question.stage,
        "arrivals": settings.arrivals,
        "points": points,
        "chosen": chosen,
        "calculator": calculator(settings, question.array),
        "n_requests": sum(point["n_requests"] for point in points),
        "engine": chosen["engine"],
        "usable_bytes": question.array.usable_bytes,
    }


def figures(result: Result) -> dict[str, Any]:
    """Return the figures of a run that the lab shows; None where there is no estimate."""
    low, high = result.latency.run_ends_ns["p99"]
    p99 = result.latency.quantiles_ns["p99"]
    is_rough = result.is_stable and math.isnan(low)
    if is_rough:
        low, high = quick_quantile_interval(result.responses_ns(), PERCENTILES["p99"])
    run, mean = result.run_iops, result.latency.run_mean_ns
    return {
        "engine": result.engine,
        "n_requests": result.n_requests,
        "stable": result.is_stable,
        "iops": [number(run.value), number(run.low), number(run.high)],
        "mean_ms": [in_ms(mean.mean), in_ms(mean.low), in_ms(mean.high)],
        "p99_ms": [in_ms(p99), in_ms(low), in_ms(high)],
        "max_ms": in_ms(result.latency.max_ns),
        "utilization_ratio": result.utilization_ratio,
        "back_end_per_host": result.back_end_per_host,
        "breakdown_ms": {part: in_ms(value) for part, value in result.breakdown_ns.items()},
    }


def _loads(settings: Settings, array: Array, engine: str, stage: Stage) -> tuple[float, ...]:
    if settings.arrivals == "outstanding":
        grid: set[float] = {float(n) for n in LOADS[stage]}
    else:
        most = _saturation_per_s(settings, array, engine)
        grid = {float(f"{share * most:.3g}") for share in SHARES[stage]}
    return tuple(sorted(grid | {settings.chosen_load}))


def _saturation_per_s(settings: Settings, array: Array, engine: str) -> float:
    """Find by a short run how many requests per second the array completes when it is kept busy."""
    n = max(int((3_000 if engine == "native" else 300) / _work(settings)), 300)
    clients = min(SATURATING * settings.disks, n // 6)
    busy = settings.model_copy(update={"arrivals": "outstanding", "outstanding": clients})
    result = simulate(array, busy.workload(), seed=settings.seed, n_requests=n, profile_draws=0)
    return max(result.iops.mean, 1.0)


def _commands_per_host(settings: Settings) -> float:
    """Return the disk commands per request, in units of the command of a small request."""
    reads, writes = 1.0, float(write_penalty(settings.level))
    if settings.level == "raid1":
        writes = settings.disks
    elif settings.has_failed_disk and writes > 2:
        # data of the missing disk is reconstructed from a whole row
        reads, writes = 2.0, writes + settings.disks / 2
    return (settings.read_ratio * reads + (1 - settings.read_ratio) * writes) * _work(settings)


def _work(settings: Settings) -> float:
    """Return how many small requests one request costs: each strip, page and cache block takes time."""
    page_bytes = 65_536 if drive_of(settings.drive).has_arms else 32_768
    return max(settings.size_bytes / settings.strip_bytes / 2, settings.size_bytes / page_bytes, 1.0)


def number(value: float) -> float | None:
    """Return a figure, or None where it is not known."""
    return value if math.isfinite(value) else None


def in_ms(value_ns: float) -> float | None:
    """Return a time in milliseconds, or None where it is not known."""
    return number(value_ns / 1e6)
