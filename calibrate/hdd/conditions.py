"""Measured runs of a hard disk as conditions whose response distributions a simulated drive should match.

The drive gets the very requests of a run, in their order and with as many outstanding. Where its platter stood is
unknown, so each run is simulated from several angles. The delay of completions by the host is part of the measurement
but not of the drive: simulated responses are delayed as the host delayed them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from calibrate.arrays import Flags, Floats
from calibrate.closed_loop import closed_loop, scenario_of, start_angle
from calibrate.evidence import DURABLE_WRITE, READ, WRITE, Key, Measurement, Run, Samples
from diskmodel.drive import Hdd
from diskmodel.engine import Scenario

#: Ranks at which distributions are compared; the outermost hundredths, where stalls of the host are, are left out.
RANKS = (np.arange(200)[2:-2] + 0.5) / 200
#: Requests of a condition that are simulated, and angles of the platter. Half makes the simulated means noisier by a
#: factor of 1.4; double takes twice the time.
MAX_ROWS, N_ANGLES = 1500, 2
#: Requests that a group needs: with fewer its quantiles are noise.
MIN_ROWS = 30
#: Smallest relative error of a mean: no simulation is nearer to a real drive, however many requests were measured. At
#: half, conditions with many requests decide alone; at double, all conditions count alike.
MODEL_ERROR = 0.01
#: Share of a single run that is fitted; what follows is held out.
FITTED_SHARE = 0.7
#: Classes of distance for accesses one at a time, so that the form of the seek curve counts.
N_DISTANCES = 3
_EXPERIMENTS = ("cache_hit", "random_reads", "block_sizes", "write_settle")


@dataclass(frozen=True)
class Group:
    """Rows of a stretch whose distribution is compared."""

    rows: Flags
    quantiles_ns: Floats
    mean_ns: float
    error_ns: float


@dataclass(frozen=True)
class Stretch:
    """Requests in order of issue, `queue_depth` at a time, with groups of measured responses.

    Attributes
    ----------
    what : str
        Name of the experiment.
    samples : Samples
        In order of issue.
    queue_depth : int
    groups : tuple of Group
    """

    what: str
    samples: Samples
    queue_depth: int
    groups: tuple[Group, ...]

    def responses_ns(self, scenario: Scenario, angle: float = 0.0) -> Floats:
        """Return the response of each request (n,) by a drive whose platter starts at `angle`, in turns."""
        period = int(scenario.revolution_ns.max())
        is_write = (self.samples.op != READ).astype(np.int64)
        done = closed_loop(
            scenario,
            self.samples.offset_bytes,
            self.samples.length_bytes,
            self.queue_depth,
            op=is_write,
            start_ns=round(angle * period),
        )
        return np.asarray(done.done_ns - done.issue_ns, np.float64)


@dataclass(frozen=True)
class Conditions:
    """Stretches of a measurement that a drive is compared with.

    Attributes
    ----------
    stretches : tuple of Stretch
    late_ns, hits_late_ns : (n,) float
        Equally likely delays of completions by the host, and of cache hits; empty where unknown.
    """

    stretches: tuple[Stretch, ...]
    late_ns: Floats
    hits_late_ns: Floats

    @property
    def has_writes(self) -> bool:
        """Return whether durable writes are among them."""
        return any(bool((stretch.samples.op == DURABLE_WRITE).any()) for stretch in self.stretches)

    def groups(self) -> Iterator[Group]:
        """Yield all groups, in the order of `means`."""
        for stretch in self.stretches:
            yield from stretch.groups

    def misfit(self, drive: Hdd) -> float:
        """Return the sum over groups of squared demerits in units of the standard errors of the means."""
        return float(sum((off / group.error_ns) ** 2 for group, off, _ in self._compared(drive)))

    def distance(self, drive: Hdd) -> float:
        """Return the demerit over all groups as a share of the mean, each group weighted by the precision of its
        mean."""
        off = total = 0.0
        for group, demerit, _ in self._compared(drive):
            off += (demerit / group.error_ns) ** 2
            total += (group.mean_ns / group.error_ns) ** 2
        return float(np.sqrt(off / total)) if total else 0.0

    def means(self, drive: Hdd) -> Floats:
        """Return the simulated mean response of each group over the compared ranks, ns."""
        return np.array([mean for _, _, mean in self._compared(drive)])

    def _compared(self, drive: Hdd) -> Iterator[tuple[Group, float, float]]:
        """Yield each group with its demerit and its simulated mean, ns."""
        usual, without_read_ahead = scenario_of(drive), scenario_of(_without_read_ahead(drive))
        for k, stretch in enumerate(self.stretches):
            scenario = without_read_ahead if stretch.what == "cache_hit" else usual
            angles = [start_angle(N_ANGLES * k + i) for i in range(N_ANGLES)]
            responses = np.stack([stretch.responses_ns(scenario, angle) for angle in angles])
            late_ns = self.hits_late_ns if stretch.what == "cache_hit" else self.late_ns
            if len(late_ns):
                responses += np.random.default_rng(k).choice(late_ns, responses.shape)
            for group in stretch.groups:
                quantiles = np.quantile(responses[:, group.rows], RANKS)
                off = float(np.sqrt(np.mean((quantiles - group.quantiles_ns) ** 2)))
                yield group, off, float(quantiles.mean())


def conditions_of(
    measurement: Measurement, reported: Sequence[Key], *, writes_back: bool, late_ns: Floats, hits_late_ns: Floats
) -> tuple[Conditions, Conditions]:
    """Return the conditions to fit and those to hold out: the last of several runs, or the end of a single one.

    Parameters
    ----------
    reported : sequence of Key
        Held out for the report: in neither of the results.
    writes_back : bool
        Whether the drive answers writes from its cache: then durable writes are left out.
    late_ns, hits_late_ns : (n,) float
        Delays of completions by the host, and of cache hits.
    """
    fitted, apart = [], []
    for name in _EXPERIMENTS:
        experiment = measurement.experiment(name)
        kinds: dict[tuple[int, int], list[Run]] = {}
        for run in experiment.runs if experiment is not None else ():
            if len(run.samples) == 0 or (writes_back and (run.samples.op != READ).any()):
                continue
            length = int(run.samples.length_bytes[0])
            if name == "cache_hit" or Key("read", False, length, run.queue_depth) not in reported:
                kinds.setdefault((length, run.queue_depth), []).append(run)
        for (_, depth), runs in sorted(kinds.items()):
            parts = [_in_order(run.samples) for run in runs]
            if len(parts) == 1:
                cut = round(FITTED_SHARE * len(parts[0]))
                parts = [parts[0].rows(slice(0, cut)), parts[0].rows(slice(cut, None))]
            found = [_stretch(name, part, depth) for part in parts]
            fitted += [stretch for stretch in found[:-1] if stretch is not None]
            apart += [stretch for stretch in found[-1:] if stretch is not None]
    return Conditions(tuple(fitted), late_ns, hits_late_ns), Conditions(tuple(apart), late_ns, hits_late_ns)


def _without_read_ahead(drive: Hdd) -> Hdd:
    """Return the drive without read-ahead, for blocks that are read again at once.

    The amount of read-ahead is often assumed, and it might evict the block; slow re-reads are not among the hits.
    """
    if drive.cache is None:
        return drive
    return drive.model_copy(update={"cache": {**drive.cache.to_dict(), "read_ahead_bytes": 0}})


def _in_order(samples: Samples) -> Samples:
    order = np.argsort(samples.issue_ns, kind="stable")
    return Samples(
        samples.issue_ns[order],
        samples.latency_ns[order],
        samples.offset_bytes[order],
        samples.length_bytes[order],
        samples.op[order],
    )


def _stretch(what: str, samples: Samples, queue_depth: int) -> Stretch | None:
    samples = samples.rows(slice(0, MAX_ROWS))
    groups = [_group(rows, samples) for rows in _alike(what, samples, queue_depth)]
    chosen = tuple(group for group in groups if group is not None)
    return Stretch(what, samples, queue_depth, chosen) if chosen else None


def _alike(what: str, samples: Samples, queue_depth: int) -> Iterator[Flags]:
    """Yield the rows of each kind: by operation and, one at a time, by distance.

    The first rows are left out: they meet an empty queue and an arm at an unknown place.
    """
    settled = np.arange(len(samples)) >= max(queue_depth, 1)
    away = np.abs(np.diff(samples.offset_bytes, prepend=samples.offset_bytes[:1]))
    for op in (READ, WRITE, DURABLE_WRITE):
        mine = settled & (samples.op == op)
        if queue_depth > 1 or what == "cache_hit" or mine.sum() < N_DISTANCES * MIN_ROWS:
            yield mine
            continue
        edges = np.quantile(away[mine], np.linspace(0.0, 1.0, N_DISTANCES + 1)[1:-1])
        place = np.searchsorted(edges, away)
        for k in range(N_DISTANCES):
            yield mine & (place == k)


def _group(rows: Flags, samples: Samples) -> Group | None:
    n = int(rows.sum())
    if n < MIN_ROWS:
        return None
    quantiles = np.quantile(samples.latency_ns[rows].astype(np.float64), RANKS)
    mean = float(quantiles.mean())
    # requests that wait for each other are not independent: then the halves differ by more than noise
    chosen = samples.latency_ns[rows]
    halves = [np.quantile(half, RANKS) for half in (chosen[: n // 2], chosen[n // 2 :])]
    scatter = float(np.sqrt(np.mean((halves[0] - halves[1]) ** 2))) / 2
    error = float(np.hypot(max(quantiles.std() / np.sqrt(n), scatter), MODEL_ERROR * mean))
    return Group(rows, quantiles, mean, error)
