"""Measured runs of a hard disk as conditions whose response distributions a simulated drive is to have.

The drive is given the very requests of a run, in their order and as many at a time; where its platter stood nobody
knows, so that each run is made from several angles. What the host took late is part of what was measured and no part of
the drive: simulated responses are made late as the host was.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from calibrate.arrays import Flags, Floats
from calibrate.closed_loop import closed_loop, scenario_of, start_angle
from calibrate.evidence.cells import Key
from calibrate.evidence.measurement import DURABLE_WRITE, READ, WRITE, Measurement, Run, Samples
from diskmodel.drive import Hdd
from diskmodel.engine.scenario import Scenario

#: Where distributions are compared; the outermost hundredths, where stalls of the host are, are left out.
RANKS = (np.arange(200)[2:-2] + 0.5) / 200
#: A condition is simulated with so many requests, from this many angles.
MAX_ROWS, N_ANGLES = 1500, 2
MIN_ROWS = 30
#: No simulated mean is nearer to a real drive's than this, however many requests were measured.
MODEL_ERROR = 0.01
#: A single run is cut here: what follows is set apart.
FITTED_SHARE = 0.7
#: Accesses one at a time are told apart by distance, so that the curve's form shows.
N_DISTANCES = 3
_EXPERIMENTS = ("cache_hit", "random_reads", "block_sizes", "write_settle")


@dataclass(frozen=True)
class Group:
    """Rows of a stretch that are compared with each other."""

    rows: Flags
    quantiles_ns: Floats
    mean_ns: float
    error_ns: float


@dataclass(frozen=True)
class Stretch:
    """Requests in order of issue, so many at a time, with groups of measured responses.

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
        """Response of each request (n,) by a drive whose platter starts at a part `angle` of a revolution."""
        period = int(scenario.revolution_ns.max())
        is_write = (self.samples.op != READ).astype(np.int64)
        done = closed_loop(
            scenario, self.samples.offset_bytes, self.samples.length_bytes, self.queue_depth,
            op=is_write, start_ns=round(angle * period),
        )  # fmt: skip
        return np.asarray(done.done_ns - done.issue_ns, np.float64)


@dataclass(frozen=True)
class Conditions:
    """Stretches of a measurement that a drive is compared with.

    Attributes
    ----------
    stretches : tuple of Stretch
    late_ns, hits_late_ns : (n,) float
        How late the host took completions, and those of cache hits, one as likely as the other; empty where that is not
        known.
    """

    stretches: tuple[Stretch, ...]
    late_ns: Floats
    hits_late_ns: Floats

    @property
    def has_writes(self) -> bool:
        """Whether durable writes are among them."""
        return any(bool((stretch.samples.op == DURABLE_WRITE).any()) for stretch in self.stretches)

    def groups(self) -> Iterator[Group]:
        """All groups, in the order of `means`."""
        for stretch in self.stretches:
            yield from stretch.groups

    def misfit(self, drive: Hdd) -> float:
        """Squared demerits in units of the standard errors of the means, summed over the groups."""
        return float(sum((off / group.error_ns) ** 2 for group, off, _ in self._compared(drive)))

    def distance(self, drive: Hdd) -> float:
        """Demerit over all groups as a share of the mean, each group weighed by how well its mean is known."""
        off = total = 0.0
        for group, demerit, _ in self._compared(drive):
            off += (demerit / group.error_ns) ** 2
            total += (group.mean_ns / group.error_ns) ** 2
        return float(np.sqrt(off / total)) if total else 0.0

    def means(self, drive: Hdd) -> Floats:
        """Simulated mean response of each group, ns, of the ranks that are compared."""
        return np.array([mean for _, _, mean in self._compared(drive)])

    def _compared(self, drive: Hdd) -> Iterator[tuple[Group, float, float]]:
        """Each group with its demerit and its simulated mean, ns."""
        usual, held = scenario_of(drive), scenario_of(_without_read_ahead(drive))
        for k, stretch in enumerate(self.stretches):
            scenario = held if stretch.what == "cache_hit" else usual
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
    measurement: Measurement, held: Sequence[Key], *, writes_back: bool, late_ns: Floats, hits_late_ns: Floats
) -> tuple[Conditions, Conditions]:
    """What is fitted, and what is set apart: of several runs of one kind the last, of a single one its end.

    Parameters
    ----------
    held : sequence of Key
        Kept back for the report: neither fitted nor set apart.
    writes_back : bool
        Whether the drive answers writes from its cache: then what a durable write costs is no matter of the profile.
    late_ns, hits_late_ns : (n,) float
        How late the host took completions, and those of cache hits.
    """
    fitted, apart = [], []
    for name in _EXPERIMENTS:
        experiment = measurement.experiment(name)
        kinds: dict[tuple[int, int], list[Run]] = {}
        for run in experiment.runs if experiment is not None else ():
            if len(run.samples) == 0 or (writes_back and (run.samples.op != READ).any()):
                continue
            length = int(run.samples.length_bytes[0])
            if name == "cache_hit" or Key("read", False, length, run.queue_depth) not in held:
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
    """The drive that holds what it has read, for blocks read again at once: how much is read ahead, and whether that
    pushes a block out, is often assumed, and re-reads that took their time are not among the hits."""
    if drive.cache is None:
        return drive
    return drive.model_copy(update={"cache": {**drive.cache.to_dict(), "read_ahead_bytes": 0}})


def _in_order(samples: Samples) -> Samples:
    order = np.argsort(samples.issue_ns, kind="stable")
    return Samples(
        samples.issue_ns[order], samples.latency_ns[order], samples.offset_bytes[order], samples.length_bytes[order],
        samples.op[order],
    )  # fmt: skip


def _stretch(what: str, samples: Samples, queue_depth: int) -> Stretch | None:
    samples = samples.rows(slice(0, MAX_ROWS))
    groups = [_group(rows, samples) for rows in _alike(what, samples, queue_depth)]
    chosen = tuple(group for group in groups if group is not None)
    return Stretch(what, samples, queue_depth, chosen) if chosen else None


def _alike(what: str, samples: Samples, queue_depth: int) -> Iterator[Flags]:
    """Rows of one kind: without the first ones, which find an empty queue and an unknown arm; reads apart from durable
    writes; one at a time by distance."""
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
    # requests that wait for each other are not so many observations: then halves differ by more than chance
    chosen = samples.latency_ns[rows]
    halves = [np.quantile(half, RANKS) for half in (chosen[: n // 2], chosen[n // 2 :])]
    scatter = float(np.sqrt(np.mean((halves[0] - halves[1]) ** 2))) / 2
    error = float(np.hypot(max(quantiles.std() / np.sqrt(n), scatter), MODEL_ERROR * mean))
    return Group(rows, quantiles, mean, error)
