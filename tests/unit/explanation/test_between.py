"""Strengths between those that are simulated, and what is not known of an array with a cause."""

import math
from itertools import pairwise

import numpy as np
import pytest

from diskmodel.array import Array
from diskmodel.explanation import singles
from diskmodel.explanation.causes import CAUSES
from diskmodel.explanation.causes.cause import Scale
from diskmodel.explanation.hypotheses import Hypothesis, Variant, along, judged
from diskmodel.explanation.measured import Measured
from diskmodel.explanation.simulator import Simulator
from diskmodel.explanation.singles import _neighbors, _with_own_spread
from diskmodel.workload import Workload


def _load(size: str, rate: float, clients: int = 1, **fields: object) -> Measured:
    workload = Workload.parse({"size": size, "clients": clients} | fields)
    part = "reads" if fields.get("read_ratio", 1.0) else "writes"
    return Measured("load", workload, {"iops": rate, f"{part}.mean": clients * 1e9 / rate}, {part: 1e4})


def _variants(name: str) -> list[Variant]:
    cause = CAUSES[name]
    return [Variant(cause, *one) for one in cause.variants([_load("4 KiB", 100.0)])]


def _between(name: str, simulator: Simulator) -> list[Hypothesis]:
    """Return all strengths of a cause, where each of those that are simulated moves figures by its place."""
    own = [
        (one, Hypothesis(((one.cause, one.value, one.words),), one.share, simulator.reference + at))
        for at, one in enumerate(_variants(name))
    ]
    own = [(one, Hypothesis(h.causes, h.prior, h.figures, np.zeros(len(h.figures)))) for one, h in own]
    return list(along(simulator, CAUSES[name], own, 1.0))


@pytest.fixture(scope="module")
def simulator() -> Simulator:
    return Simulator(Array.from_words("generic-7k2"), [_load("4 KiB", 60.0)], n_draws=2)


def test_numbers_of_requests_between_those_that_are_simulated_are_tried(simulator: Simulator) -> None:
    found = _between("few-at-once", simulator)
    depths = [one.causes[0][1] for one in found]
    assert depths == sorted(set(depths))
    assert {7, 20, 28} <= set(depths)
    assert [one.causes[0][2] for one in found if one.causes[0][1] == 20] == ["20 at once"]
    assert sum(one.prior for one in found) == pytest.approx(1.0)


def test_times_of_flushes_between_those_that_are_simulated_are_tried_in_each_way(simulator: Simulator) -> None:
    found = _between("flushes", simulator)
    assert sum(one.prior for one in found) == pytest.approx(1.0)
    for every, words in ((1, "after each write, on drives"), (0, "O_DSYNC, on drives")):
        times = [
            ns for (own, ns), said in ((one.causes[0][1], one.causes[0][2]) for one in found) if own == every and ns
        ]
        assert len(times) == 13
        assert max(b / a for a, b in pairwise(times)) < 1.35
        assert all(
            one.causes[0][2].startswith(words) for one in found if one.causes[0][1][0] == every and one.causes[0][1][1]
        )


def test_a_strength_stays_where_the_next_one_on_its_ladder_fits() -> None:
    variants = _variants("long-retries")
    for at, own in enumerate(_neighbors(variants)):
        assert own
        assert all(variants[other].value[1] == variants[at].value[1] for other in own)
    cause = CAUSES["long-retries"]
    value = (0.017, 12)
    assert cause.ladder is not None
    assert [near for _, near in cause.near(cause.ladder.words(value), value)] == [(0.01, 12), (0.03, 12)]


def test_strengths_stay_between_which_something_fits(monkeypatch: pytest.MonkeyPatch, simulator: Simulator) -> None:
    far = 30 * math.sqrt(float(simulator.scale()[0, 0]))
    off = {"2 outstanding": far, "3 outstanding": -far, "4 outstanding": -3 * far, "6 outstanding": -5 * far}
    variants = [one for one in _variants("depth-lost") if one.words in off]
    fits = next(one for one in _variants("elevator"))

    def made(_: object, own: tuple[Variant], *__: object) -> Hypothesis:
        (one,) = own
        figures = simulator.target - simulator.offset + off.get(one.words, 0.0)
        return judged(simulator, Hypothesis(((one.cause, one.value, one.words),), 1.0, figures, np.zeros(len(figures))))

    monkeypatch.setattr(singles, "hypothesis_of", made)
    left, promise = singles._hopeful(simulator, [*variants, fits], {}, [0])
    assert [one.words for one in left] == ["2 outstanding", "3 outstanding", fits.words]
    assert len(promise) == len(left)


def test_writes_that_wait_for_the_platter_are_known_as_reads_are() -> None:
    """How fast a buffer empties differs by 14 % between disks of a model; an access does so by less."""
    write = _load("4 KiB", 70.0, read_ratio=0.0)
    simulator = Simulator(Array.from_words("seagate-exos-x18"), [write])
    cause = CAUSES["drive-write-cache-off"]
    change = simulator.changed(0, (cause, None))
    assert change is not None
    run = simulator.simulate_measured(0, change)
    assert run is not None
    figures = simulator.vector([run.figures])
    one = judged(simulator, Hypothesis(((cause, None, ""),), 1.0, figures, np.zeros(len(figures))))
    (found,) = _with_own_spread(simulator, cause, [one])
    assert found.shared is not None
    assert math.sqrt(found.shared[0, 0]) < 0.6 * math.sqrt(simulator.shared[0, 0])


def test_what_a_cache_has_of_a_stream_is_not_passed_by() -> None:
    cause = CAUSES["cache-hits"]
    array, load = Array.from_words("generic-7k2"), _load("128 KiB", 1_000.0, addresses="sequential")
    figures = dict(load.figures) | {"reads.p50": 0.9e6, "reads.p95": 2e6, "reads.p99": 3e6}
    change = cause.change(array, load.workload, (0.6, 3_000))
    assert change is not None
    assert change.law is not None
    found = change.law(figures, load)
    assert found["iops"] == pytest.approx(2_500.0, rel=0.02)
    assert found["reads.p50"] == 3_000
    assert found["reads.p95"] == 2e6


def test_hardly_anybody_sets_a_limit_of_a_megabyte_per_second() -> None:
    scale = CAUSES["bandwidth-limit"].strengths
    assert isinstance(scale, Scale)
    low, high = (scale.weights([rate, 1.2 * rate, 1.4 * rate])[1] for rate in (2e6, 20e6))
    assert low == pytest.approx(high / 10)
