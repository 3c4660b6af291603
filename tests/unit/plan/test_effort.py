"""What an answer took: every simulation is counted once, for what it was made."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from diskmodel.plan import run_plan
from diskmodel.plan.answer.effort import Effort, together
from diskmodel.plan.show.words import explained
from diskmodel.plan.trial.evaluation import Evaluate, Evaluation
from diskmodel.plan.trial.simulated import Simulated
from tests.unit.plan.fakes import Queues, plan_of


def test_every_evaluation_is_counted_for_its_purpose() -> None:
    queues = Queues(noise=0.5)
    result = run_plan(plan_of(), evaluate=queues, with_sensitivity=True)
    assert sum(result.efforts.values(), Effort()).n_runs == len(queues.runs)
    assert set(result.efforts) >= {"search", "failed disk", "rebuild", "wrong inputs"}
    for candidate in result.candidates:
        assert candidate.efforts["failed disk"].n_runs == 1


def test_effort_does_not_depend_on_the_executor() -> None:
    def found(**options: Any) -> dict[str, Any]:
        return run_plan(plan_of(), evaluate=Queues(noise=0.5), **options).to_dict()["effort"]

    with ThreadPoolExecutor(3) as pool:
        assert found(executor=pool) == found()


def test_json_and_explanation_state_requests_by_purpose() -> None:
    result = run_plan(plan_of(search={"requests": 4000, "seed": 1}, candidates=SMALL))
    data = result.to_dict()["effort"]
    purposes = data["purposes"].values()
    assert data["requests"] == sum(part["requests"] for part in purposes) > 8000
    assert data["runs"] == sum(part["runs"] for part in purposes)
    titles = {title: lines for title, lines in explained(result)}
    assert f"requests: {data['requests']:,} (search " in titles["What was simulated"][0]


SMALL = {"drives": ["generic-15k"], "levels": ["raid10"], "disks": [12, 20]}


def test_the_rule_of_thumb_simulates_nothing() -> None:
    result = run_plan(plan_of(search={"method": "rule"}))
    assert result.efforts == {}
    assert "What was simulated" not in dict(explained(result))


def test_an_evaluation_counts_what_its_parts_count() -> None:
    whole = Evaluation(Queues())
    one, other = Evaluation.part(whole), Evaluation.part(Evaluation.part(whole))
    one.add(Effort(2, 5000))
    other.add(Effort(1, 300))
    assert (one.effort, other.effort, whole.effort) == (Effort(2, 5000), Effort(1, 300), Effort(3, 5300))


def test_parts_know_how_arrays_are_evaluated() -> None:
    def said(evaluate: Evaluate) -> tuple[bool, bool]:
        part = Evaluation.part(Evaluation.part(evaluate))
        return part.is_simulated, part.is_native

    assert said(Evaluation(Simulated())) == (True, True)
    assert said(Simulated("simpy")) == (True, False)
    assert said(Queues()) == (False, False)


def test_effort_of_several() -> None:
    assert together([{"a": Effort(1, 10)}, {"b": Effort(), "a": Effort(2, 5)}]) == {"a": Effort(3, 15)}
