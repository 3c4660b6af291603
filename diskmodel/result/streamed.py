"""The result of a run in flat memory: of histograms, sums and samples instead of completions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from diskmodel.records import PARTS, Int64, Op, Requests, Run
from diskmodel.result.batches import Interval, adjusted_ends, lag1_correlation, mean_interval
from diskmodel.result.devices import disk_use
from diskmodel.result.histogram import LatencyHistogram
from diskmodel.result.latency import Latency
from diskmodel.result.laws import check_devices
from diskmodel.result.quantiles import BATCH_COUNTS, FEWEST_BEYOND, LEVELS
from diskmodel.result.result import Result
from diskmodel.result.stability import Stability, judge_counts
from diskmodel.result.summary import check_options, is_narrow, messages_of
from diskmodel.result.warmup import warm_up
from diskmodel.result.window import Window


@dataclass(frozen=True)
class Segment:
    """Completions in a row, summed up.

    Attributes
    ----------
    n, n_hits, n_bytes : int
    end_ns : int
        Time of the last of them.
    longest_queue_ns, min_ns, max_ns : int
    parts_ns : sequence of int
        Sum of each of `records.PARTS`.
    response_ns, counts : pair
        Sum of responses and buckets of their histogram, of reads and of writes.
    streams : sequence of (sum of responses, buckets)
        Of each stream, where there are several.
    """

    n: int
    end_ns: int
    n_hits: int
    n_bytes: int
    longest_queue_ns: int
    min_ns: int
    max_ns: int
    parts_ns: Sequence[int]
    response_ns: Sequence[int]
    counts: Sequence[Int64]
    streams: Sequence[tuple[int, Int64]]


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
    is_stable = stability is None or stability.is_stable

    def latency(buckets: Callable[[Segment], Int64], sums: Callable[[Segment], int], interval: Interval) -> Latency:
        return _latency(kept, tally.precision_bits, buckets, sums, interval, confidence)

    def all_buckets(segment: Segment) -> Int64:
        return _added(segment.counts)

    observed = latency(all_buckets, lambda s: sum(s.response_ns), mean_interval(means[steady], confidence=confidence))
    by_op = [
        latency(lambda s, op=op: s.counts[op], lambda s, op=op: s.response_ns[op], _of_segments(kept, op, confidence))  # type: ignore[misc]
        for op in (Op.READ, Op.WRITE)
    ]
    per_stream = {
        rule.name: latency(
            lambda s, i=i: s.streams[i][1] if s.streams else all_buckets(s),  # type: ignore[misc]
            lambda s, i=i: s.streams[i][0] if s.streams else sum(s.response_ns),  # type: ignore[misc]
            _of_stream(kept, i, observed.mean, confidence),
        )
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
        reads=by_op[0] if is_stable else Latency.unknown(by_op[0].n),
        writes=by_op[1] if is_stable else Latency.unknown(by_op[1].n),
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
        messages=messages_of(stability, window, shown.mean, shown, is_converged, precision, percentile),
        window=window,
        requests=requests,
        run=run,
        histogram=_histogram(
            [all_buckets(s) for s in kept], kept, tally.precision_bits, sum(sum(s.response_ns) for s in kept)
        ),
    )


def _after(tally: Tally, start_ns: int) -> tuple[list[Segment], int]:
    """Segments that lie wholly after `start_ns`, and where the first of them begins; all where there is none."""
    segments = list(tally.segments)
    begins = [0, *(segment.end_ns for segment in segments[:-1])]
    first = next((i for i, begin in enumerate(begins) if begin >= start_ns), 0)
    return segments[first:], begins[first] if segments else 0


def _added(counts: Sequence[Int64]) -> Int64:
    longest = max((len(each) for each in counts), default=0)
    total: Int64 = np.zeros(longest, np.int64)
    for each in counts:
        total[: len(each)] += each
    return total


def _histogram(buckets: Sequence[Int64], segments: Sequence[Segment], bits: int, total_ns: int = 0) -> LatencyHistogram:
    histogram = LatencyHistogram(bits)
    histogram.total_ns = total_ns
    counts = _added(buckets)
    histogram.counts[: len(counts)] = counts
    histogram.n = int(counts.sum())
    used = np.flatnonzero(counts)
    if len(used):
        low, width = histogram.edges(used)
        histogram.min_ns = max(int(low[0]), min(segment.min_ns for segment in segments))
        histogram.max_ns = min(int(low[-1] + width[-1] - 1), max(segment.max_ns for segment in segments))
    return histogram


def _latency(
    segments: Sequence[Segment],
    bits: int,
    buckets: Callable[[Segment], Int64],
    sums: Callable[[Segment], int],
    interval: Interval,
    confidence: float,
) -> Latency:
    whole = _histogram([buckets(segment) for segment in segments], segments, bits)
    if whole.n == 0:
        return Latency.unknown(0)
    mean = sum(sums(segment) for segment in segments) / whole.n
    return Latency(
        n=whole.n,
        mean=interval.about(mean),
        quantiles_ns={name: whole.quantile_ns(level) for name, level in LEVELS.items()},
        ends_ns={
            name: _quantile_ends(segments, bits, buckets, whole, level, confidence) for name, level in LEVELS.items()
        },
        max_ns=float(whole.max_ns),
    )


def _quantile_ends(
    segments: Sequence[Segment],
    bits: int,
    buckets: Callable[[Segment], Int64],
    whole: LatencyHistogram,
    level: float,
    confidence: float,
) -> tuple[float, float]:
    """Sectioning as in `quantile_interval`, over groups of segments."""
    beyond = whole.n * min(level, 1 - level)
    n_groups = next((k for k in BATCH_COUNTS if beyond / k >= FEWEST_BEYOND and len(segments) >= k), 0)
    if n_groups == 0:
        return math.nan, math.nan
    size = len(segments) // n_groups
    first = len(segments) - size * n_groups
    groups = [segments[at : at + size] for at in range(first, len(segments), size)]
    each = np.array([_histogram([buckets(s) for s in group], group, bits).quantile_ns(level) for group in groups])
    if np.isnan(each).any():
        return math.nan, math.nan
    return adjusted_ends(whole.quantile_ns(level), each, lag1_correlation(each), confidence, least=0.0)


def _of_segments(segments: Sequence[Segment], op: Op, confidence: float) -> Interval:
    return _interval([(s.response_ns[op], int(s.counts[op].sum())) for s in segments], confidence)


def _of_stream(segments: Sequence[Segment], index: int, whole: Interval, confidence: float) -> Interval:
    if not segments or not segments[0].streams:
        return whole
    return _interval([(s.streams[index][0], int(s.streams[index][1].sum())) for s in segments], confidence)


def _interval(sums: Sequence[tuple[int, int]], confidence: float) -> Interval:
    """Interval of a mean from the sums and numbers of segments."""
    total = reduce(lambda a, b: (a[0] + b[0], a[1] + b[1]), sums, (0, 0))
    mean = total[0] / total[1] if total[1] else math.nan
    each = mean_interval([response / n for response, n in sums if n], confidence=confidence)
    return each.about(mean)


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
