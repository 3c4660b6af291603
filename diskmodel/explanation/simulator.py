"""Simulating measured loads: the array as it is described, with draws of what is not known, and with causes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from diskmodel.array import Array
from diskmodel.engine import DRAWS, Account, CostSeen, DrawnRuns, Trials, check_rare, current, on_account
from diskmodel.errors import InputError
from diskmodel.explanation.causes.cause import Cause, Change, Law
from diskmodel.explanation.likelihood import covariance_of, covariance_undrawn
from diskmodel.explanation.measured import SHAPE, Figure, Measured, like_figures, measured_array
from diskmodel.explanation.model_errors import (
    PROGRAM_NS,
    dof_of,
    elsewhere,
    model_variance,
    noise_variance,
    sharing_variance,
    two_kinds_variance,
    uncut,
)
from diskmodel.loading import dataclass
from diskmodel.result import RUN, Interval, estimates_by_operation
from diskmodel.uncertainty import AnyWorkload, half_width_factor, origin_of, student
from diskmodel.workload import Workload

Made = TypeVar("Made")
Floats = NDArray[np.float64]

#: Requests of a simulated run. Half makes p99 noisier by 1.4; of double, a hundred runs take too long to wait for.
REQUESTS = 3_000
#: Computing time of a run at most, seconds, by counts, which are five times too many for writes of flash: an
#: explanation makes some hundred. At a third, those end in their buffers (60,000/s for 31,000 of four SATA drives), and
#: draws that are nearly overloaded are too short to show it; at double, runs of large requests take a minute.
_RUN_S = 0.3
#: The same of a run that has to be long, as its first requests are all answered by a cache: those take less than
#: the counts say, and of a tenth nothing but hits would be left.
_LONG_RUN_S = 2.0
#: How many times as long as the run without a cause one with it may take: it has as many requests, or what differs
#: between both would be their lengths. At half, runs beside a rebuild are cut short; at double, one of them takes as
#: long as all others.
_LONGER = 4.0
#: How many times as long as that its run and its start may take together: a run takes a part of what is left, as that
#: without a cause does, which draws follow. At half, it is shorter than that one; at double, a start takes longer.
_WITH_START = float(DRAWS)
#: Computing time of a run without a cause, seconds, from which its load is long: others are simulated before it, and
#: it sees only the causes that these leave. At half, nearly all are; at double, an explanation takes a minute.
LONG_S = 0.06
#: Part of what is left that what is not known of a load may take: without time for causes nothing is explained.
_OF_DRAWS = 0.5
#: Misses of each client in a run with a cache: at half, the time before all wait is a fifth of it. And the most
#: requests then, nearly all of which are hits.
_ROUNDS, _MOST_REQUESTS = 8, 200_000
#: Fewest degrees of freedom of what is not known: below them a spread has hardly any meaning. And the most that matter.
_DOF = (3.0, 30.0)
#: Least standard deviation, as a logarithm, of a load of which hardly anything is unknown.
_LEAST_WIDTH = 0.02
#: Standard deviation, as a logarithm, of the ratio of two runs of one load, of another day or another specimen of the
#: same make: of eight equal disks of 15,000 rpm, random reads differ by 1.8 % and buffered writes by 7 % (H. Kiehl,
#: LKML, 2005-08-29). At half, every second day raises an alarm; at double, losses of a third pass.
_AGAIN = {"iops": 0.06, "mean": 0.06, "p50": 0.08, "p95": 0.12, "p99": 0.2}
#: How much more than the description a sound run is trusted, as a factor of variances, and draws of what it leaves.
_TRUSTED, _DRAWN = 4.0, 48
#: Standard deviation, as a logarithm, of the requests in flight of a closed load, the product of its rate and its mean:
#: the ends of a run, beside what a program spends between two requests. At half, the ends of short runs are taken for a
#: cause; at double, one client of eight that is missing is not seen.
_IN_FLIGHT = 0.05
#: Least part of the model's own error of a shape that a cause leaves: no limit is exactly its law, and lets some
#: requests pass before others. At none, limits are named before links and queues that fit as well.
_LEFT = 0.5
#: By how much, as a logarithm, a rate has to exceed what links carry: what drives state of their links is rounded.
BEYOND = 0.05
#: What two measured loads of one array share of their unknown errors; the rest differs from load to load. Of published
#: drives, errors at two depths correlate by 0.5 to 0.9. The same of the shapes of distributions: a firmware that lets
#: single requests wait for longer than others does so under each load. At half, what all loads of an array do alike
#: counts as evidence once for each; at one, no shape says anything against another.
_SHARED = 0.7
#: Confidence of the intervals by which sources of a width are compared; their shares hardly depend on it.
_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Simulated:
    """A run with a cause.

    Attributes
    ----------
    before : dict of str to float
        Its figures, as they are without the law of the cause.
    figures : dict of str to float
        With it.
    law : callable or None
    others : tuple of Simulated
        The same at other angles between the spindles, where clients in order are in another state at some of them.
    """

    before: dict[str, float]
    figures: dict[str, float]
    law: Law | None
    others: tuple[Simulated, ...] = ()


@dataclass(frozen=True)
class Expected:
    """The runs of a load without a cause.

    Attributes
    ----------
    figures : dict of str to float
    truths : DrawnRuns or None
    n_requests : int
        Of each run.
    cost_s : float
        Computing time of one, by counts.
    cost : CostSeen or None
        What a request was seen to cost; None of a trace.
    others : list of dicts of str to float
        The figures at other angles between the spindles, where these matter.
    """

    figures: dict[str, float]
    truths: DrawnRuns | None
    n_requests: int
    cost_s: float
    cost: CostSeen | None
    others: list[dict[str, float]]


class Simulator:
    """All measured loads on one array.

    Attributes
    ----------
    measured : tuple of Measured
    array : Array
    figures : tuple of Figure
        What is compared, in the order of all vectors.
    ties : mapping of int to int
        Places of means in closed loads of one direction, and of the rates that decide them.
    target : float64, shape (n_figures,)
        Logarithms of what was measured.
    reference : float64, shape (n_figures,)
        Of what the array is described to do.
    offset : float64, shape (n_figures,)
        Mean over the draws of what is not known, less the reference.
    shared : float64, shape (n_figures, n_figures)
        Covariance of what is not known.
    own, noise : float64, shape (n_figures,)
        Variance of each figure's own errors, of the model and of the measurement; and that of the measurement alone.
    dof : float
        Degrees of freedom of what is not known, of all figures together.
    dofs : float64, shape (n_loads,)
        Of the figures of each load.
    alike : float64, shape (n_figures, n_figures)
        Covariance of these errors beside the variances: those of all shapes are in part one.
    again : float64, shape (n_figures,)
        Variance of the difference to a sound run of the same load, if there were one.
    is_calibrated : bool
        Whether there is one of some load: what is not known is then what it left open.
    refused : dict of str to str
        Causes that were refused by the description of an array, and why: a defect of theirs.
    ceiling : float64, shape (n_figures,)
        Logarithms of the highest rates that all links of the drives together carry; infinite for all other figures.
    """

    #: Runs by array and load, where many measurements of the same ones are explained; None: nothing is kept.
    memory: ClassVar[dict[Any, Any] | None] = None

    def __init__(self, array: Array, measured: Sequence[Measured], seed: int = 0, n_draws: int = DRAWS) -> None:
        self.measured, self.array, self._seed = tuple(measured), array, seed
        self.arrays = tuple(measured_array(array, one).behind_host(one.workload) for one in measured)
        self.expected: list[Expected] = []
        for own, one in zip(self.arrays, measured, strict=True):
            self.expected.append(self._expected(own, one, n_draws))
            # the same drives for the loads that follow: where there is no time for more, fewer
            if (truths := self.expected[-1].truths) is not None:
                n_draws = min(n_draws, len(truths.figures))
        self.runs = [dict(one.figures) for one in self.expected]
        self.truths: tuple[DrawnRuns | None, ...] = tuple(one.truths for one in self.expected)
        self.figures = tuple(self._compared())
        self.target = np.array([figure.log(dict(self.measured[figure.load].figures)) for figure in self.figures])
        self.ties = self._ties()
        self.reference = self.vector(self.runs)
        self.ceiling = np.array([self._ceiling(figure) for figure in self.figures])
        self.refused: dict[str, str] = {}
        self._drawn: list[list[dict[str, float]]] = []
        self._scores: Floats = np.empty((0, 0))
        self.offset: Floats
        self.shared: Floats
        self._draw()
        model = np.array([self._model_variance(one) for one in self.figures])
        noise = np.array([noise_variance(one, self.measured[one.load], REQUESTS) for one in self.figures])
        self.alike = self._alike(model)
        model += np.array(
            [
                sharing_variance(self.arrays[one.load], measured[one.load].workload, one.part)
                + two_kinds_variance(self.runs[one.load], one.part, one.kind)
                for one in self.figures
            ]
        )
        self.own, self.noise = model + noise, noise
        self.again = noise * 2 + np.array([_AGAIN[one.kind] ** 2 for one in self.figures])
        self.is_calibrated = any(one.before is not None for one in measured)
        if self.is_calibrated:
            self._calibrate(model, noise)

    @property
    def likeliest(self) -> Floats:
        """Logarithms of what is likeliest: as described, or as the sound run of the same loads was."""
        return self.reference + self.offset if self.is_calibrated else self.reference

    def open_by(self, figure: Figure) -> tuple[str, float]:
        """Return the unknown that most of the width of a figure comes from, and its share of the squared width.

        "" and 0 where a sound run says what is expected, or nothing is unknown of the array.
        """
        truths = self.truths[figure.load]
        if self.is_calibrated or truths is None:
            return "", 0.0
        half = math.sqrt(self.own[self.figures.index(figure)]) * NormalDist().inv_cdf(0.5 + _CONFIDENCE / 2)
        own = Interval(1.0, math.exp(-half), math.exp(half))
        shares = truths.sources(own, figure.key, _CONFIDENCE)
        return max(((name, share) for name, share in shares.items() if name != RUN), key=lambda one: one[1])

    def _calibrate(self, model: Floats, noise: Floats) -> None:
        """Take what is not known from a sound run of the same loads, where there is one.

        What the array truly does is as far from its description as drives are from theirs; the sound run saw it, but
        for what differs from run to run, day to day and specimen to specimen. Loads without one learn from the others.
        """
        before = [one.before for one in self.measured]
        seen = np.array(
            [math.nan if (run := before[f.load]) is None else f.log(dict(run.figures)) for f in self.figures]
        )
        rows = np.flatnonzero(np.isfinite(seen))
        again = np.array([_AGAIN[one.kind] ** 2 / 2 for one in self.figures])
        center, prior = self.reference + self.offset, _TRUSTED * (self.shared + np.diag(model) + self.alike)
        noises = [noise_variance(one, run, REQUESTS) if (run := before[one.load]) else 0.0 for one in self.figures]
        observed = prior[np.ix_(rows, rows)] + np.diag((again + np.array(noises))[rows])
        gain = np.linalg.solve(observed, prior[rows]).T
        center = center + gain @ (seen - center)[rows]
        shared = prior - gain @ prior[rows]
        self.offset, self.shared = center - self.reference, (shared + shared.T) / 2
        self.own, self.alike = noise + again, np.zeros_like(self.alike)
        if all(run is not None for run in before):
            self.dof, self.dofs = _DOF[1], np.full(len(before), _DOF[1])
        drawn = np.random.default_rng(self._seed).multivariate_normal(center, self.shared, _DRAWN)
        self._scores = np.empty((_DRAWN, 0))
        self._drawn = [[like_figures(run, self.figures, at, row) for at, run in enumerate(self.runs)] for row in drawn]

    def _trials(self, change: Change, like: Expected | None = None) -> Trials:
        """Return runs of an array under a load; of a cause as long as those without it are."""
        # hours of a check would be simulated between two rare requests, which it hardly slows
        if isinstance(change.workload, Workload):
            check_rare(change.array, change.workload)
        n = requests_of(change.array, change.workload)
        longest_s = _RUN_S if n == REQUESTS else _LONG_RUN_S
        if like is not None and n == REQUESTS:
            n, longest_s = like.n_requests, max(_LONGER * like.cost_s, LONG_S)
        return Trials(
            change.array,
            change.workload,
            n,
            seed=self._seed,
            start="steady",
            estimate=estimates_by_operation,
            longest=n if n > REQUESTS else None,
            longest_s=longest_s,
            like=None if like is None else like.cost,
        )

    def _expected(self, array: Array, one: Measured, n_draws: int) -> Expected:
        """Return the figures of the array as it is described, and the truths about it."""

        def make() -> tuple[Expected, float]:
            before_s = current().spent_s
            trials = self._trials(Change(array, one.workload))
            # also where its start was kept from another question: that of a cause has to be found
            cost_s = max(current().spent_s - before_s, trials.each_s)
            truths = None if origin_of(array.drive) == "exact" else trials.truths(n_draws, part=_OF_DRAWS)
            others = trials.at_other_angles()
            found = Expected(trials.reference, truths, trials.n_requests, cost_s, trials.cost, others)
            return found, current().spent_s - before_s

        return self._remembered(Change(array, one.workload), n_draws, make)

    def _remembered(self, change: Change, what: int, make: Callable[[], tuple[Made, float]]) -> Made:
        """Return what was made before of the same array and load, where that is kept.

        `make` returns what is made, and what it took: that is entered again, or an answer would see more causes by how
        many others were asked for before.
        """
        if self.memory is None or not isinstance(change.workload, Workload):
            return make()[0]
        key = (change.array.model_dump_json(), change.workload.model_dump_json(), self._seed, what)
        if key in self.memory:
            current().enter(self.memory[key][1])
        else:
            self.memory[key] = make()
        found: Made = self.memory[key][0]
        return found

    def _compared(self) -> list[Figure]:
        found = []
        for at, one in enumerate(self.measured):
            keys = [Figure(at, "", "iops")] if "iops" in one.figures else []
            for part in one.parts:
                keys += [Figure(at, part, kind) for kind in ("mean", *SHAPE)]
            known = dict(one.figures)
            found += [key for key in keys if math.isfinite(key.log(known)) and math.isfinite(key.log(self.runs[at]))]
        return found

    def _ties(self) -> dict[int, int]:
        rates = {figure.load: at for at, figure in enumerate(self.figures) if figure.kind == "iops"}
        found = {}
        for at, figure in enumerate(self.figures):
            one = self.measured[figure.load]
            if figure.kind == "mean" and figure.load in rates and one.is_closed and len(one.parts) == 1:
                found[at] = rates[figure.load]
        return found

    def _ceiling(self, figure: Figure) -> float:
        """Return what no drive of this description exceeds, however fast it is: its link, where no cache is before it.

        A drive's own cache answers through the link, too.
        """
        array, one = self.arrays[figure.load], self.measured[figure.load]
        has_cache = array.controller.has_real_cache or array.controller.read_cache is not None or array.host.is_buffered
        if figure.kind != "iops" or has_cache or math.isinf(array.drive.link_bytes_per_s):
            return math.inf
        links = array.layout.disks * array.drive.link_bytes_per_s
        return math.log(links / one.workload.mean_size_bytes)

    @property
    def is_beyond_links(self) -> bool:
        """Whether more was measured than the links of all drives carry, so that something before them must answer."""
        return bool(np.any(self.target > self.ceiling + BEYOND))

    def _model_variance(self, figure: Figure) -> float:
        at = figure.load
        own = self.arrays[at], self.measured[at].workload, self.truths[at]
        return model_variance(*own, figure.part, figure.kind)

    def _alike(self, model: Floats) -> Floats:
        """Return the covariance of the errors of shapes: where p95 and p99 are above what is expected, p50 is below."""
        sides = np.array([{"p50": -1.0, "p95": 1.0, "p99": 1.0}.get(one.kind, 0.0) for one in self.figures])
        found = _SHARED * np.outer(sides * np.sqrt(model), sides * np.sqrt(model))
        np.fill_diagonal(found, 0.0)
        return found

    def scale(self, shared: Floats | None = None, error: Floats | float = 0.0, kept: Floats | None = None) -> Floats:
        """Return the covariance of measured figures: of what is not known, of own errors, and of those of a cause.

        `kept` is the part of the model's own errors that a cause leaves.

        An error of a rate is one of the mean that it decides. What both are together, the requests in flight, has
        hardly any, so that a program that has fewer than it was asked for is seen by that.
        """
        found = np.diag(self.own + error) + self.alike
        if kept is not None:
            found = np.diag(self.noise + kept**2 * (self.own - self.noise) + error) + self.alike * np.outer(kept, kept)
        for mean, rate in self.ties.items():
            between = math.log1p(PROGRAM_NS / self.measured[self.figures[mean].load].figures[self.figures[mean].key])
            found[mean, mean] = found[rate, rate] + _IN_FLIGHT**2 + between**2
            found[mean, rate] = found[rate, mean] = -found[rate, rate]
        return found + (self.shared if shared is None else shared)

    def vector(self, runs: Sequence[dict[str, float] | None]) -> Floats:
        """Return the logarithms of the compared figures of runs, one for each load; those of a missing run are nan."""
        return np.array([math.nan if (run := runs[f.load]) is None else f.log(run) for f in self.figures])

    def _draw(self) -> None:
        self.dofs = np.clip([_DOF[1] if one is None else dof_of(one) for one in self.truths], *_DOF)
        # where there was no time for all draws of a load, it has fewer
        n = min((len(one.figures) for one in self.truths if one is not None), default=0)
        ways = [self._ways(at) for at in range(len(self.measured))]
        self._drawn = [
            [
                _moved(self.runs[at] if one is None else dict(one.figures[k]), ways[at][k % len(ways[at])])
                for at, one in enumerate(self.truths)
            ]
            for k in range(n)
        ]
        self._scores = self._scores_of(n, ways)
        self.offset, self.shared = self._spread(self.reference, self._drawn)
        # of all figures together, each unknown counts by what it does to them
        widths = np.array([max(self._width(load), _LEAST_WIDTH) ** 2 for load in range(len(self.measured))])
        self.dof = float(widths.sum() / np.sum(widths / self.dofs))

    def _scores_of(self, n: int, ways: Sequence[Sequence[dict[str, float]]]) -> Floats:
        """Return what each draw is, of the loads' unknowns and of which way it goes: one column for each."""
        columns = [column[:n] for one in self.truths if one is not None for column in one.draws.scores.T]
        columns += [np.arange(n) % len(own) for own in ways if len(own) > 1]
        return np.unique(np.array(columns).reshape(len(columns), n), axis=0).T

    def _ways(self, at: int) -> list[dict[str, float]]:
        """Return factors of the figures of a load that are as likely as each other, beside what is drawn."""
        own, load, expected = self.arrays[at], self.measured[at].workload, self.expected[at]
        array, places = uncut(self.array, own, load), elsewhere(own, load)
        changes = [Change(own, one) for one in places] if array is None else [Change(array, load)]
        runs = [run.figures for change in changes if (run := self.simulate_measured(at, change)) is not None]
        known = [(key, value) for key, value in expected.figures.items() if value]
        ways = [{key: way[key] / value for key, value in known} for way in (*runs, *expected.others)]
        # a file is as likely the first one of a volume as any other
        return [part for way in ways for part in ({}, way)] if places and ways else [{}, *ways]

    def _width(self, load: int) -> float:
        """Return by how much what is not known moves rates and means of a load: a standard deviation of logarithms."""
        own = [at for at, one in enumerate(self.figures) if one.load == load and one.kind not in SHAPE]
        return math.sqrt(max((self.shared[at, at] for at in own), default=0.0))

    def spread(self, runs: Sequence[Simulated | None], figures: Floats) -> tuple[Floats, Floats]:
        """Return offset and covariance of what is not known, of runs with a cause; None: of an unchanged load.

        The drives differ from their description by as much as without the cause. What a law then does to that counts:
        behind a limit, nothing of it is left.
        """

        def drawn(load: int, truth: dict[str, float]) -> dict[str, float]:
            run = runs[load]
            if run is None:
                return truth
            ratios = {key: truth[key] / value for key, value in self.runs[load].items() if value and key in truth}
            moved = {key: value * ratios.get(key, 1.0) for key, value in run.before.items()}
            return moved if run.law is None else run.law(moved, self.measured[load])

        return self._spread(figures, [[drawn(at, dict(one)) for at, one in enumerate(own)] for own in self._drawn])

    def own_spread(self, changes: Sequence[Change | None], figures: Floats) -> tuple[Floats, Floats, Floats] | None:
        """Return offset, covariance and the part of the model's errors that are those of the array with a cause.

        A write that waits for the platter is known as reads are, however little is known of the buffer that took it
        without the cause; and the time of a flush is not known, which no write had before. None where there is no time.
        """
        n, truths = len(self._drawn), list[DrawnRuns | None]()
        for at, change in enumerate(changes):
            truths.append(None if change is None else self._truths_with(at, change))
            if change is not None and (truths[-1] is None or len(truths[-1].figures) < n):
                return None
        rows = [
            [
                one if change is None or truth is None else _after(change, dict(truth.figures[k]), self.measured[at])
                for at, (one, change, truth) in enumerate(zip(self._drawn[k], changes, truths, strict=True))
            ]
            for k in range(n)
        ]
        kept = np.ones(len(self.figures))
        for at, one in enumerate(self.figures):
            change, truth, error = changes[one.load], truths[one.load], self.own[at] - self.noise[at]
            if change is not None and error:
                own = model_variance(change.array, change.workload, truth, one.part, one.kind)
                own += sharing_variance(change.array, change.workload, one.part)
                kept[at] = math.sqrt(own / error)
        return *self._spread(figures, rows), kept

    def _truths_with(self, at: int, change: Change) -> DrawnRuns | None:
        """Return as many truths about a measured load with a change as there are of it without; None without time."""

        def make() -> tuple[DrawnRuns | None, float]:
            before_s = current().spent_s
            try:
                found = self._trials(change, self.expected[at]).truths(len(self._drawn))
            except InputError as error:
                self.refused["a run with causes"] = str(error)
                found = None
            return found, current().spent_s - before_s

        return self._remembered(change, -len(self._drawn), make) if self._drawn else None

    def kept(self, runs: Sequence[Simulated | None], *, is_in_turn: bool = False) -> Floats:
        """Return the part of the model's own error of each shape that a cause leaves, of its runs.

        Where it decides how long requests take, it is hardly seen how well the drive's own times are known: behind a
        limit all take equally long, whatever they took before. Of a law it is found by making single percentiles longer
        and shorter by that error; where requests go in turn through something before the drives (`is_in_turn`), it is
        the drives' part of the time.
        """
        found = np.ones(len(self.figures))
        for at, figure in enumerate(self.figures):
            run, error = runs[figure.load], math.sqrt(self.own[at] - self.noise[at])
            if run is None or figure.kind not in SHAPE or not error:
                continue
            if run.law is not None:
                found[at] = self._left_by(run, run.law, figure, error)
            elif is_in_turn:
                mean = f"{figure.part}.mean"
                found[at] = min(self.runs[figure.load][mean] / run.figures[mean], 1.0)
        return np.maximum(found, _LEFT)

    def _left_by(self, run: Simulated, law: Law, figure: Figure, error: float) -> float:
        """Return the part of an error of a figure that a law leaves."""
        longer, shorter = (run.before | {figure.key: run.before[figure.key] * math.exp(e)} for e in (error, -error))
        ends = [figure.log(law(one, self.measured[figure.load])) for one in (longer, shorter)]
        moved = max(abs(end - figure.log(run.figures)) for end in ends)
        return min(moved / error, 1.0) if math.isfinite(moved) else 1.0

    def _spread(self, figures: Floats, drawn: Sequence[Sequence[dict[str, float]]]) -> tuple[Floats, Floats]:
        """Return mean and covariance of what truths do to figures: each row has the figures of all loads of one."""
        n_figures, n = len(self.figures), len(drawn)
        is_exact = origin_of(self.array.drive) == "exact"
        kinds = ["" if is_exact or self.truths[one.load] is not None else one.kind for one in self.figures]
        if n < 2:
            return np.zeros(n_figures), covariance_undrawn(kinds)
        found = np.array([self.vector(truths) - figures for truths in drawn])
        # an overload has no latency; what no such drive can do is left out
        known = np.isfinite(found)
        means = np.where(known, found, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        found = np.where(known, found, means)
        # the draws end where the outermost of them is: the scale of Student's t that has their spread
        loads = np.array([figure.load for figure in self.figures])
        factors = np.array([half_width_factor(n, dof, 0.95) / student(1.959964, dof) for dof in self.dofs])[loads]
        covariance = covariance_of(found, self._scores) * np.outer(factors, factors)
        covariance = np.where(loads[:, None] == loads[None, :], covariance, _SHARED * covariance)
        return found.mean(axis=0), covariance + covariance_undrawn(kinds)

    def simulate(self, load: Measured, change: Change) -> Simulated | None:
        """Return the run of any load with a change; None where such an array cannot be."""
        return self._simulated(load, change, lambda: [self._trials(change).reference])

    def simulate_measured(self, at: int, change: Change) -> Simulated | None:
        """Return the run of a measured load with a change, as long as the one without it; None where it cannot be."""
        own, like = self.measured[at], self.expected[at]
        if self.is_free(at, change):
            return self._simulated(own, change, lambda: [like.figures])

        def make() -> tuple[list[dict[str, float]], float]:
            # what is left of the question's time must not make it shorter than what it is compared with, and it has
            # no more than several times what that took, with its start; other angles leave other causes their time
            account, asked = Account(_WITH_START * max(_LONGER * like.cost_s, LONG_S), 1), current()
            with on_account(account):
                trials = self._trials(change, like)
                spent_s, found = account.spent_s, [trials.reference, *trials.at_other_angles()]
            asked.enter(spent_s)
            return found, spent_s

        return self._simulated(own, change, lambda: self._remembered(change, 0, make))

    def is_free(self, at: int, change: Change) -> bool:
        """Whether a cause only has a law, and changes no run of a measured load."""
        return change.array == self.arrays[at] and change.workload == self.measured[at].workload

    def _simulated(self, load: Measured, change: Change, run: Callable[[], list[dict[str, float]]]) -> Simulated | None:
        """Return a run of its figures, and of those at other angles."""
        try:
            figures, *others = [dict(one) for one in run()]
        except InputError as error:
            self.refused["a run with causes"] = str(error)
            return None
        more = tuple(Simulated(one, _after(change, one, load), change.law) for one in others)
        return Simulated(figures, _after(change, figures, load), change.law, more)

    def changed(self, load: int, *causes: tuple[Cause, object]) -> Change | None:
        """Return a load with causes of a strength each; None where none of them changes anything."""
        return self.with_causes(Change(self.arrays[load], self.measured[load].workload), *causes)

    def with_causes(self, start: Change, *causes: tuple[Cause, object]) -> Change | None:
        """Return the same of any array and load: a cause that changes nothing of it is left out."""
        found, is_changed = start, False
        for cause, value in causes:
            try:
                further = found.then(cause.change(found.array, found.workload, value))
            except (InputError, ValueError) as error:
                self.refused[cause.name] = str(error)
                continue
            if further is not None:
                found, is_changed = further, True
        return found if is_changed else None


def _moved(figures: dict[str, float], factors: dict[str, float]) -> dict[str, float]:
    return {key: value * factors.get(key, 1.0) for key, value in figures.items()}


def _after(change: Change, figures: dict[str, float], load: Measured) -> dict[str, float]:
    return figures if change.law is None else change.law(figures, load)


def requests_of(array: Array, workload: AnyWorkload) -> int:
    """Return the requests of a run: with many outstanding and a cache before the disks, more than otherwise.

    Clients that ask again as soon as they are served all end up waiting for a miss. Before that, the run has only hits.
    """
    cache = array.controller.read_cache
    if cache is None or cache.hit_ratio is None or not isinstance(workload, Workload) or workload.is_open:
        return REQUESTS
    reads = float(np.mean([stream.read_ratio for stream in workload.streams]))
    misses = 1 - cache.hit_ratio * reads
    return int(np.clip(_ROUNDS * workload.queue_depth / max(misses, 1e-9), REQUESTS, _MOST_REQUESTS))
