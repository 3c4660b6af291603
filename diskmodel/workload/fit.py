"""A synthetic workload fitted to a trace, with a statement of what was lost."""

from __future__ import annotations

import math

import numpy as np

from diskmodel.errors import DescriptionError, Fault
from diskmodel.loading import dataclass
from diskmodel.records import Requests
from diskmodel.roots import find_root
from diskmodel.workload.addresses import Addresses, Sequential, Uniform, Zipf
from diskmodel.workload.arrivals import Arrival, Bursts, Poisson
from diskmodel.workload.description import Workload
from diskmodel.workload.features import GRANULE_BYTES, Features
from diskmodel.workload.stream import SECTOR_BYTES, SizeShare, Stream

#: Shortest trace that is fitted, requests. With half as many, the variation of the gaps is mostly noise.
_MIN_REQUESTS = 100
#: Sizes that are kept, the most frequent ones. Fewer lose sizes of mixed loads; more describe rare ones.
_N_SIZES = 12
#: Squared coefficient of variation of the gaps above which arrivals come in bursts; Poisson arrivals have 1. Closer to
#: 1, short Poisson traces become bursts; farther away, mild bursts are lost.
_BURSTY_ABOVE = 1.2
#: Share of requests that continue the one before, from which on a stream is sequential.
_SEQUENTIAL_ABOVE = 0.5
#: Largest exponent of the Zipf law. There nearly all requests already go to the first granule.
_STEEPEST = 5.0
#: A feature is reported as lost where trace and synthetic workload differ by this share of the larger, or, for
#: correlations, by this much. At half, the noise of short traces is reported; at double, visible losses are not.
_LOST_RATIO = 0.15
_LOST_CORRELATION = 0.1


@dataclass(frozen=True)
class FittedWorkload:
    """A synthetic workload beside the trace that it was fitted to.

    Attributes
    ----------
    workload : Workload
    trace, synthetic : Features
        Of the trace, and of as many requests drawn from the workload.
    lost : tuple of str
        What the workload does not reproduce, with both figures; empty when nothing was found missing.
    """

    workload: Workload
    trace: Features
    synthetic: Features
    lost: tuple[str, ...]


def fit_workload(requests: Requests, *, capacity_bytes: int | None = None, seed: int = 0) -> FittedWorkload:
    """Synthetic single-stream workload with the mix, sizes, rate, burstiness and sequentiality or locality of a trace.

    Parameters
    ----------
    requests : Requests
        At least 100 requests with absolute issue times, in order.
    capacity_bytes : int, optional
        Of the traced device; default: the end of the last request.
    seed : int
        Of the draw that the trace is compared with.

    Raises
    ------
    DescriptionError
        When there are fewer than 100 requests, or no time passes.

    Notes
    -----
    Gaps with a squared coefficient of variation above 1.2 become on-off bursts whose gaps have the trace's mean and
    variation exactly (the hyperexponential with balanced means as interrupted Poisson process). Where at least half
    of the requests continue the one before, addresses are sequential runs with the trace's mean length; otherwise Zipf
    over MiBs, with the exponent at which two requests meet in the same MiB as often as in the trace (an unbiased
    estimate, also for short traces). The twelve most frequent sizes are kept, rounded up to sectors.

    References
    ----------
    A. Kuczura, *The interrupted Poisson process as an overflow process*, BSTJ 52(3), 1973.
    """
    if len(requests) < _MIN_REQUESTS:
        rule = f"must be at least {_MIN_REQUESTS}"
        raise DescriptionError(Fault("requests", len(requests), rule, "give a longer trace"))
    if int(requests.when_ns[-1]) <= int(requests.when_ns[0]):
        raise DescriptionError(Fault("when_ns", None, "no time passes in the trace", "give absolute issue times"))
    trace = Features.of(requests)
    first = int(requests.offset.min()) // SECTOR_BYTES * SECTOR_BYTES
    end = int((requests.offset + requests.length).max())
    capacity = max(capacity_bytes or 0, -(-end // SECTOR_BYTES) * SECTOR_BYTES)
    sizes = _sizes(requests)
    largest = max(share.size_bytes for share in sizes)
    # the region of the trace, made long enough for the rounded sizes
    first = max(min(first, capacity - largest), 0)
    span = min(max(-(-(end - first) // SECTOR_BYTES) * SECTOR_BYTES, largest), capacity - first)
    stream = Stream(
        name="fitted",
        read_ratio=trace.read_ratio,
        sizes=sizes,
        alignment_bytes=_alignment(requests),
        addresses=_addresses(trace, span),
        span_bytes=span,
        offset_bytes=first,
        arrival=_arrival(trace),
    )
    workload = Workload(name="fitted", streams=(stream,))
    synthetic = Features.of(workload.requests(capacity_bytes=capacity, n=len(requests), seed=seed))
    return FittedWorkload(workload, trace, synthetic, lost_features(trace, synthetic))


def _sizes(requests: Requests) -> tuple[SizeShare, ...]:
    rounded = -(-requests.length // SECTOR_BYTES) * SECTOR_BYTES
    size, count = np.unique(rounded, return_counts=True)
    most = np.argsort(-count, kind="stable")[:_N_SIZES]
    return tuple(SizeShare(size_bytes=int(size[i]), weight=float(count[i])) for i in sorted(most))


def _alignment(requests: Requests) -> int:
    return 4096 if not (requests.offset % 4096).any() and not (requests.length % 4096).any() else SECTOR_BYTES


def _arrival(trace: Features) -> Arrival:
    variation = trace.gap_variation
    if variation <= _BURSTY_ABOVE:
        return Poisson(rate_per_s=trace.rate_per_s)
    share = (1 + math.sqrt((variation - 1) / (variation + 1))) / 2
    fast, slow = 2 * share * trace.rate_per_s, 2 * (1 - share) * trace.rate_per_s
    on_rate = share * fast + (1 - share) * slow
    off_ends = fast * slow / on_rate
    on_ends = fast + slow - on_rate - off_ends
    return Bursts(on_rate_per_s=on_rate, mean_on_ns=round(1e9 / on_ends), mean_off_ns=round(1e9 / off_ends))


def _addresses(trace: Features, span_bytes: int) -> Addresses:
    if trace.sequential_ratio >= _SEQUENTIAL_ABOVE:
        return Sequential(mean_run=1 / (1 - trace.sequential_ratio) if trace.sequential_ratio < 1 else None)
    n_granules = max(span_bytes // GRANULE_BYTES, 1)

    def excess(theta: float) -> float:
        return _repeats(n_granules, theta) - trace.repeat_ratio

    if n_granules < 2 or excess(0.0) >= 0:
        return Uniform()
    theta = _STEEPEST if excess(_STEEPEST) <= 0 else find_root(excess, 0.0, _STEEPEST, xtol=1e-4)
    return Zipf(theta=theta, granule_bytes=GRANULE_BYTES)


def _repeats(n: int, theta: float) -> float:
    """Probability that two draws from a Zipf law over `n` ranks are equal."""
    return _harmonic(n, 2 * theta) / _harmonic(n, theta) ** 2


def _harmonic(n: int, power: float) -> float:
    head = min(n, 4096)
    total = float((np.arange(1, head + 1, dtype=np.float64) ** -power).sum())
    low, high = head + 0.5, n + 0.5
    if n > head:
        total += (
            math.log(high / low) if abs(power - 1) < 1e-9 else (high ** (1 - power) - low ** (1 - power)) / (1 - power)
        )
    return total


def lost_features(trace: Features, synthetic: Features) -> tuple[str, ...]:
    """Return the features that differ visibly, with both figures."""
    lost = []
    for name in trace.names():
        was, now = getattr(trace, name), getattr(synthetic, name)
        if name.endswith("_correlation"):
            is_lost = abs(was - now) > _LOST_CORRELATION
        else:
            is_lost = abs(was - now) > _LOST_RATIO * max(abs(was), abs(now))
        if is_lost:
            figures = [f"{float(f'{value:.4g}'):,.10g}" for value in (was, now)]
            lost.append(f"{name.replace('_', ' ')}: {figures[0]} in the trace, {figures[1]} in the synthetic workload")
    return tuple(lost)
