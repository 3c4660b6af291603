"""Searches of questions that have no time left, and of loads that no array carries."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import pytest

from diskmodel.array import Array
from diskmodel.engine.effort import each_s
from diskmodel.engine.ledger import Account, current, on_account
from diskmodel.plan import Outcome, cases
from diskmodel.plan.search.fewest_disks import LATE, search_family
from diskmodel.workload import Workload
from tests.unit.plan.fakes import Queues, brute_force, plan_of


class CostlyQueues(Queues):
    """Queues of which a request takes ten microseconds to simulate, and runs end with the time they have."""

    def __call__(self, array: Array, workload: Workload, *, n_requests: int, seed: int) -> Outcome:
        n = min(n_requests, round(current().allowed_s(each_s(n_requests)) / 1e-5))
        outcome = super().__call__(array, workload, n_requests=n, seed=seed)
        current().enter_run(n * 1e-5, n)
        return replace(outcome, is_cut=n < n_requests)


def test_without_time_a_search_ends_at_a_number_that_is_enough_and_says_so() -> None:
    plan = plan_of(candidates={"drives": ["generic-15k"], "levels": ["raid5"], "max_disks": 500})
    account, evaluate = Account(1.0), Queues()
    account.enter(2.0)
    with on_account(account):
        candidate = search_family(cases(plan)[0], evaluate)
    fewest = brute_force(plan, "raid5", 40)
    assert fewest is not None
    assert candidate.disks is not None
    assert candidate.disks >= fewest
    assert len(evaluate.runs) <= 2 * (LATE + 2)
    if candidate.disks > fewest:
        assert candidate.has_ended_early
        assert "there was no time to try" in candidate.reason
        assert account.left_out == ("fewer disks than the answer",)


def test_without_time_the_largest_number_says_that_none_is_enough() -> None:
    plan = plan_of(
        workload={"size": "8 KiB", "read_ratio": 0.7, "rate": "90000/s"},
        candidates={"drives": ["generic-15k"], "levels": ["raid5"], "max_disks": 60},
    )
    account, evaluate = Account(1.0), Queues()
    account.enter(2.0)
    with on_account(account):
        candidate = search_family(cases(plan)[0], evaluate)
    assert not candidate.is_feasible
    assert candidate.is_decided
    assert max(trial.disks for trial in candidate.trials) == cases(plan)[0].counts[-1]
    assert len(candidate.trials) <= 3


def test_more_bytes_than_disks_can_move_lead_to_the_largest_number_at_once() -> None:
    plan = plan_of(
        workload={"size": "1 GiB", "read_ratio": 0.5, "rate": "90000/s"},
        candidates={"drives": ["generic-15k"], "levels": ["raid5"], "max_disks": 100},
    )
    evaluate = Queues()
    candidate = search_family(cases(plan)[0], evaluate)
    assert not candidate.is_feasible
    assert evaluate.runs[0][1] == cases(plan)[0].counts[-1]


@pytest.mark.parametrize("budget_s", [2.0, 4.0, 20.0])
def test_no_run_is_shorter_than_the_one_before_it(budget_s: float) -> None:
    """Of one number of disks: what a shorter run of the same requests shows is known already."""
    plan = plan_of(candidates={"drives": ["generic-15k"], "levels": ["raid5"], "max_disks": 40})
    evaluate, lengths = CostlyQueues(noise=1.0), defaultdict[int, list[int]](list)
    with on_account(Account(budget_s)):
        search_family(cases(plan)[0], evaluate)
    for _, disks, n_requests in evaluate.runs:
        lengths[disks].append(n_requests)
    assert max(map(len, lengths.values())) > 1
    assert all(runs == sorted(runs) for runs in lengths.values())
