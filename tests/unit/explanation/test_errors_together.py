"""What errs together: rates and means, shapes of one array, and runs with and without a cause."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from diskmodel.array import Array
from diskmodel.engine.ledger import Account, on_account, question
from diskmodel.explanation.causes import CAUSES
from diskmodel.explanation.causes.cause import Change
from diskmodel.explanation.hypotheses import Hypothesis, judged
from diskmodel.explanation.measured import Measured
from diskmodel.explanation.simulator import Simulator
from diskmodel.explanation.singles import single_causes
from diskmodel.explanation.weigh import unknown_causes, weigh
from diskmodel.workload import Workload

ONE, MANY = ({"size": "4 KiB", "clients": clients} for clients in (1, 16))


def measured(name: str, fields: dict[str, object], rate: float, mean_ms: float) -> Measured:
    mean = mean_ms * 1e6
    shape = {"reads.p50": 0.95 * mean, "reads.p95": 1.6 * mean, "reads.p99": 2 * mean}
    return Measured(name, Workload.parse(fields), {"iops": rate, "reads.mean": mean, **shape}, {"reads": 10_000.0})


@cache
def simulator(rate: float, mean_ms: float) -> Simulator:
    loads = [measured("one", ONE, 79.0, 12.6), measured("many", MANY, rate, mean_ms)]
    return Simulator(Array.from_words("generic-7k2"), loads, n_draws=4)


def test_a_mean_that_a_rate_decides_is_no_second_evidence() -> None:
    own = simulator(79.0, 202.0)
    (first, rate), *_ = own.ties.items()
    scale = own.scale(error=0.01)
    together = np.zeros(len(own.figures))
    together[[first, rate]] = 1.0
    # their product, the requests in flight, hardly errs, however far off both are
    of_drives = together @ own.shared @ together
    assert math.sqrt(together @ scale @ together - of_drives) == pytest.approx(0.05, rel=1e-3)
    assert scale[rate, rate] > 0.01


def test_shapes_of_two_loads_err_alike_and_those_of_a_sound_run_do_not() -> None:
    own = simulator(79.0, 202.0)
    places = {(figure.load, figure.kind): at for at, figure in enumerate(own.figures)}
    assert own.alike[places[0, "p99"], places[1, "p99"]] > 0
    assert own.alike[places[0, "p50"], places[1, "p99"]] < 0
    assert own.alike[places[0, "iops"], places[1, "iops"]] == 0
    assert np.linalg.eigvalsh(own.scale()).min() > 0


def test_behind_a_limit_hardly_an_error_of_the_drives_own_times_is_left() -> None:
    own = simulator(30.0, 533.0)
    change = own.changed(1, (CAUSES["rate-limit"], 30.0))
    assert change is not None
    kept = own.kept([None, own.simulate_measured(1, change)])
    left = {(figure.load, figure.kind): part for figure, part in zip(own.figures, kept, strict=True)}
    assert left[1, "p50"] == left[1, "p95"] == 0.5
    assert left[0, "p50"] == left[0, "p99"] == 1
    scale, before = own.scale(kept=kept), own.scale()
    places = [at for at, part in enumerate(kept) if part < 1]
    assert all(scale[at, at] < before[at, at] for at in places)
    assert np.linalg.eigvalsh(scale).min() > 0


def test_what_is_not_known_may_leave_loads_alone() -> None:
    # one load is as expected and the other one is eight times as slow, in a shape that no cause has
    figures = {"iops": 20.0, "reads.mean": 800e6, "reads.p50": 1e6, "reads.p95": 2e6, "reads.p99": 60e9}
    loads = [measured("one", ONE, 79.0, 12.6), replace(measured("many", MANY, 1.0, 1.0), figures=figures)]
    ways = unknown_causes(Simulator(Array.from_words("generic-7k2"), loads, n_draws=4))
    assert sum(one.prior for one in ways) == pytest.approx(0.05)
    assert all(one.is_unknown for one in ways)
    many, both = (max(one.log_likelihood for one in own) for own in (ways[3:6], ways[6:]))
    assert many > both + 3


def test_requests_in_flight_show_clients_that_are_missing() -> None:
    # four clients where sixteen were asked for: a rate that a slow drive might have, and a mean that it cannot
    found = weigh(simulator(118.0, 33.9))
    assert found[0].names[0] == "depth-lost"
    others = sum(one.probability for one in found if "depth-lost" not in one.names)
    assert others < 0.05


def test_a_cause_that_changes_no_run_has_the_same_figures_before_it() -> None:
    own = simulator(79.0, 202.0)
    change = CAUSES["rate-limit"].change(own.arrays[1], own.measured[1].workload, 79.0)
    assert change is not None
    found = own.simulate_measured(1, change)
    assert found is not None
    assert found.before == own.runs[1]
    assert found.figures["iops"] == pytest.approx(79.0)


def test_runs_with_a_cause_are_as_long_as_those_without() -> None:
    load = {"size": "8 KiB", "clients": 4, "read_ratio": 0.0}
    writes = {"iops": 9e3, "writes.mean": 0.44e6}
    own = Simulator(
        Array.from_words("4x samsung-pm893-960 raid10"),
        [Measured("w", Workload.parse(load), writes, {"writes": 1e4})],
        n_draws=2,
    )
    change = Change(own.arrays[0].model_copy(update={"name": "the same by another name"}), own.measured[0].workload)
    with question(0.01):
        found, short = own.simulate_measured(0, change), own.simulate(own.measured[0], change)
    assert found is not None
    assert short is not None
    assert found.figures["iops"] == pytest.approx(own.runs[0]["iops"], rel=1e-6)
    # one that takes what is left of a question's time is shorter
    assert short.figures["iops"] != pytest.approx(own.runs[0]["iops"], rel=1e-6)


def test_causes_for_which_there_is_no_time_are_left_out_and_named() -> None:
    own = simulator(79.0, 202.0)
    account = Account(0.5)
    with on_account(account):
        tried = single_causes(own, 0.5)
    assert account.spent_s < 0.7
    assert 0 < sum(run is not None for run in tried.runs.values()) < len(tried.runs)
    assert account.left_out[0].endswith("runs with causes")
    # the middle strength of each cause comes first
    assert len({one.names for one in tried.left}) > 3


def test_laws_take_no_time_and_none_is_left_out() -> None:
    own = simulator(79.0, 202.0)
    with on_account(Account(1e-6)):
        tried = single_causes(own, 0.5)
    found = [run for run in tried.runs.values() if run is not None and run.figures]
    laws = {causes[0][0] for (causes, _), run in tried.runs.items() if run in found and run.law is not None}
    assert {"rate-limit", "token-bucket"} <= laws
    # of all others the first few are made before anybody sees that there is no time
    assert sum(run.law is None for run in found) <= 16


def test_what_is_kept_between_questions_costs_each_of_them_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Simulator, "memory", {})
    spent = []
    for _ in range(2):
        account = Account(18.0)
        with on_account(account):
            own = Simulator(Array.from_words("generic-7k2"), [measured("one", ONE, 79.0, 12.6)], n_draws=4)
            change = own.changed(0, (CAUSES["vibration"], 0.3))
            assert change is not None
            own.simulate_measured(0, change)
        spent.append(account.spent_s)
    assert spent[0] == pytest.approx(spent[1], rel=1e-9)
    assert spent[0] > 0


def test_a_load_may_have_fewer_draws_than_another() -> None:
    loads = [measured("one", ONE, 79.0, 12.6), measured("many", MANY, 79.0, 202.0)]
    own = Simulator(Array.from_words("generic-7k2"), loads, n_draws=4)
    fewer = own._trials(Change(own.arrays[1], own.measured[1].workload)).truths(3)
    own.truths = (own.truths[0], fewer)
    own._draw()
    assert np.linalg.eigvalsh(own.scale()).min() > 0


def test_a_load_without_draws_is_not_taken_to_be_known() -> None:
    loads = [measured("one", ONE, 79.0, 12.6), measured("many", MANY, 79.0, 202.0)]
    drawn = Simulator(Array.from_words("generic-7k2"), loads)
    own = Simulator(Array.from_words("generic-7k2"), loads)
    own.truths = (None, None)
    own._draw()
    known, without = (np.sqrt(np.diag(one.scale())) for one in (drawn, own))
    assert (without > known / 2).all()


def test_a_judged_hypothesis_has_all_figures() -> None:
    own = simulator(79.0, 202.0)
    one = judged(own, Hypothesis((), 1.0, own.reference, np.zeros(len(own.figures))))
    far = judged(own, Hypothesis((), 1.0, own.reference + 3.0, np.zeros(len(own.figures))))
    assert one.log_likelihood > far.log_likelihood


def test_what_a_program_does_between_requests_is_no_missing_client() -> None:
    # 201,000/s of 3 us each: a processor that does both in turn
    figures = {"iops": 201e3, "reads.mean": 3_010.0}
    load = Measured("memory", Workload.parse({"size": "4 KiB", "clients": 1}), figures, {"reads": 1e4})
    own = Simulator(Array.from_words("samsung-pm893-960"), [load], n_draws=2)
    ((mean, rate),) = own.ties.items()
    scale = own.scale()
    assert scale[mean, mean] - scale[rate, rate] > 0.25
