"""Seeks, overhead and the firmware's order of commands, fitted to random reads."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from calibrate.arrays import Floats
from calibrate.hdd.from_fio.conditions import Condition
from calibrate.hdd.from_fio.least_squares import least
from calibrate.hdd.from_fio.measured_array import MeasuredArray
from diskmodel.drive import DriveQueue, Hdd, SeekTimes
from diskmodel.errors import Fault, InputError

#: Spread of the logarithms among drives of a class: average and shortest seek, overhead, full stroke for its average.
SEEK_SPREAD, SHORTEST_SPREAD, OVERHEAD_SPREAD, STROKE_SPREAD = 0.25, 0.6, 1.0, 0.15
#: How the firmware of measured disks orders commands (docs/explanation/validation-firmware.md): margins of 0 to 2.5 ms,
#: age weights of 0.05 to 0.3, 1 to 3 commands planned ahead; centers, and spreads that make the ends usual.
MARGIN_MS, AGE_WEIGHT, PLANNED = 1.0, 0.1, 2
MARGIN_SPREAD_MS, AGE_SPREAD, PLANNED_SPREAD = 1.0, 1.5, 2.0
#: Largest deviation of the number of committed commands from the usual that counts. At 3 the prior outweighs evidence
#: of a few depths.
MAX_UNUSUAL = 2.0
#: More commands than a queue takes: they are served in the order of their arrival.
IN_ORDER = 64
#: Where the average lies between shortest and longest seek: a straight line has 1/3, a steep root 0.8.
PLACES = (0.36, 0.76)
#: Forms of the seek curve where the fit starts: that of the class, and a steeper one.
FORMS = (0.0, -0.3)
#: Bounds of the fit's coordinates: seeks and overhead within three to four spreads of their class.
LOW, HIGH = np.array([-0.8, -2.5, -2.5, -0.4, 0.0, -4.0]), np.array([0.8, 2.5, 2.5, 0.6, 6.0, 2.3])
#: Outstanding reads for each disk up to which disks hardly queue, so that responses are those of the mechanics.
ALONE_PER_DISK = 0.25
#: Margins in ns, age weights and committed commands that are tried before the best are refined.
MARGINS_NS, AGE_WEIGHTS, COMMITTED = (0, 1_000_000, 2_000_000), (0.05, 0.3), (*range(9), IN_ORDER)
#: Numbers of committed commands whose fits are refined. The grid's margins are too coarse to separate neighbors.
N_REFINED = 3
#: Requests of a simulation while they are refined. With a third, as in the grid, the scatter of p99 hides how margin
#: and age weight change it, and the search stays on the grid; double costs twice the time for little.
REFINED_REQUESTS = 12_000
#: Steps of the coordinates that change responses about alike: of a fit of seeks and overhead, and of all.
ALONE_SCALE, SCALE = np.full(4, 0.3), np.array([0.1, 0.3, 0.5, 0.1, 0.5, 0.5])


@dataclass(frozen=True)
class Ordered:
    """What was fitted to the reads.

    Attributes
    ----------
    drive : Hdd
    x, errors : (6,) float64
        Coordinates of `Mechanics`, and their standard errors.
    rivals : mapping
        Other numbers of committed commands that were refined → by how much they fit worse (chi-square).
    misfit : float
        Chi-square, deviations from the class of drives included.
    """

    drive: Hdd
    x: Floats
    errors: Floats
    rivals: Mapping[int, float]
    misfit: float


@dataclass
class Mechanics:
    """A drive with coordinates: logarithms of average seek, shortest seek, overhead and full stroke for the same
    average over those of `base`; then the margin in ms and the logarithm of the age weight over `AGE_WEIGHT`."""

    array: MeasuredArray
    base: Hdd
    reads: Sequence[Condition]
    seed: int

    #: Coordinates that are fitted together with the order of commands.
    free: ClassVar[slice] = slice(0, 6)

    @property
    def has_choice(self) -> bool:
        """Return whether some reads were so deep that a drive has a choice among them."""
        return bool(self._deep)

    @property
    def _deep(self) -> list[Condition]:
        """Return the reads among which a drive has a choice."""
        return [condition for condition in self.reads if condition.depth > 2]

    @property
    def times(self) -> tuple[float, float, float]:
        """Shortest, average and longest seek of the base, ns."""
        seek = self.base.seek
        if not isinstance(seek, SeekTimes):
            rule, fix = "has a seek curve or table, which these results cannot change", "start from a drive with times"
            raise InputError(Fault("drive", self.base.name, rule, fix))
        shortest, longest = seek.resolved()
        return float(shortest), float(seek.average_ns), float(longest)

    @property
    def usual(self) -> tuple[Floats, int]:
        """Coordinates of the class, and commands that its firmware plans ahead: those of the base where it has them."""
        queue = self.base.queue
        if queue.scheduler != "rpo":
            return np.array([0.0, 0.0, 0.0, 0.0, MARGIN_MS, 0.0]), PLANNED
        weight = float(np.log(max(queue.age_weight, 0.01) / AGE_WEIGHT))
        return np.array([0.0, 0.0, 0.0, 0.0, self._margin_ms(queue), weight]), queue.committed

    def _margin_ms(self, queue: DriveQueue) -> float:
        """Return the margin of the class: that of an average seek where it grows with the seek."""
        return (queue.miss_margin_ns + queue.miss_ratio * self.times[1]) / 1e6

    def drive(self, x: Floats, committed: int) -> Hdd:
        """Return the drive at `x` whose firmware plans so many commands ahead."""
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
        assert isinstance(self.base.seek, SeekTimes)
        seek["average_write_ns"] = round(average) + self.base.seek.write_excess_ns
        if self.base.seek.settle_ns is not None:
            share = self.base.seek.settle_ns / self.base.seek.average_ns
            seek["settle_ns"] = max(round(share * average), round(shortest))
        moved = {"seek": seek, "read_overhead_ns": overhead}
        if (
            self.has_choice
        ):  # otherwise nothing was measured of the order: it stays the base's, and assumed where that is
            moved["queue"] = self.queue(x, committed)
        return self.base.model_copy(update=moved)

    def queue(self, x: Floats, committed: int) -> dict[str, Any]:
        """Return the order of commands at `x`."""
        return {
            "depth": self.base.queue.depth,
            "scheduler": "rpo",
            "miss_margin_ns": round(max(float(x[4]), 0.0) * 1e6),
            "age_weight": min(AGE_WEIGHT * float(np.exp(x[5])), 1.0),
            "committed": committed,
        }

    def residuals(self, x: Floats, committed: int, conditions: Sequence[Condition]) -> Floats:
        """Return deviations in standard errors: those of the conditions, then those from the class of drives."""
        drive = self.drive(x, committed)
        parts = [(self.array.predict(drive, c, self.seed).values - c.targets) / c.errors for c in conditions]
        spreads = (SEEK_SPREAD, SHORTEST_SPREAD, OVERHEAD_SPREAD, STROKE_SPREAD, MARGIN_SPREAD_MS, AGE_SPREAD)
        usual, planned = self.usual
        unusual = min(abs(committed - planned) / PLANNED_SPREAD, MAX_UNUSUAL)
        if committed == IN_ORDER:
            unusual = 0.0  # no margin and no age weight: two parameters fewer are worth as much (Akaike)
        return np.concatenate([*parts, (x - usual) / spreads, [unusual]])

    def without_order(self) -> tuple[Floats, float]:
        """Fit seeks and overhead to the reads that hardly queue; return coordinates and misfit."""
        alone = [c for c in self.reads if c.depth <= max(1, ALONE_PER_DISK * self.array.n_disks)]
        usual, planned = self.usual

        def of(x: Floats) -> Floats:
            return self.residuals(np.array([*x, *usual[4:]]), planned, alone)

        starts = (np.array([0.0, 0.0, 0.0, form]) for form in FORMS)
        fits = (least(of, start, ALONE_SCALE, (LOW[:4], HIGH[:4])) for start in starts)
        found = min(fits, key=lambda fit: fit.misfit)
        return np.array([*found.x, *usual[4:]]), found.misfit

    def with_order(self, x: Floats) -> Ordered:
        """Fit how the firmware orders commands; seeks and overhead move with it."""
        starts = self._order_starts(x) if self.has_choice else {self.usual[1]: np.clip(x, LOW, HIGH)}
        fits = {committed: self._refined(start, committed) for committed, start in starts.items()}
        ranked = sorted(fits, key=lambda committed: fits[committed].misfit)
        best = fits[ranked[0]]
        return replace(best, rivals={n: fits[n].misfit - best.misfit for n in ranked[1:]})

    def again(self, found: Ordered) -> Ordered:
        """Fit once more from what was found, with as many commands planned ahead: after reads were added."""
        return replace(self._refined(found.x, found.drive.queue.committed), rivals=found.rivals)

    def _refined(self, start: Floats, committed: int) -> Ordered:
        """Return the least squares from a start, with long runs."""
        finer = replace(self, array=replace(self.array, n_requests=REFINED_REQUESTS))
        free = self.free

        def at(moved: Floats) -> Floats:
            x = start.copy()
            x[free] = moved
            return x

        def of(moved: Floats) -> Floats:
            return finer.residuals(at(moved), committed, self.reads)

        found = least(of, start[free], SCALE[free], (LOW[free], HIGH[free]))
        errors = np.zeros(len(start))
        errors[free] = found.errors
        return Ordered(self.drive(at(found.x), committed), at(found.x), errors, {}, found.misfit)

    def _order_starts(self, x: Floats) -> dict[int, Floats]:
        """Return where to refine: the best of the grid for each of the likeliest numbers of committed commands."""
        best: dict[int, tuple[float, Floats]] = {}
        for margin_ns, weight, committed in itertools.product(MARGINS_NS, AGE_WEIGHTS, COMMITTED):
            at = np.clip(np.array([*x[:4], max(margin_ns / 1e6, 0.1), np.log(weight / AGE_WEIGHT)]), LOW, HIGH)
            misfit = float(np.sum(self.residuals(at, committed, self._deep) ** 2))
            if committed not in best or misfit < best[committed][0]:
                best[committed] = misfit, at
        likeliest = sorted(best, key=lambda committed: best[committed][0])[:N_REFINED]
        return {committed: best[committed][1] for committed in likeliest}
