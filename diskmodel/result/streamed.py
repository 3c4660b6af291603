"""The result of a run in flat memory: of histograms, sums and samples instead of completions."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from diskmodel.records import PARTS, Int64, Op, Requests, Run
from diskmodel.result.batches import Interval, mean_interval
from diskmodel.result.devices import disk_use
from diskmodel.result.latency import Latency
from diskmodel.result.laws import check_devices
from diskmodel.result.levels import drifts_of
from diskmodel.result.result import Result
from diskmodel.result.segments import Responses, Segment
from diskmodel.result.stability import Stability, judge_counts
from diskmodel.result.summary import check_options, is_narrow, messages_of, with_drifts
from diskmodel.result.warmup import warm_up
from diskmodel.result.window import Window


@dataclass(frozen=True)
class Tally:
    """What a run in flat memory leaves behind.

    Attributes
    ----------
    precision_bits : int
        Of the histograms.
    until_ns : int
        When some stream issued its last row; later completions are in no segment.
    n_done, n_came_open : int
        Completions, and rows of open streams, of the whole run.
    response_ns : int
        Sum of all responses.
    batch_n, batch_response_ns, batch_end_ns : arrays
        The completions until `until_ns` in some thousand parts: number, sum of responses, time of the last.
    sample_step_ns : int
    came_open, left_open, done : int64
        Counts at the multiples of that step.
    segments : tuple of Segment
    """

    precision_bits: int
    until_ns: int
    n_done: int
    n_came_open: int
    response_ns: int
    batch_n: Int64
    batch_response_ns: np.ndarray[tuple[int], np.dtype[np.float64]]
    batch_end_ns: Int64
    sample_step_ns: int
    came_open: Int64
    left_open: Int64
    done: Int64
    segments: tuple[Segment, ...]


def summarize_tally(
    requests: Requests,
    run: Run,
    tally: Tally,
    *,
    precision: float,
    percentile: str | None = None,
    confidence: float = 0.95,
) -> Result:
    """The result of a run in flat memory.

    Notes
    -----
    As `summarize`, but: percentiles come from a histogram (relative error at most 2^-(precision_bits + 1)); the warm-up
    is found in means of some thousand parts of the run and dropped in whole segments, of which there are 40 to 80; the
    intervals stand on those parts.

    Raises
    ------
    DescriptionError, ConservationError
        As `summarize`.
    """
    check_options(tally.n_done, precision, percentile, confidence)
    check_devices(run)
    means = tally.batch_response_ns / np.maximum(tally.batch_n, 1)
    n_dropped, is_settled = warm_up(means)
    kept, start_ns = _after(tally, int(tally.batch_end_ns[n_dropped - 1]) if n_dropped else 0)
    end_ns = max(tally.until_ns, kept[-1].end_ns if kept else 1)
    window = Window(start_ns, end_ns, np.empty(0, np.int64), is_settled and bool(kept))
    steady = (tally.batch_end_ns > start_ns) & (tally.batch_n == tally.batch_n.max(initial=0))
    stability = _stability(requests, tally)
    n, n_writes = sum(segment.n for segment in kept), sum(int(segment.counts[Op.WRITE].sum()) for segment in kept)
    written_per_s = sum(s.n_bytes for s in kept) * n_writes / max(n, 1) / window.seconds
    drifting = drifts_of(run.levels, written_per_s / 1e9, tally.until_ns)
    stability, window = with_drifts(stability, window, drifting, requests)
    is_stable = stability is None or stability.is_stable

    bits = tally.precision_bits
    responses = Responses.of_all(kept, bits)
    observed = responses.latency(confidence, mean_interval(means[steady], confidence=confidence))
    reads, writes = (Responses.of_op(kept, bits, op).latency(confidence) for op in (Op.READ, Op.WRITE))
    has_streams = bool(kept and kept[0].streams)
    per_stream = {
        rule.name: Responses.of_stream(kept, bits, i).latency(confidence) if has_streams else observed
        for i, rule in enumerate(requests.streams)
    }
    n = sum(segment.n for segment in kept)
    shown = observed if is_stable else Latency.unknown(n)
    parts = [sum(s.parts_ns[i] for s in kept) / max(n, 1) if is_stable else math.nan for i in range(len(PARTS))]
    per_disk = disk_use(run)
    burst, sustained, full_s = _before_and_after_full(tally, run)
    is_converged = is_stable and window.is_settled and is_narrow(shown, precision, percentile)
    return Result(
        engine=run.engine,
        wall_s=run.wall_s,
        n_requests=tally.n_done,
        n_measured=n,
        is_stable=is_stable,
        is_settled=window.is_settled,
        is_converged=is_converged,
        precision=precision,
        percentile=percentile,
        confidence=confidence,
        latency=shown,
        reads=reads if is_stable else Latency.unknown(reads.n),
        writes=writes if is_stable else Latency.unknown(writes.n),
        observed=observed,
        per_stream=per_stream if is_stable else {k: Latency.unknown(v.n) for k, v in per_stream.items()},
        iops=_throughput(tally, start_ns, n, window, confidence),
        iops_by_stream={name: each.n / window.seconds for name, each in per_stream.items()},
        offered_per_s=math.nan if stability is None else stability.offered_per_s,
        bytes_per_s=sum(s.n_bytes for s in kept) / window.seconds,
        breakdown_ns=dict(zip(PARTS, parts, strict=True)),
        longest_wait_ns=max((s.longest_queue_ns for s in kept), default=0),
        mean_in_system=tally.response_ns / max(run.end_ns, 1),
        burst_iops=burst,
        sustained_iops=sustained,
        cache_full_s=full_s,
        hit_ratio=sum(s.n_hits for s in kept) / max(n, 1),
        utilization_ratio=float(np.mean([use.utilization_ratio for use in per_disk])) if per_disk else 0.0,
        per_disk=per_disk,
        back_end_per_host=int(run.devices.n_reads.sum() + run.devices.n_writes.sum()) / tally.n_done,
        messages=messages_of(stability, window, shown.mean, shown, is_converged, precision, percentile, drifting),
        window=window,
        requests=requests,
        run=run,
        histogram=responses.histogram(),
    )


def _after(tally: Tally, start_ns: int) -> tuple[list[Segment], int]:
    """Segments that lie wholly after `start_ns`, and where the first of them begins; all where there is none."""
    segments = list(tally.segments)
    begins = [0, *(segment.end_ns for segment in segments[:-1])]
    first = next((i for i, begin in enumerate(begins) if begin >= start_ns), 0)
    return segments[first:], begins[first] if segments else 0


def _throughput(tally: Tally, start_ns: int, n: int, window: Window, confidence: float) -> Interval:
    """Completions per second by batch means over the samples' distances."""
    step = tally.sample_step_ns
    first, last = -(-start_ns // step), window.end_ns // step
    counts = np.concatenate([[0], tally.done])[max(first, 0) : last + 1]
    slots = mean_interval(np.diff(counts) * (1e9 / step), confidence=confidence)
    return slots.about(n / window.seconds)


def _stability(requests: Requests, tally: Tally) -> Stability | None:
    if all(rule.n_clients for rule in requests.streams):
        return None
    n_samples = max(tally.until_ns // tally.sample_step_ns, 0)
    times = np.arange(1, n_samples + 1, dtype=np.float64) * tally.sample_step_ns
    n_samples = min(n_samples, len(tally.came_open)) // 4 * 4
    if tally.n_came_open < 2 or n_samples < 8:
        return Stability(True, 0.0, 0.0)
    return judge_counts(times[:n_samples], tally.came_open[:n_samples], tally.left_open[:n_samples], tally.n_came_open)


def _before_and_after_full(tally: Tally, run: Run) -> tuple[float, float, float]:
    """Rates before and after a write-back cache was full, and when that was, in s; to the samples' distance."""
    full_ns = run.cache_full_ns
    if full_ns is None or not 0 < full_ns < run.end_ns or not len(tally.done):
        return math.nan, math.nan, math.nan
    times = np.arange(len(tally.done) + 1) * tally.sample_step_ns
    n_burst = float(np.interp(full_ns, times, np.concatenate([[0], tally.done])))
    sustained = (tally.n_done - n_burst) / ((run.end_ns - full_ns) / 1e9)
    return n_burst / (full_ns / 1e9), sustained, full_ns / 1e9
