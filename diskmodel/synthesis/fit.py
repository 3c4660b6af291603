"""Fitting a synthetic workload to a trace: as few excerpts as reproduce its latency on the reference arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from diskmodel.errors import DescriptionError, Fault
from diskmodel.loading import dataclass
from diskmodel.records import Op, Requests, Sync
from diskmodel.synthesis.reference import Setting, settings, simulated
from diskmodel.workload import (
    MAX_CYCLE,
    Features,
    Fitted,
    FittedLatency,
    TraceWorkload,
    Workload,
    lost_features,
    represent,
    stream_of,
)
from diskmodel.workload.condense import cut

#: Shortest trace that is fitted, requests: one phase.
_MIN_REQUESTS = 100
#: Shares of the phases that are kept, and requests of a phase, in the order in which they are tried.
_SHARES = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)
_ROWS_PER_PHASE = (64, 128, 256)
#: Most requests that are kept: a file of about 650 KB.
_MAX_KEPT = 1 << 17
#: Phases at most: a longer trace has longer phases, because the time to choose excerpts grows with the square.
_MAX_PHASES = 1 << 12
#: Relative errors of the mean and of p99 that end the search. At half, files are twice as large; at double, another
#: array than those tried may be off by more than a fifth.
_MEAN_WITHIN = 0.08
_P99_WITHIN = 0.15


@dataclass(frozen=True)
class Synthesis:
    """A synthetic workload beside the trace that it stands for.

    Attributes
    ----------
    workload : Workload
        `workload.fitted` states what it loses in latency.
    trace, synthetic : Features
        Of the trace, and of as many requests drawn from the workload.
    lost : tuple of str
        Statistics that the workload does not reproduce, with both figures.
    """

    workload: Workload
    trace: Features
    synthetic: Features
    lost: tuple[str, ...]

    @property
    def latency(self) -> tuple[FittedLatency, ...]:
        """The trace and the workload on the reference arrays."""
        return self.workload.fitted.latency if self.workload.fitted is not None else ()


def synthesize(requests: Requests, *, name: str = "", seed: int = 0) -> Synthesis:
    """Return a synthetic workload that reproduces the latency of a trace with as few of its requests as possible.

    Parameters
    ----------
    requests : Requests
        At least 100 requests with absolute issue times, in order.
    name : str
        Of the trace, for the file.
    seed : int
        The first one of the runs that the trace is compared with.

    Raises
    ------
    DescriptionError
        When there are fewer than 100 requests or more than four million, or no time passes.

    Notes
    -----
    Cuts the trace into phases of 64, 128 or 256 requests and keeps a 16th of them as excerpts, then an 8th, up to all,
    until mean and p99 on each reference array are within 8 and 15 % of what the replay of the trace finds there, both
    averaged over runs of several seeds. Keeps 131,072 requests at most. Where none is near enough, returns the nearest;
    `workload.fitted` states by how much. Flushes are left out, and `lost` counts them.
    """
    faults = []
    if not _MIN_REQUESTS <= len(requests) <= MAX_CYCLE:
        rule = f"must be {_MIN_REQUESTS} to {MAX_CYCLE:,}"
        faults.append(Fault("requests", len(requests), rule, "give a longer trace, or a part of it"))
    elif int(requests.when_ns[-1]) <= int(requests.when_ns[0]):
        faults.append(Fault("when_ns", None, "no time passes in the trace", "give absolute issue times"))
    if faults:
        raise DescriptionError(faults)
    trace = TraceWorkload(requests).without_flushes().trace
    trace = replace(trace, when_ns=trace.when_ns - trace.when_ns[0])
    references = settings(trace)
    best, best_score = None, float("inf")
    for candidate in _candidates(trace):
        compared, score = _compared(candidate, references, len(trace), seed, best_score)
        if best is None or score < best_score:
            fitted = Fitted(trace=name[:200], n_requests=len(trace), latency=tuple(compared))
            best, best_score = candidate.model_copy(update={"fitted": fitted}), score
        if score <= 1:
            break
    assert best is not None
    features = Features.of(trace)
    largest = int((trace.offset + trace.length).max())
    capacity = max(largest, max(sum(stream.region(largest, None)) for stream in best.streams))
    synthetic = Features.of(best.requests(capacity_bytes=capacity, n=len(trace), seed=seed))
    lost = (*_lost_syncs(requests), *lost_features(features, synthetic))
    return Synthesis(best, features, synthetic, lost)


def _lost_syncs(requests: Requests) -> Iterator[str]:
    """Yield how many flushes the trace has, and how many writes past the caches of drives."""
    past = np.array([rule.sync != Sync.NONE for rule in requests.streams])[requests.stream] & (requests.op == Op.WRITE)
    for name, n in (("flushes", (requests.op == Op.FLUSH).sum()), ("writes past caches (FUA)", past.sum())):
        if n:
            yield f"{name}: {n:,} in the trace, none in the synthetic workload"


def _candidates(trace: Requests) -> Iterator[Workload]:
    """Workloads with ever more of the trace; at least one."""
    least = -(-len(trace) // _MAX_PHASES)
    by_length = {rows: cut(trace, rows) for rows in {max(rows, least) for rows in _ROWS_PER_PHASE}}
    shares = [share for share in _SHARES if share * len(trace) <= _MAX_KEPT] or [_MAX_KEPT / len(trace)]
    for share in shares:
        for rows in sorted(by_length) if share < 1 else [max(by_length)]:
            phases = by_length[rows]
            yield Workload(name="fitted", streams=(stream_of(phases, represent(phases, share)),))


def _compared(
    workload: Workload, references: list[Setting], n: int, seed: int, enough: float
) -> tuple[list[FittedLatency], float]:
    """Return the figures on each reference array, and the worst error in units of what is allowed.

    Ends where the worst error exceeds `enough`.
    """
    found: list[FittedLatency] = []
    worst = 0.0
    for setting in references:
        figures = simulated(workload, setting.array, setting.speed_up, n, seed)
        latency = FittedLatency(
            array=setting.title,
            speed_up=setting.speed_up,
            trace_mean_ns=round(setting.trace.mean_ns),
            fitted_mean_ns=round(figures.mean_ns),
            trace_p99_ns=round(setting.trace.p99_ns),
            fitted_p99_ns=round(figures.p99_ns),
            trace_mean_spread=setting.trace.spread_ratio("mean_ns"),
            trace_p99_spread=setting.trace.spread_ratio("p99_ns"),
        )
        found.append(latency)
        worst = max(worst, abs(latency.mean_error) / _MEAN_WITHIN, abs(latency.p99_error) / _P99_WITHIN)
        if worst >= enough:
            break
    return found, worst
