"""The result of a run in flat memory: of histograms, sums and samples instead of completions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from diskmodel.records import PARTS, Int64, Op, Requests, Run
from diskmodel.result.build import Burst, Measured, Subset, Target, build_result
from diskmodel.result.latency import Latency
from diskmodel.result.laws import check_devices
from diskmodel.result.levels import chance_bytes, drifts_of
from diskmodel.result.result import Result
from diskmodel.result.segments import Responses, Segment
from diskmodel.result.statistics.batches import Interval, mean_interval
from diskmodel.result.statistics.stability import Stability, judge_counts
from diskmodel.result.statistics.warmup import warm_up
from diskmodel.result.statistics.window import Window, cycle_of, sees_too_few_cycles, whole_rounds


class Tally(NamedTuple):
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
    """Return the result of a run in flat memory.

    Notes
    -----
    As `summarize`, but percentiles come from a histogram (relative error at most 2^-(precision_bits + 1)). The warm-up
    is found in the means of some thousand parts of the run and dropped in whole segments, of which there are 40 to 80;
    intervals are computed from those parts.

    Raises
    ------
    DescriptionError, ConservationError
        As `summarize`.
    """
    target = Target(precision, percentile, confidence)
    target.check(tally.n_done)
    check_devices(run)
    means = tally.batch_response_ns / np.maximum(tally.batch_n, 1)
    n_dropped, is_settled = warm_up(means)
    kept, start_ns = _after(tally, int(tally.batch_end_ns[n_dropped - 1]) if n_dropped else 0)
    end_ns = max(tally.until_ns, kept[-1].end_ns if kept else 1)
    n_rounds = whole_rounds(tally.n_done, run.round_requests)
    is_settled = bool(kept) and (is_settled or bool(n_rounds)) and bool(n_rounds or not run.round_requests)
    cycle = cycle_of(requests, run.cleaning_requests)
    is_settled = is_settled and not sees_too_few_cycles(sum(segment.n for segment in kept), cycle)
    window = Window(start_ns, end_ns, np.empty(0, np.int64), is_settled, n_rounds)
    steady = (tally.batch_end_ns > start_ns) & (tally.batch_n == tally.batch_n.max(initial=0))

    bits = tally.precision_bits
    responses = Responses.of_all(kept, bits)
    observed = responses.latency(confidence, mean_interval(means[steady], confidence=confidence))

    def subset(chosen: Responses) -> Subset:
        return Subset(chosen.n, lambda: chosen.latency(confidence))

    n = sum(segment.n for segment in kept)
    n_writes = sum(int(segment.counts[Op.WRITE].sum()) for segment in kept)
    written_per_s = sum(segment.n_bytes for segment in kept) * n_writes / max(n, 1) / window.seconds
    mean_bytes = sum(segment.n_bytes for segment in kept) / max(n, 1)
    by_chance = chance_bytes(tally.n_done, n_writes * mean_bytes**2)
    ops_of_commits = _ops_of_commits(requests)
    whole = Subset(observed.n, lambda: observed)
    has_streams = bool(kept and kept[0].streams)
    return build_result(
        requests,
        run,
        n_requests=tally.n_done,
        response_ns=tally.response_ns,
        window=window,
        stability=_stability(requests, tally),
        measured=Measured(
            observed=observed,
            reads=subset(Responses.of_op(kept, bits, Op.READ)),
            writes=subset(Responses.of_op(kept, bits, Op.WRITE)),
            commits=_NO_COMMITS if not ops_of_commits else subset(Responses.of_ops(kept, bits, ops_of_commits)),
            streams={
                rule.name: subset(Responses.of_stream(kept, bits, i)) if has_streams else whole
                for i, rule in enumerate(requests.streams)
            },
            n_hits=sum(segment.n_hits for segment in kept),
            n_bytes=sum(segment.n_bytes for segment in kept),
            parts_ns=[sum(segment.parts_ns[i] for segment in kept) / max(n, 1) for i in range(len(PARTS))],
            longest_wait_ns=max((segment.longest_queue_ns for segment in kept), default=0),
            iops=_throughput(tally, start_ns, n, window, confidence),
        ),
        burst=_burst(tally, run),
        drifting=drifts_of(
            run.levels, written_per_s / 1e9, tally.until_ns, run.level_marks, run.overload_marks, by_chance
        ),
        target=target,
        histogram=responses.histogram(),
    )


#: Where some writes are commits and others are not, sums do not separate them.
_NO_COMMITS = Subset(0, lambda: Latency.unknown(0))


def _ops_of_commits(requests: Requests) -> tuple[Op, ...]:
    """Operations all of which are commits."""
    others = [rule for rule in requests.streams if not rule.is_of_flushes]
    flushes = (Op.FLUSH,) if len(others) < len(requests.streams) else ()
    if not any(rule.sync for rule in others):
        return flushes
    return (Op.WRITE, *flushes) if all(rule.sync and rule.sync_every == 1 for rule in others) else ()


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
        return Stability(True, 0.0, 0.0, is_known=False)
    return judge_counts(times[:n_samples], tally.came_open[:n_samples], tally.left_open[:n_samples], tally.n_came_open)


def _burst(tally: Tally, run: Run) -> Burst:
    """Return the rates before and after a write-back cache was full, as precisely as the samples allow."""
    if not len(tally.done):
        return Burst()
    times = np.arange(len(tally.done) + 1) * tally.sample_step_ns
    counts = np.concatenate([[0], tally.done])
    return Burst.of(run, tally.n_done, lambda full_ns: float(np.interp(full_ns, times, counts)))
