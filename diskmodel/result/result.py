"""The answer of a simulation: estimates with intervals, and what stands behind them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from functools import cached_property, partial
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, ClassVar

from diskmodel.display import Displayable
from diskmodel.errors import DescriptionError, Fault
from diskmodel.frame import Tabular, needed
from diskmodel.loading import dataclass
from diskmodel.plain import Record
from diskmodel.records import Int64, Requests, Run
from diskmodel.result.burst import AbsorbedBurst
from diskmodel.result.commits import COMMITS
from diskmodel.result.devices import DiskUse, amplification
from diskmodel.result.figure import Figure, InMilliseconds
from diskmodel.result.iostat import iostat
from diskmodel.result.latency import Latency
from diskmodel.result.prediction import RUN, Prediction
from diskmodel.result.rebuild import RebuildRate
from diskmodel.result.statistics.batches import Interval
from diskmodel.result.statistics.histogram import LatencyHistogram
from diskmodel.result.statistics.window import Window
from diskmodel.units import in_digits

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing


#: What `Result.plot` calls.
_PLOT = "diskmodel.result.show.plot:plotted"
#: Units of the figures that are not latencies.
_OF_THE_WHOLE = {"iops": "IOPS", "utilization": ""}
#: Sources of an interval that has nothing but the noise of the run.
_ONLY_THE_RUN = {"sources": {RUN: 1.0}}


def subset_of_stream(name: str) -> str:
    """Return the name of a stream's requests among subsets."""
    return f"stream {name}"


@dataclass(frozen=True)
class Result(Tabular, Record, Displayable, InMilliseconds):
    """What a run of `n_requests` requests shows about an array under a workload.

    Attributes
    ----------
    engine, wall_s : str, float
        Which engine ran, and its real time in seconds.
    n_requests, n_measured : int
        Rows simulated, and those that completed in the measuring window; of all runs together.
    n_replications : int
        Independent runs that the figures come from. What describes a single run (`window`, `requests`, `run`,
        `per_disk`, bursts) is the first one's.
    is_stable : bool
        False: an overloaded open system. Then `latency`, `reads`, `writes`, `per_stream` and `breakdown_ns` are nan:
        such a system has no latency, only a backlog that grows. `observed` still reports what the run saw.
    is_stability_known : bool
        Whether the run was long enough to decide that.
    is_filling : bool
        Whether a write cache fills and only a longer run shows if it goes on to.
    is_settled : bool
        Whether the warm-up ended within the run.
    is_converged : bool
        Whether the requested intervals are as narrow as requested, in a settled and stable run.
    precision : float
        Requested relative half-width.
    percentile : str or None
        Percentile ("p99") whose interval was requested beside that of the mean.
    latency, reads, writes, observed : Latency
        Response times in the window: of all requests, by operation, and of all without regard to stability.
    commits : Latency
        Of the writes that a sync followed, flush included, and of records of a log: what a program waits for that must
        not lose them. Where nothing takes flushes, of each `sync_every`-th write.
    commits_per_s : float
        Their number in the window per second; nan without streams with a sync.
    per_stream : mapping of stream name to Latency
    run_iops : Interval
        Completions per second in the window, with the interval for the noise of the run.
    iops_by_stream : mapping of stream name to float
    offered_per_s : float
        Rate at which open streams came, over the last half of the run; nan without open streams.
    bytes_per_s : float
        Bytes of the completions in the window per second.
    breakdown_ns : mapping of part (`records.PARTS`) to float
        Mean time per request; adds up to the mean response.
    longest_wait_ns : int
        Longest time that one request of the window spent in queues.
    mean_in_system : float
        Mean number of outstanding requests over the whole run.
    burst : AbsorbedBurst or None
        What a burst of writes sees of a run that began in the stationary state; None where nothing absorbs it.
    rebuild : RebuildRate or None
        How fast a rebuild, a check or a resync went; None without any.
    burst_iops, sustained_iops : float
        Of a run that began empty: rates before and after the controller's write-back cache was full for the first time;
        nan where it never was.
    cache_full_s : float
        When that was; nan: never.
    hit_ratio : float
        Share of the window's requests that the controller's cache served.
    l2_hit_ratio : float
        Of the records of a pool that its ARC lacked, in the whole run, the share that its cache devices had; nan
        without any.
    utilization_ratio : float
        Mean over the disks; that of `utilization`.
    run_utilization : Interval
        The same with the interval for the noise of the run.
    own_devices : mapping of str to tuple of DiskUse
        Drives beside the disks: "log" (of a pool, or the journal of Linux md), "special", "cache".
    per_disk : tuple of DiskUse
    back_end_per_host : float
        Disk commands per host request over the whole run.
    messages : tuple of str
        Warnings for the reader; empty when all is well.
    histogram : LatencyHistogram or None
        Of the measured responses, where the run kept nothing else (`simulate(…, keep="histogram")`).
    later : Later or None
        Makes the prediction of this result; None where the noise of the run is all that was asked for.

    Notes
    -----
    The interval of a figure includes everything that is not known, wherever the figure is: `iops`, `p99`,
    `utilization`, `reads.p99`, `per_stream["log"].mean`. `run_interval`, of a result and of a latency, has the noise of
    the run alone, and so has everything whose name begins with `run_`.
    """

    rich_view: ClassVar[str] = "diskmodel.result.show.table:result_table"
    html_view: ClassVar[str] = "diskmodel.result.show.table:as_html"

    engine: str
    wall_s: float
    n_requests: int
    n_measured: int
    is_stable: bool
    is_settled: bool
    is_converged: bool
    precision: float
    percentile: str | None
    confidence: float
    latency: Latency
    reads: Latency
    writes: Latency
    commits: Latency
    commits_per_s: float
    observed: Latency
    per_stream: Mapping[str, Latency]
    run_iops: Interval
    iops_by_stream: Mapping[str, float]
    offered_per_s: float
    bytes_per_s: float
    breakdown_ns: Mapping[str, float]
    longest_wait_ns: int
    mean_in_system: float
    burst_iops: float
    sustained_iops: float
    cache_full_s: float
    hit_ratio: float
    utilization_ratio: float
    per_disk: tuple[DiskUse, ...]
    back_end_per_host: float
    messages: tuple[str, ...]
    window: Window = field(repr=False, compare=False)
    requests: Requests = field(repr=False, compare=False)
    run: Run = field(repr=False, compare=False)
    later: Later | None = field(default=None, repr=False, compare=False)
    burst: AbsorbedBurst | None = None
    rebuild: RebuildRate | None = None
    histogram: LatencyHistogram | None = field(default=None, repr=False, compare=False)
    is_stability_known: bool = True
    is_filling: bool = False
    run_utilization: Interval = field(default=Interval(math.nan, math.nan, math.nan), compare=False)
    n_replications: int = 1
    l2_hit_ratio: float = math.nan
    own_devices: Mapping[str, tuple[DiskUse, ...]] = field(default_factory=dict)

    def predicted_by(self, predictor: Callable[[Result], Prediction | None]) -> Result:
        """Return this result with figures whose intervals `predictor` finds when they are first looked at."""
        later = Later(self, predictor)

        def of(latency: Latency, subset: str = "") -> Latency:
            known = (partial(later.interval_of, subset), partial(later.middle_of, subset))
            return replace(latency, predicted=known) if self.is_stable else latency

        return replace(
            self,
            later=later,
            latency=of(self.latency),
            observed=of(self.observed),
            reads=of(self.reads, "reads"),
            writes=of(self.writes, "writes"),
            commits=of(self.commits, COMMITS),
            per_stream={name: of(latency, subset_of_stream(name)) for name, latency in self.per_stream.items()},
        )

    @property
    def prediction(self) -> Prediction | None:
        """Intervals that include everything that is not known; None where all is, or only the run was asked for.

        Simulates the array again with draws of what is not known, when it is first looked at.
        """
        return None if self.later is None else self.later.prediction

    @property
    def iops(self) -> Figure:
        """Completed requests per second, with an interval that includes everything that is not known."""
        return self.figure("iops")

    @property
    def utilization(self) -> Figure:
        """Mean utilization of the disks, with an interval that includes everything that is not known."""
        return self.figure("utilization")

    def figure(self, name: str) -> Figure:
        """Return a statistic with an interval that includes everything that is not known.

        Parameters
        ----------
        name : "iops" (IOPS), "utilization", "mean" or a percentile ("p99"; ms)

        Returns
        -------
        Figure
            nan where the array is overloaded, or too few requests were measured. The ends of its interval are found
            when they are first looked at: they take simulations with draws of what is not known (`prediction`).
        """
        if name not in _OF_THE_WHOLE:
            return self.latency.figure(name)
        own, unit = self.run_interval(name), _OF_THE_WHOLE[name]
        if self.later is None:
            return Figure.of(own, unit)
        return Figure.predicted(own, name, unit, 1.0, (self.interval_of, self.middle_of))

    row_name: ClassVar[str] = "requests"

    def table_rows(self) -> list[dict[str, Any]]:
        """Return latency by subset of the requests.

        Returns
        -------
        list of dict
            Of `to_frame` and of Arrow. Rows: "all", "reads", "writes", and "stream NAME" of each stream where there are
            several. Columns: n (requests measured), mean_ms, p50_ms, …, p999_ms, max_ms, and the ends of their 95 %
            intervals (p99_low_ms, p99_high_ms), which include everything that is not known; nan where unknown.
        """
        subsets = {"all": self.latency, "reads": self.reads, "writes": self.writes}
        if len(self.per_stream) > 1:
            subsets |= {f"stream {name}": latency for name, latency in self.per_stream.items()}
        return [{"requests": name, "n": one.n, **one.in_ms} for name, one in subsets.items()]

    def plot(self, axes: Axes | None = None) -> Drawing:
        """Draw the share of requests that are done within a time, and where the mean response went.

        Parameters
        ----------
        axes : matplotlib.axes.Axes, optional
            Draws the distribution alone, there.

        Returns
        -------
        matplotlib.figure.Figure
            What a notebook shows, and `savefig` writes.

        Raises
        ------
        MissingPackageError
            When matplotlib is not installed.
        DescriptionError
            When the run kept no completions (`keep="histogram"`).
        """
        figure: Drawing = needed("plot", "matplotlib", lambda: resolve_name(_PLOT))(self, axes)
        return figure

    def responses_ns(self) -> Int64:
        """Response times of the measured requests in order of completion; int64, ns. Of the first run.

        Raises
        ------
        DescriptionError
            When the run kept no completions, only `histogram`.
        """
        if self.histogram is not None:
            raise DescriptionError(Fault("keep", "histogram", "keeps no completions", "use histogram or keep all"))
        done, rows = self.run.completions, self.window.rows
        return done.done_ns[rows] - done.issue_ns[rows]

    def json_fields(self) -> Mapping[str, Any]:
        """Return the keys of `diskmodel simulate --json`.

        "interval" includes everything that is not known, and reports where its width comes from; "run_interval" is the
        noise of the run alone.
        """
        return {
            "engine": self.engine,
            "wall_s": self.wall_s,
            "requests": self.n_requests,
            "measured_requests": self.n_measured,
            "replications": self.n_replications,
            "warm_up_s": self.window.start_ns / 1e9,
            "simulated_s": self.run.end_ns / 1e9,
            "iops": self.run_iops.value,
            "offered_iops": self.offered_per_s,
            "bytes_per_s": self.bytes_per_s,
            "stable": self.is_stable if self.is_stability_known else None,
            "settled": self.is_settled,
            "converged": self.is_converged,
            "precision_ratio": self.precision,
            "latency_ms": self.latency,
            "interval": self._run_ends() | (self.prediction.to_dict() if self.prediction else _ONLY_THE_RUN),
            "run_interval": self._run_ends(),
            "utilization_ratio": self.utilization_ratio,
            "back_end_per_host": self.back_end_per_host,
            "write_amplification_ratio": self.write_amplification_ratio,
            "counted_per_io": self.counted_per_io,
            "breakdown_ms": {part: value / 1e6 for part, value in self.breakdown_ns.items()},
            "longest_wait_ms": self.longest_wait_ns / 1e6 if self.is_stable else None,
            "mean_in_system": self.mean_in_system if self.is_stable else None,
            "hit_ratio": self.hit_ratio,
            "l2_hit_ratio": self.l2_hit_ratio,
            "rebuild": self.rebuild,
            "burst": self.burst,
            "burst_iops": self.burst_iops,
            "sustained_iops": self.sustained_iops,
            "cache_full_s": self.cache_full_s,
            "reads": _in_parts(self.reads),
            "writes": _in_parts(self.writes),
            "commits_per_s": self.commits_per_s,
            "commit_latency_ms": None if math.isnan(self.commits_per_s) else self.commits,
            "per_stream": {
                name: _in_parts(latency) | {"iops": self.iops_by_stream[name]}
                for name, latency in self.per_stream.items()
            },
            "per_disk": self.per_disk,
            "own_devices": self.own_devices,
            "iostat": iostat(self.run),
            "messages": self.messages,
        }

    @property
    def write_amplification_ratio(self) -> float:
        """Units of flash that all drives programmed for each that was written to them (rule F22); nan without any."""
        return amplification(self.run)

    @property
    def counted_per_io(self) -> float:
        """Operations that each I/O of a volume with limits counted for (rule U1); nan of other drives."""
        devices = self.run.devices
        n_charged, n = int(devices.n_charged.sum()), int(devices.n_reads.sum() + devices.n_writes.sum())
        return n_charged / n if n_charged and n else math.nan

    def interval_of(self, statistic: str) -> Interval:
        """Return a statistic with everything that is not known in its interval.

        Parameters
        ----------
        statistic : "iops" (per second), "utilization", "mean" or a percentile ("p99"; ns)
        """
        return self.run_interval(statistic) if self.later is None else self.later.interval_of("", statistic)

    def middle_of(self, statistic: str, subset: str = "") -> Interval | None:
        """Return what a statistic lies between in eight of ten systems; None where nothing else is known than a run.

        Parameters
        ----------
        statistic : "iops" (per second), "utilization", "mean" or a percentile ("p99"; ns)
        subset : str
            Of the requests, by its name in `subsets`; "": all.
        """
        return None if self.later is None else self.later.middle_of(subset, statistic)

    def run_interval(self, statistic: str) -> Interval:
        """Return a statistic as `interval_of` does, with the interval for the noise of the run alone."""
        own = {"iops": self.run_iops, "utilization": self.run_utilization}
        return own[statistic] if statistic in own else self.latency.run_interval(statistic)

    @property
    def subsets(self) -> dict[str, Latency]:
        """Latency of some of the requests by name: "reads", "writes", "commits", and "stream NAME" of each stream.

        Those of which none was measured are left out.
        """
        found = {"reads": self.reads, "writes": self.writes, "commits": self.commits}
        found |= {subset_of_stream(name): latency for name, latency in self.per_stream.items()}
        return {name: latency for name, latency in found.items() if latency.n}

    def _run_ends(self) -> dict[str, Any]:
        """Return the ends of the intervals for the noise of the run alone."""
        return {
            "confidence": self.confidence,
            **self.latency.run_ends_ms,
            "iops_low": self.run_iops.low,
            "iops_high": self.run_iops.high,
            "utilization_low": self.run_utilization.low,
            "utilization_high": self.run_utilization.high,
        }

    def __repr__(self) -> str:
        if not self.is_stable:
            return f"<Result: overloaded, {self.n_requests:,} requests>"
        figures = [
            f"{in_digits(self.run_iops.value)} IOPS",
            f"mean {in_digits(self.mean)} ms",
            f"p99 {in_digits(self.p99)} ms",
        ]
        return f"<Result: {', '.join(figures)}, {self.n_requests:,} requests>"


def _in_parts(latency: Latency) -> dict[str, Any]:
    """Return a latency, its intervals with everything that is not known, and those of the run alone."""
    return {"n": latency.n, "latency_ms": latency, "interval": latency.ends_ms, "run_interval": latency.run_ends_ms}


@dataclass(frozen=True)
class Later:
    """The prediction of a result, made when it is first looked at.

    Attributes
    ----------
    result : Result
        With the intervals of its run alone.
    predictor : callable
        Makes the prediction; None where everything is known.
    """

    result: Result
    predictor: Callable[[Result], Prediction | None]

    @cached_property
    def prediction(self) -> Prediction | None:
        """The prediction."""
        return self.predictor(self.result)

    def interval_of(self, subset: str, statistic: str) -> Interval:
        """Return a statistic of all requests ("") or of a subset with everything that is not known in its interval."""
        result = self.result
        of = result.subsets.get(subset, Latency.unknown(0)) if subset else result.latency
        if self.prediction is None or not of.n:
            return of.run_interval(statistic) if subset else result.run_interval(statistic)
        if of.n == result.latency.n:
            return self.prediction.intervals[statistic]
        return self.prediction.subsets[subset][statistic]

    def middle_of(self, subset: str, statistic: str) -> Interval | None:
        """Return the middle of a statistic of all requests ("") or of a subset; None where all is known."""
        if self.prediction is None:
            return None
        of = self.result.subsets.get(subset) if subset else self.result.latency
        if of is None:
            return None
        if of.n == self.result.latency.n:
            return self.prediction.middles[statistic]
        return self.prediction.subset_middles[subset][statistic]
