"""The same input gives the same bytes: in another process, with another engine, number of threads or executor."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from diskmodel.array import Array
from diskmodel.engine.run import run
from diskmodel.engine.scenario import resolve
from diskmodel.engine.simulate import simulate
from diskmodel.plan import PlanDescription, run_plan
from diskmodel.workload import Workload
from tests.differential.cases import random_case
from tests.trust.soak import random_requests

ROOT = Path(__file__).parents[2]
ARRAY = "examples/raid5.toml"
WORKLOAD = "examples/oltp.toml"

DIGEST = """
import sys
from tests.trust.test_determinism import digest
sys.stdout.write(digest())
"""


def digest() -> str:
    """Of every column that runs of some random arrays wrote, and of a result in full."""
    message = hashlib.sha256()
    for number in range(12):
        case = random_case(number)
        scenario = resolve(Array.parse(case["array"]), case["seed"])
        done = run(scenario, random_requests(number, scenario)).completions
        for column in (done.issue_ns, done.done_ns, done.parts_ns, done.is_hit):
            message.update(column.tobytes())
    result = simulate(Array.load(ROOT / ARRAY), Workload.load(ROOT / WORKLOAD), n_requests=4000, profile_draws=2)
    message.update(as_text(result.to_dict()).encode())
    return message.hexdigest()


def as_text(document: dict[str, Any]) -> str:
    """A result without the figures that are not an answer: how long the computer took."""
    own = {key: value for key, value in document.items() if key != "wall_s"}
    own["interval"] = {key: value for key, value in own["interval"].items() if key != "wall_s"}
    return json.dumps(own, sort_keys=True)


def in_process(**environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", DIGEST],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.mark.slow
def test_another_process_gives_the_same_bytes() -> None:
    here = digest()
    assert in_process(PYTHONHASHSEED="1", OMP_NUM_THREADS="1", TZ="Asia/Kathmandu", LC_ALL="C") == here
    assert in_process(PYTHONHASHSEED="4711", PYTHONOPTIMIZE="1") == here


def test_both_engines_give_the_same_document() -> None:
    array, workload = Array.load(ROOT / ARRAY), Workload.load(ROOT / WORKLOAD)
    documents = []
    for engine in ("native", "simpy"):
        found = simulate(array, workload, n_requests=3000, engine=engine, profile_draws=2)  # type: ignore[arg-type]
        document = found.to_dict()
        assert document.pop("engine") == engine
        documents.append(as_text(document))
    assert documents[0] == documents[1]


def plan_text(executor: Executor | None) -> str:
    """The answer to a question with a candidate at each of three levels."""
    plan = PlanDescription.load(ROOT / "examples/plan-oltp.toml")
    few = plan.model_copy(
        update={
            "search": plan.search.model_copy(update={"requests": 500, "max_requests": 500}),
            "candidates": plan.candidates.model_copy(update={"drives": plan.candidates.drives[1:2], "max_disks": 10}),
        }
    )
    return json.dumps(run_plan(few, executor=executor, with_relaxations=False).to_dict(), sort_keys=True)


@pytest.fixture(scope="module")
def alone() -> str:
    """The answer that one thread finds without an executor."""
    return plan_text(None)


@pytest.mark.parametrize(
    "pool",
    [
        pytest.param(lambda: ThreadPoolExecutor(1), id="one thread", marks=pytest.mark.slow),
        pytest.param(lambda: ThreadPoolExecutor(7), id="seven threads"),
        pytest.param(lambda: ProcessPoolExecutor(2, mp_context=get_context("spawn")), id="processes"),
    ],
)
def test_whoever_searches_the_answer_is_the_same(pool: object, alone: str) -> None:
    executor: Executor = pool()  # type: ignore[operator]
    with executor:
        assert plan_text(executor) == alone
