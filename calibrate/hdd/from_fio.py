"""A hard disk from results of fio: rates and percentiles of random reads and writes over queue depths.

At depth 1 the distribution is overhead, seek and rotation: its width determines the speed among the usual ones, its
lower end the shortest accesses. Deeper queues determine how the firmware orders commands, writes how many of the cached
ones it chooses among. What fio does not show keeps the value of the drive that the fit starts from.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import least_squares

from calibrate.arrays import Floats
from calibrate.calibration import Calibration, Parameter
from diskmodel.array import Array
from diskmodel.drive import Hdd, load_drive
from diskmodel.drive.seek import SeekTimes
from diskmodel.engine import native
from diskmodel.engine.scenario import resolve
from diskmodel.engine.simulate import simulate
from diskmodel.errors import Fault, InputError
from diskmodel.formats import FioJob
from diskmodel.workload import Workload

#: Speeds that hard disks are sold with, and a typical drive of each, where the fit starts.
CLASSES = {5400: "generic-5k4", 7200: "generic-7k2", 10000: "generic-10k", 15000: "generic-15k"}
#: Taken where the evidence does not separate it from others: most disks have it.
USUAL_RPM = 7200
#: Percentiles that are compared, where fio reported them.
PERCENTILES = (1.0, 50.0, 90.0, 95.0, 99.0)
#: Relative errors that the fit allows a rate and a percentile: those of a simulation of `N_REQUESTS`, and fio's bins.
RATE_ERROR, PERCENTILE_ERROR = 0.02, 0.04
#: Requests of a simulation, and the part that is left out while the queue and the cache fill.
N_REQUESTS, WARM_UP_RATIO = 4_000, 0.15
#: Spread of the logarithms among drives of a class: average and shortest seek, overhead, full stroke for its average.
SEEK_SPREAD, SHORTEST_SPREAD, OVERHEAD_SPREAD, STROKE_SPREAD = 0.25, 0.6, 1.0, 0.15
#: Where the average lies between shortest and longest seek: a straight line has 1/3, a steep root 0.8.
PLACES = (0.36, 0.76)
#: Forms of the seek curve where the fit starts: that of the class, and a steeper one.
FORMS = (0.0, -0.3)
#: Bounds of the fit's coordinates.
LOW, HIGH = np.array([-1.5, -2.5, -2.5, -0.4, 0.0, -4.0]), np.array([1.5, 2.5, 2.5, 0.6, 6.0, 2.3])
#: Margins in ns, age weights and committed commands that are tried before the best are refined.
MARGINS_NS, AGE_WEIGHTS, COMMITTED = (0, 1_000_000, 2_000_000), (0.05, 0.3), range(9)
#: Numbers of committed commands whose fits are refined. The grid's margins are too coarse to separate neighbors.
N_REFINED = 3
#: Cached writes among which firmware may choose.
WEIGHED_WRITES = (8, 16, 32, 64, 128, 256, 512, 1024)
#: Steps of the Jacobian in the fit's coordinates: large enough to move percentiles of a simulation.
STEP = 0.05
#: A fitted rate or p99 that is off by more shows that the model does not describe the drive. Half would fail on fio's
#: bins and a minute's noise; double would pass a drive that orders differently.
MAX_RATE_MISFIT, MAX_P99_MISFIT = 0.1, 0.25
#: Chi-square by which another speed must fit worse for the speed to be identified. At 9, which noise alone would ask
#: for, the form of the seek curve passes for another speed: real curves are not those of the class.
MIN_SPEED_GAIN = 25.0
#: Read conditions from which on one is held out, in the middle of the depths. Of four, each alone shows something: the
#: seeks, from where on commands are ordered, and how well.
MIN_FOR_HELD_OUT = 5


@dataclass(frozen=True)
class Condition:
    """Random requests of one size and kind at one depth, as fio measured them."""

    op: str
    length_bytes: int
    depth: int
    iops: float
    mean_ns: float
    percentiles_ns: Mapping[float, float]

    def __str__(self) -> str:
        return f"random {self.op}s of {self.length_bytes} bytes at queue depth {self.depth}"

    @property
    def targets(self) -> Floats:
        """Return the logarithms that are fitted: rate, then percentiles."""
        return np.log([self.iops, *self.percentiles_ns.values()])

    @property
    def errors(self) -> Floats:
        """Return the standard errors of `targets`."""
        return np.array([RATE_ERROR] + [PERCENTILE_ERROR] * len(self.percentiles_ns))


@dataclass(frozen=True)
class Predicted:
    """What a drive does under a condition."""

    iops: float
    mean_ns: float
    percentiles_ns: Mapping[float, float]

    @property
    def values(self) -> Floats:
        """Return logarithms in the order of `Condition.targets`."""
        return np.log([self.iops, *self.percentiles_ns.values()])


def conditions_of(jobs: Iterable[FioJob]) -> list[Condition]:
    """Return the random reads and writes of one direction among jobs, by operation and depth; a repeated depth once."""
    found: dict[tuple[str, int, int], Condition] = {}
    for job in jobs:
        op = {"randread": "read", "randwrite": "write"}.get(job.pattern or "")
        direction = job.directions.get(op or "")
        if op is None or direction is None or job.error or job.was_limited or direction.iops <= 0:
            continue
        latency, mean_ns = direction.clat or direction.lat, direction.response_ns
        length = job.block_bytes.get(op, 0)
        if latency is None or mean_ns is None or not 0 < length == int(length):
            continue
        # the soonest read waited for those that were committed; the soonest write for nothing but room in the cache
        wanted = PERCENTILES if op == "read" else PERCENTILES[1:]
        known = {p: latency.percentiles[p] for p in wanted if latency.percentiles.get(p, 0) > 0}
        condition = Condition(op, int(length), job.outstanding, direction.iops, mean_ns, known)
        found.setdefault((op, int(length), job.outstanding), condition)
    return [found[key] for key in sorted(found)]


def run(drive: Hdd, condition: Condition, seed: int) -> Predicted:
    """Return what a drive does under a condition; Linux's mq-deadline keeps what its queue does not take."""
    above = {"scheduler": "mq-deadline"} if condition.depth > drive.queue.depth else {}
    array = Array.parse({"drive": drive, "layout": {"level": "jbod", "disks": 1}, "queue": above})
    reads = 1.0 if condition.op == "read" else 0.0
    workload = Workload.parse({"size_bytes": condition.length_bytes, "read_ratio": reads, "clients": condition.depth})
    if condition.op == "read":
        requests = workload.requests(capacity_bytes=array.usable_bytes, n=N_REQUESTS, seed=seed)
        done = native.run(resolve(array, seed), requests).completions
    else:
        # the cache is as full as it stays
        done = simulate(array, workload, n_requests=N_REQUESTS, seed=seed, profile_draws=0).run.completions
    order = np.argsort(done.done_ns, kind="stable")[int(N_REQUESTS * WARM_UP_RATIO) :]
    done_ns = done.done_ns[order]
    response_ns = (done_ns - done.issue_ns[order]).astype(np.float64)
    rate = (len(done_ns) - 1) / float(done_ns[-1] - done_ns[0]) * 1e9
    shown = {p: float(np.percentile(response_ns, p)) for p in condition.percentiles_ns}
    return Predicted(rate, float(response_ns.mean()), shown)


def _slopes(of: Callable[[Floats], Floats]) -> Callable[[Floats], Floats]:
    """Return the Jacobian by steps that move the percentiles of a simulation; scipy's own are too small for that."""

    def slopes(x: Floats) -> Floats:
        steps = STEP * np.eye(len(x))
        return np.array([(of(x + step) - of(x - step)) / (2 * STEP) for step in steps]).T

    return slopes


@dataclass
class _Fit:
    """A drive with coordinates: logarithms of average seek, shortest seek, overhead and full stroke for the same
    average over those of `base`; then the margin in ms and the logarithm of the age weight over 0.1."""

    base: Hdd
    reads: Sequence[Condition]
    seed: int

    @property
    def deep(self) -> list[Condition]:
        """Return the reads among which a drive has a choice."""
        return [condition for condition in self.reads if condition.depth > 2]

    @property
    def times(self) -> tuple[float, float, float]:
        """Shortest, average and longest seek of the base, ns."""
        seek = self.base.seek
        if not isinstance(seek, SeekTimes):
            rule, fix = "has a seek curve or table, which fio's results cannot change", "start from a drive with times"
            raise InputError(Fault("drive", self.base.name, rule, fix))
        shortest, longest = seek.resolved()
        return float(shortest), float(seek.average_ns), float(longest)

    def drive(self, x: Floats, committed: int) -> Hdd:
        shortest, average, longest = self.times
        place = float(np.clip((average - shortest) / (longest - shortest) * np.exp(-x[3]), *PLACES))
        average *= float(np.exp(x[0]))
        shortest = min(shortest * float(np.exp(x[1])), 0.8 * average)
        overhead = round(self.base.read_overhead_ns * float(np.exp(x[2])))
        seek = {
            "kind": "times",
            "track_to_track_ns": round(shortest),
            "average_ns": round(average),
            "full_stroke_ns": round(shortest + (average - shortest) / place),
        }
        if not self.deep:  # nothing was measured of the order: it stays the base's, and assumed where that is
            return self.base.model_copy(update={"seek": seek, "read_overhead_ns": overhead})
        queue = {
            "depth": self.base.queue.depth,
            "scheduler": "rpo",
            "miss_margin_ns": round(max(float(x[4]), 0.0) * 1e6),
            "age_weight": min(0.1 * float(np.exp(x[5])), 1.0),
            "committed": committed,
        }
        return self.base.model_copy(update={"seek": seek, "read_overhead_ns": overhead, "queue": queue})

    def residuals(self, x: Floats, committed: int, conditions: Sequence[Condition]) -> Floats:
        drive = self.drive(x, committed)
        parts = [(run(drive, c, self.seed).values - c.targets) / c.errors for c in conditions]
        prior = np.array(
            [x[0] / SEEK_SPREAD, x[1] / SHORTEST_SPREAD, x[2] / OVERHEAD_SPREAD, x[3] / STROKE_SPREAD, x[5] / 1.5]
        )
        return np.concatenate([*parts, prior])

    def mechanics(self) -> tuple[Floats, float]:
        """Fit seeks and overhead to the shallowest reads."""
        alone = [c for c in self.reads if c.depth == self.reads[0].depth]

        def of(x: Floats) -> Floats:
            return self.residuals(np.array([*x, 0.0, 0.0]), 0, alone)

        starts = (np.array([0.0, 0.0, 0.0, form]) for form in FORMS)
        settings = {"jac": _slopes(of), "x_scale": 0.3, "max_nfev": 12, "bounds": (LOW[:4], HIGH[:4])}
        found = min((least_squares(of, start, **settings) for start in starts), key=lambda fitted: float(fitted.cost))
        return np.array([*found.x, 0.0, 0.0]), 2.0 * float(found.cost)


def calibrate_hdd_from_fio(
    jobs: Sequence[FioJob],
    *,
    start: Hdd | None,
    capacity_bytes: int | None,
    name: str,
    provenance: dict[str, Any],
    warnings: list[str],
    seed: int,
) -> Calibration:
    """Fit a hard disk to fio's random reads, and to its writes where there are any.

    Parameters
    ----------
    start : Hdd, optional
        Drive of the same kind; its speed is kept. By default typical drives of each speed.

    Raises
    ------
    InputError
        Without percentiles of random reads one at a time over the whole drive.
    """
    conditions = conditions_of(jobs)
    reads = [c for c in conditions if c.op == "read"]
    if not reads or reads[0].depth != 1 or len(reads[0].percentiles_ns) < 3:
        rule = "has no percentiles of random reads at queue depth 1, which determine seeks and rotation"
        fix = "run fio with iodepth=1 over the whole drive and --output-format=json, or diskmodel measure"
        raise InputError(Fault("evidence", None, rule, fix))
    held = [reads[len(reads) // 2]] if len(reads) >= MIN_FOR_HELD_OUT else []
    fitted = [c for c in reads if c not in held]
    bases = {round(start.rpm): start} if start is not None else {rpm: _typical(rpm) for rpm in CLASSES}
    tried: dict[int, tuple[float, Floats, _Fit]] = {}
    for rpm, base in bases.items():
        sized = base if capacity_bytes is None else base.model_copy(update={"capacity_bytes": capacity_bytes})
        fit = _Fit(sized, fitted, seed)
        x, misfit = fit.mechanics()
        tried[rpm] = (misfit, x, fit)
    ranked = sorted(tried, key=lambda rpm: tried[rpm][0])
    if USUAL_RPM in tried and tried[USUAL_RPM][0] < tried[ranked[0]][0] + MIN_SPEED_GAIN:
        ranked.sort(key=lambda rpm: rpm != USUAL_RPM)  # the others keep their order
    _, x, fit = tried[ranked[0]]
    gain = tried[ranked[1]][0] - tried[ranked[0]][0] if len(ranked) > 1 else None
    x, committed, found = _with_queue(fit, x)
    report: dict[str, Any] = {"why": "fewer than five depths of random reads"}
    if held:
        report = _held_out(fit.drive(x, committed), held[0], seed + 1)
        # its error is known now: the profile is fitted to everything
        fit = replace(fit, reads=reads)
        x, committed, found = _with_queue(fit, x)
    drive = fit.drive(x, committed)
    writes = [c for c in conditions if c.op == "write"]
    weighed = None
    if writes:
        drive, weighed = _with_writes(drive, writes, seed)
    rows = [_row(drive, c, seed + 1) for c in (*reads, *writes)]
    worst, has_converged = _verdict(rows)
    source = "fitted to results of fio"
    drive = drive.model_copy(update={"name": name, "source": source, "notes": "", "provenance": provenance})
    parameters = _parameters(drive, found, gain, ranked, bool(fit.deep), weighed)
    message = f"{len(rows)} conditions; the worst: {worst}"
    return Calibration(drive, has_converged, message, parameters, report, {"residuals": rows, "warnings": warnings})


def _typical(rpm: int) -> Hdd:
    drive = load_drive(CLASSES[rpm])
    assert isinstance(drive, Hdd)
    return drive


def _with_queue(fit: _Fit, x: Floats) -> tuple[Floats, int, Any]:
    """Fit how the firmware orders commands; seeks and overhead move with it."""
    starts = {0: np.clip(x, LOW, HIGH)}
    if fit.deep:
        starts = _queue_starts(fit, x)
    fits = {}
    for committed, start in starts.items():

        def of(at: Floats, committed: int = committed) -> Floats:
            return fit.residuals(at, committed, fit.reads)

        scale = [0.1, 0.3, 0.5, 0.1, 0.5, 0.5]
        fits[committed] = least_squares(of, start, jac=_slopes(of), x_scale=scale, max_nfev=8, bounds=(LOW, HIGH))
    best = min(fits, key=lambda committed: float(fits[committed].cost))
    return fits[best].x, best, fits[best]


def _queue_starts(fit: _Fit, x: Floats) -> dict[int, Floats]:
    """Return where to refine: the best of the grid for each of the likeliest numbers of committed commands."""
    best: dict[int, tuple[float, Floats]] = {}
    for margin_ns, weight, committed in itertools.product(MARGINS_NS, AGE_WEIGHTS, COMMITTED):
        at = np.clip(np.array([*x[:4], max(margin_ns / 1e6, 0.1), np.log(weight / 0.1)]), LOW, HIGH)
        misfit = float(np.sum(fit.residuals(at, committed, fit.deep) ** 2))
        if committed not in best or misfit < best[committed][0]:
            best[committed] = misfit, at
    likeliest = sorted(best, key=lambda committed: best[committed][0])[:N_REFINED]
    return {committed: best[committed][1] for committed in likeliest}


def _with_writes(drive: Hdd, writes: Sequence[Condition], seed: int) -> tuple[Hdd, int | None]:
    """Fit how many cached writes the firmware chooses among, if it caches any at all."""

    def with_weighed(n: int) -> Hdd:
        return drive.model_copy(update={"queue": drive.queue.to_dict() | {"weighed_writes": n}})

    def misfit(candidate: Hdd) -> float:
        return sum(float(np.log(run(candidate, c, seed).iops / c.iops) ** 2) for c in writes)

    without = drive.model_copy(update={"cache": None})
    tried = {n: misfit(with_weighed(n)) for n in WEIGHED_WRITES} if drive.cache is not None else {}
    best = min(tried, key=lambda n: tried[n], default=None)
    if best is None or misfit(without) < tried[best]:
        return without, None
    return with_weighed(best), best


def _row(drive: Hdd, condition: Condition, seed: int) -> dict[str, Any]:
    """Residual of a condition, from another seed than the fit's."""
    predicted = run(drive, condition, seed)
    p99 = condition.percentiles_ns.get(99.0)
    row = {
        "what": str(condition),
        "measured_mean_ms": condition.mean_ns / 1e6,
        "predicted_mean_ms": predicted.mean_ns / 1e6,
        "error_ratio": predicted.mean_ns / condition.mean_ns - 1,
        "stderr_ratio": RATE_ERROR,
        "iops_error_ratio": predicted.iops / condition.iops - 1,
    }
    return row if p99 is None else row | {"p99_error_ratio": predicted.percentiles_ns[99.0] / p99 - 1}


def _verdict(rows: Sequence[Mapping[str, Any]]) -> tuple[str, bool]:
    """Return the worst residual in words, and whether all are small."""

    def size(row: Mapping[str, Any]) -> float:
        rate, p99 = abs(row["iops_error_ratio"]), abs(row.get("p99_error_ratio", 0.0))
        return float(max(rate / MAX_RATE_MISFIT, p99 / MAX_P99_MISFIT))

    worst = max(rows, key=size)
    p99 = f", p99 {worst['p99_error_ratio']:+.0%}" if "p99_error_ratio" in worst else ""
    return f"{worst['what']}, rate {worst['iops_error_ratio']:+.0%}{p99}", size(worst) <= 1


def _held_out(drive: Hdd, condition: Condition, seed: int) -> dict[str, Any]:
    row = _row(drive, condition, seed)
    return row | {
        "mean_error_ratio": row["error_ratio"],
        "percentile_error_ratios": {"p99": row.get("p99_error_ratio")},
    }


def _parameters(
    drive: Hdd, found: Any, gain: float | None, ranked: Sequence[int], is_queue_fitted: bool, weighed: int | None
) -> dict[str, Parameter]:
    """Return the parameters with standard errors from the Jacobian of the last fit."""
    curvature = found.jac.T @ found.jac
    errors = np.sqrt(np.maximum(np.diag(np.linalg.pinv(curvature)), 0.0))
    seek, queue = drive.seek, drive.queue
    assert isinstance(seek, SeekTimes)
    if gain is None:
        speed = Parameter(drive.rpm, None, "rpm", False, "of the drive that the fit started from")
    else:
        why = f"{ranked[1]} rpm fits worse by {gain:.0f} (chi-square)"
        if gain < MIN_SPEED_GAIN:
            why = f"the percentiles do not separate it from {ranked[1]} rpm; name a drive of its kind to start from"
        speed = Parameter(drive.rpm, 0.0 if gain >= MIN_SPEED_GAIN else None, "rpm", gain >= MIN_SPEED_GAIN, why)
    parameters = {
        "rpm": speed,
        "seek.average_ns": _scaled(seek.average_ns / 1e6, errors[0], SEEK_SPREAD, "ms"),
        "seek.track_to_track_ns": _scaled(seek.resolved()[0] / 1e6, errors[1], SHORTEST_SPREAD, "ms"),
        "seek.full_stroke_ns": _scaled(seek.resolved()[1] / 1e6, errors[3], STROKE_SPREAD, "ms"),
        "read_overhead_ns": _scaled(drive.read_overhead_ns / 1e6, errors[2], OVERHEAD_SPREAD, "ms"),
    }
    unseen = "no random reads at depths above 2"
    margin, weight = queue.miss_margin_ns / 1e6, queue.age_weight
    if is_queue_fitted:
        parameters["queue.miss_margin_ns"] = Parameter(margin, float(errors[4]), "ms", bool(errors[4] < 1.0))
        parameters["queue.age_weight"] = _scaled(weight, errors[5], 1.5, "")
        parameters["queue.committed"] = Parameter(queue.committed, None, "", True, "best of a grid")
    else:
        for key, value in (("miss_margin_ns", margin), ("age_weight", weight), ("committed", queue.committed)):
            parameters[f"queue.{key}"] = Parameter(value, None, "ms" if key.endswith("ns") else "", False, unseen)
    if weighed is not None:
        why = "best of a grid, for the rates of random writes"
        parameters["queue.weighed_writes"] = Parameter(weighed, None, "", True, why)
    return parameters


def _scaled(value: float, log_error: float, spread: float, unit: str) -> Parameter:
    """A parameter that was fitted as a logarithm; not identified where the fit is hardly narrower than the class."""
    is_identified = bool(log_error < 0.7 * spread)
    why = "" if is_identified else "the evidence determines it hardly better than the class of drives does"
    return Parameter(value, value * float(log_error), unit, is_identified, why)
