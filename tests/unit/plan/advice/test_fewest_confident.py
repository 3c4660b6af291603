"""The fewest disks with their chance, found with as few draws as show it, are those that all draws show."""

from __future__ import annotations

import pytest

from diskmodel.plan.advice.choice import assure, choose
from diskmodel.plan.advice.fewest_confident import Chances
from diskmodel.plan.advice.profile_risk import FEW_DRAWS, chance_is_enough, profile_risk
from diskmodel.plan.question.case import cases
from diskmodel.plan.question.description import PlanDescription
from diskmodel.plan.search.fewest_disks import search_family
from tests.unit.plan.fakes import Queues, plan_of


def asked(p99: str, most: int) -> PlanDescription:
    candidates = {"drives": ["generic-15k"], "levels": ["raid10", "raid5"], "max_disks": most}
    return plan_of(exact=False, objective={"latency": {"p99": p99}, "capacity": "1 TB"}, candidates=candidates)


@pytest.mark.parametrize("p99", ["25 ms", "40 ms", "80 ms"])
@pytest.mark.parametrize("most", [8, 16, 40])
def test_the_answer_is_that_of_all_draws(p99: str, most: int) -> None:
    plan = asked(p99, most)
    all_draws, few = Queues(), Queues()
    found = [search_family(case, all_draws, is_careful=False) for case in cases(plan)]
    expected, _ = choose(plan, assure(plan, found, all_draws, n_draws=FEW_DRAWS, most=most))
    chances = Chances(plan, few, n_draws=FEW_DRAWS)
    left = [case for case in cases(plan) if not chances.is_hopeless(case)]
    best = chances.best([search_family(case, few, is_careful=False) for case in left])
    is_confident = expected is not None and (expected.risk is None or expected.risk.is_confident)
    assert (None if best is None else (best.family, best.disks)) == (
        (expected.family, expected.disks) if expected is not None and is_confident else None
    )


def test_a_draw_that_leaves_no_chance_is_the_last() -> None:
    plan = asked("40 ms", 40)
    case = next(iter(cases(plan)))
    candidate = search_family(case, Queues(), is_careful=False)
    assert candidate.trial is not None
    risk = profile_risk(plan, candidate, Queues(), n_draws=FEW_DRAWS, with_curve=False)
    assert risk is not None
    one, again = Queues(), Queues()
    is_enough, order = chance_is_enough(case, candidate.trial, one, n_draws=FEW_DRAWS)
    assert is_enough == risk.is_confident
    assert sorted(order) == list(range(FEW_DRAWS))
    # the worst draw first: one near its limit counts in part, so that it takes two or three of them
    assert chance_is_enough(case, candidate.trial, again, n_draws=FEW_DRAWS, order=order)[0] == is_enough
    assert len(again.runs) <= len(one.runs)
    assert is_enough or len(again.runs) <= 5


def test_four_draws_are_enough_far_from_every_limit() -> None:
    plan = asked("4000 ms", 40)
    case = next(iter(cases(plan)))
    candidate = search_family(case, Queues(), is_careful=False)
    assert candidate.trial is not None
    far, near = Queues(), Queues()
    assert chance_is_enough(case, candidate.trial, far, n_draws=FEW_DRAWS)[0]
    assert len(far.runs) == 1 + FEW_DRAWS // 2
    risk = profile_risk(plan, candidate, near, n_draws=FEW_DRAWS, with_curve=False)
    assert risk is not None
    assert risk.probability > 0.999


def test_where_runs_as_long_as_those_of_draws_are_refused_there_is_no_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    """Years may lie between requests: the run of an answer may be short enough, and that of a draw not."""
    case = next(iter(cases(asked("40 ms", 40))))
    candidate = search_family(case, Queues(), is_careful=False)
    assert candidate.trial is not None
    monkeypatch.setattr("diskmodel.plan.advice.profile_risk._tried", lambda *_: None)
    assert chance_is_enough(case, candidate.trial, Queues(), n_draws=FEW_DRAWS) == (None, [])
