"""How a drive orders its queue: which scheduler and depth give the measured rates at all queue depths.

Every candidate is simulated, and the one with the smallest error of the measured responses is taken. Where none of
these ideal schedulers explains rates and percentiles, the drive has an age limit (`age_limit`) or orders as firmware
does (`firmware_order`). Depths beyond those measured cannot be distinguished. Orders that fit as well are kept: which
of them the drive has is not known.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from calibrate.closed_loop import mean_response, scenario_of, with_queue
from calibrate.evidence import Cells, Key, Measurement
from calibrate.hdd.age_limit import fit_age_limit
from calibrate.hdd.firmware_order import deep_reads, fit_order, is_explained
from calibrate.hdd.from_fio.conditions import Condition
from calibrate.hdd.from_fio.mechanics import Ordered
from diskmodel.drive import ONE_AT_A_TIME, DriveQueue, Hdd

#: Schedulers that are tried, FCFS first: alone if nothing overtakes.
SCHEDULERS = ("fcfs", "sptf", "look", "sstf", "c-look")
#: Depths that are tried, up to the largest measured one.
_DEPTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
#: Requests of a simulation: their mean response has an error of about 1 %.
_N_REQUESTS = 4000
#: Candidates whose errors differ by less than this cannot be distinguished. Half names one scheduler where noise
#: decides; double leaves most drives open.
_TIE_RATIO = 0.02
#: Share of overtaken requests from which on the drive reorders: cache hits overtake too.
MIN_OVERTAKEN_RATIO = 0.01


@dataclass(frozen=True)
class QueueFit:
    """Scheduler and depth with their misfit, the root mean square of relative errors.

    `runner_up_ratio` is the misfit of the next scheduler; `schedulers` are those that the evidence cannot distinguish,
    the best first, and `near` their queues. `ordered` is the fitted order of firmware, where that is the best, and
    `age_stderr_ns` the error of an age limit."""

    queue: DriveQueue
    misfit_ratio: float
    runner_up_ratio: float
    schedulers: tuple[str, ...]
    is_depth_identified: bool
    predicted_ns: dict[Key, float]
    near: tuple[DriveQueue, ...] = ()
    ordered: Ordered | None = None
    age_stderr_ns: float | None = None


def overtaken_ratio(measurement: Measurement) -> float:
    """Return the share of random reads at depths above 1 that completed after one issued later."""
    overtaken, total = 0, 0
    experiment = measurement.experiment("random_reads")
    for run in experiment.runs if experiment is not None else ():
        if run.queue_depth > 1:
            order = np.argsort(run.samples.completion_ns, kind="stable")
            issued = run.samples.issue_ns[order]
            overtaken += int(np.count_nonzero(issued < np.maximum.accumulate(issued)))
            total += len(issued)
    return overtaken / total if total else 0.0


def fit_queue(drive: Hdd, measurement: Measurement, cells: Cells, *, span_bytes: int, seed: int) -> QueueFit:
    """Fit the queue to random reads at several depths; FCFS where only depth 1 was measured or nothing overtakes.

    Parameters
    ----------
    drive : Hdd
    measurement : Measurement
    cells : Cells
        What is fitted of the measurement.
    span_bytes : int
    seed : int
    """
    is_reordering = overtaken_ratio(measurement) > MIN_OVERTAKEN_RATIO
    keys = [key for key in sorted(cells) if key.op == "read" and not key.is_sequential]
    length = min((key.length_bytes for key in keys), default=4096)
    keys = [key for key in keys if key.length_bytes == length]
    deepest = max((key.queue_depth for key in keys), default=1)
    if deepest == 1:
        return QueueFit(DriveQueue(assumed_from=ONE_AT_A_TIME), 0.0, 0.0, SCHEDULERS, False, {})
    found: list[tuple[float, DriveQueue, dict[Key, float]]] = []
    for scheduler in SCHEDULERS if is_reordering else SCHEDULERS[:1]:
        for depth in (1,) if scheduler == "fcfs" else [d for d in _DEPTHS if 1 < d <= deepest]:
            queue = DriveQueue(depth=depth, scheduler=scheduler)
            predicted = _predict(drive, queue, keys, span_bytes, seed)
            errors = [np.log(predicted[key] / cells[key].mean_ns) for key in keys]
            found.append((float(np.sqrt(np.mean(np.square(errors)))), queue, predicted))
    found.sort(key=lambda item: item[0])
    misfit, queue, predicted = found[0]
    others = [item[0] for item in found if item[1].scheduler != queue.scheduler]
    near = [item[1].depth for item in found if item[1].scheduler == queue.scheduler and item[0] < misfit + _TIE_RATIO]
    runner_up = min(others, default=float("inf"))
    is_ordered = queue.scheduler != "fcfs"
    ideal = QueueFit(
        queue=queue if is_ordered else DriveQueue(depth=1),
        misfit_ratio=misfit,
        runner_up_ratio=runner_up,
        schedulers=tuple(dict.fromkeys(item[1].scheduler for item in found if item[0] < misfit + _TIE_RATIO)),
        is_depth_identified=is_ordered and len(near) == 1 and queue.depth < deepest,
        predicted_ns=predicted,
        near=tuple(item[1] for item in found if item[0] < misfit + _TIE_RATIO),
    )
    reads = deep_reads(measurement, keys)
    likely = {queue: with_queue(drive, queue) for queue in ideal.near}
    explained = tuple(queue for queue, tried in likely.items() if is_explained(tried, reads, seed))
    if not is_reordering:
        return ideal
    if explained:
        known = replace(ideal, near=explained)
        if ideal.queue in explained:
            return known
        return in_drive(known, likely[explained[0]], cells, span_bytes=span_bytes, seed=seed)
    aged = _with_age_limit(ideal, drive, cells, reads, span_bytes=span_bytes, seed=seed)
    if aged is not None and is_explained(with_queue(drive, aged.queue), reads, seed):
        return aged
    firmware = _as_firmware(ideal, drive, cells, reads, span_bytes=span_bytes, seed=seed)
    fits = [fit for fit in (ideal, aged, firmware) if fit is not None]
    fits.sort(key=lambda fit: fit.misfit_ratio)
    close = [fit for fit in fits if fit.misfit_ratio < fits[0].misfit_ratio + _TIE_RATIO]
    return replace(
        fits[0],
        schedulers=tuple(dict.fromkeys(name for fit in close for name in fit.schedulers)),
        near=tuple(dict.fromkeys(queue for fit in close for queue in fit.near)),
    )


def _with_age_limit(
    ideal: QueueFit, drive: Hdd, cells: Cells, reads: list[Condition], *, span_bytes: int, seed: int
) -> QueueFit | None:
    """Return the fit of an order with an age limit; None where the reads are too shallow for one."""
    found = fit_age_limit(drive, reads, seed)
    if found is None:
        return None
    tried = replace(
        ideal,
        queue=found.queue,
        schedulers=(found.queue.scheduler,),
        is_depth_identified=False,
        runner_up_ratio=ideal.misfit_ratio,
        near=found.near,
        age_stderr_ns=found.stderr_ns,
    )
    return in_drive(tried, with_queue(drive, found.queue), cells, span_bytes=span_bytes, seed=seed)


def _as_firmware(
    ideal: QueueFit, drive: Hdd, cells: Cells, reads: list[Condition], *, span_bytes: int, seed: int
) -> QueueFit | None:
    """Return the fit of firmware's order; None where the reads are too shallow for one."""
    ordered = fit_order(drive, reads, seed)
    if ordered is None:
        return None
    queue = DriveQueue.parse(dict(ordered.drive.queue))
    tried = replace(ideal, queue=queue, runner_up_ratio=ideal.misfit_ratio, ordered=ordered, near=(queue,))
    found = in_drive(tried, ordered.drive, cells, span_bytes=span_bytes, seed=seed)
    is_narrower = queue.depth < max(condition.depth for condition in reads)
    return replace(found, schedulers=(queue.scheduler,), is_depth_identified=is_narrower)


def in_drive(fit: QueueFit, drive: Hdd, cells: Cells, *, span_bytes: int, seed: int) -> QueueFit:
    """Return the fit for a drive whose other parameters were moved, and perhaps its queue among `near`."""
    if not fit.predicted_ns:
        return fit
    predicted = _predict(drive, drive.queue, list(fit.predicted_ns), span_bytes, seed)
    errors = [np.log(predicted[key] / cells[key].mean_ns) for key in predicted]
    misfit = float(np.sqrt(np.mean(np.square(errors))))
    ordered = fit.ordered if drive.queue.scheduler == "rpo" else None
    return replace(fit, queue=drive.queue, misfit_ratio=misfit, predicted_ns=predicted, ordered=ordered)


def _predict(drive: Hdd, queue: DriveQueue, keys: list[Key], span_bytes: int, seed: int) -> dict[Key, float]:
    scenario = scenario_of(with_queue(drive, queue))
    return {
        key: mean_response(
            scenario,
            length=key.length_bytes,
            queue_depth=key.queue_depth,
            n=_N_REQUESTS,
            seed=seed,
            span_bytes=span_bytes,
        )
        for key in keys
    }
