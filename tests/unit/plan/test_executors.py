"""Searches on other machinery: interrupted and taken up again, on a cluster that loses a worker."""

from __future__ import annotations

import json
import os
import pickle
import signal
import threading
import time
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from diskmodel.array import Array
from diskmodel.engine.threads import Threads
from diskmodel.plan import Outcome, run_plan
from diskmodel.plan.trial.at_once import at_once
from diskmodel.plan.trial.evaluation import Evaluation
from diskmodel.plan.trial.memory import from_plain, read_outcomes, to_plain
from diskmodel.plan.trial.simulated import Simulated
from diskmodel.workload import Workload
from tests.unit.plan.fakes import Queues, plan_of

pytestmark = pytest.mark.slow

MANY = {"drives": ["generic-15k", "generic-10k"], "levels": ["raid10", "raid5", "raid6"], "max_disks": 60}


@dataclass(frozen=True)
class Slow:
    """Queues that take a while, and say in a folder which process is at work."""

    folder: str
    pause_s: float = 0.02

    def __call__(self, array: Array, workload: Workload, *, n_requests: int, seed: int) -> Outcome:
        Path(self.folder, str(os.getpid())).touch()
        time.sleep(self.pause_s)
        return Queues()(array, workload, n_requests=n_requests, seed=seed)


class Interrupted(Exception):
    """Stands for Ctrl-C."""


@dataclass
class StopsAfter:
    """Queues that are interrupted after some runs."""

    left: int

    def __repr__(self) -> str:
        return "queues"

    def __call__(self, array: Array, workload: Workload, *, n_requests: int, seed: int) -> Outcome:
        if not self.left:
            raise Interrupted
        self.left -= 1
        return Queues()(array, workload, n_requests=n_requests, seed=seed)


def test_interrupted_search_goes_on_where_it_was(tmp_path: Path) -> None:
    plan, memory = plan_of(candidates=MANY), tmp_path / "outcomes.jsonl"
    whole = StopsAfter(10_000)
    expected = run_plan(plan, evaluate=whole)
    n_needed = 10_000 - whole.left
    with pytest.raises(Interrupted):
        run_plan(plan, evaluate=StopsAfter(n_needed // 2), memory=memory)
    with memory.open("a") as file:
        file.write('{"key": "half a li')
    rest = StopsAfter(10_000)
    assert run_plan(plan, evaluate=rest, memory=memory).to_dict() == expected.to_dict()
    n_distinct = len(read_outcomes(memory))
    assert 10_000 - rest.left <= n_distinct - n_needed // 2 + 1
    again = StopsAfter(1)
    run_plan(plan, evaluate=again, memory=memory)
    assert again.left == 1


def test_outcomes_survive_the_file_exactly() -> None:
    plan = plan_of()
    array = Array.parse({"drive": "generic-15k", "layout": {"level": "raid5", "disks": 9}})
    outcome = Queues(noise=0.1)(array, plan.workload, n_requests=777, seed=3)
    again = from_plain(to_plain(outcome))
    assert repr(vars(again)) == repr(vars(outcome))  # nan, too, which equals nothing


def test_another_seed_or_length_is_another_outcome(tmp_path: Path) -> None:
    plan = plan_of()
    array = Array.parse({"drive": "generic-15k", "layout": {"level": "raid5", "disks": 9}})
    remembered = Evaluation(Queues(noise=0.1), memory=tmp_path / "m")
    values = {
        remembered(array, plan.workload, n_requests=n, seed=seed).iops.value for n in (500, 700) for seed in (1, 2)
    }
    assert len(values) == 4


def test_an_evaluation_is_sent_to_another_process_with_its_memory_and_without_its_count(tmp_path: Path) -> None:
    plan = plan_of()
    array = Array.parse({"drive": "generic-15k", "layout": {"level": "raid5", "disks": 9}})
    whole = Evaluation(Simulated(), memory=tmp_path / "m")
    outcome = Evaluation.part(whole)(array, plan.workload, n_requests=500, seed=1)
    sent = pickle.loads(pickle.dumps(whole))
    assert sent.effort.n_runs == 0
    assert repr(sent(array, plan.workload, n_requests=500, seed=1)) == repr(outcome)  # with figures that are not known
    assert len(read_outcomes(tmp_path / "m")) == sent.effort.n_runs == 1


def test_a_worker_reads_each_line_of_the_memory_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, path = plan_of(), tmp_path / "m"
    array = Array.parse({"drive": "generic-15k", "layout": {"level": "raid5", "disks": 9}})
    n_read = 0

    def read(data: Any) -> Outcome:
        nonlocal n_read
        n_read += 1
        return from_plain(data)

    whole = Evaluation(StopsAfter(10), memory=path)
    sent = pickle.dumps(whole)
    monkeypatch.setattr("diskmodel.plan.trial.memory.from_plain", read)
    for seed in range(3):
        expected = whole(array, plan.workload, n_requests=500, seed=seed)
        there = pickle.loads(sent)
        there.method = StopsAfter(0)
        assert repr(there(array, plan.workload, n_requests=500, seed=seed)) == repr(expected)
        assert n_read == seed + 1
    with path.open("a") as file:
        file.write('{"key": "half a li')
    pickle.loads(sent)
    whole(array, plan.workload, n_requests=500, seed=3)
    pickle.loads(sent)
    assert n_read == 4
    path.write_text("")
    assert pickle.loads(sent)._memory._known == {}


class Workers(ThreadPoolExecutor):
    """Threads that pickle what they are given and what they return, as processes on other machines do."""

    def __init__(self) -> None:
        super().__init__(2)
        self.names: list[str] = []

    def submit(self, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        sent = pickle.dumps((function, args, kwargs))
        self.names.append(f"{function} {args}")
        return super().submit(_there, sent)


def _there(sent: bytes) -> Any:
    function, args, kwargs = pickle.loads(sent)
    return pickle.loads(pickle.dumps(function(*args, **kwargs)))


@pytest.mark.parametrize("details", [False, True])
def test_draws_and_advice_are_sent_to_the_workers_and_counted(details: bool) -> None:
    asked = plan_of(
        exact=False,
        workload={"size": "8 KiB", "read_ratio": 0.7, "rate": "300/s"},
        objective={"latency": {"mean": "20 ms"}},
        search={"requests": 1000, "max_requests": 4000, "max_requests_at_answer": 4000},
        candidates={"drives": ["generic-15k"], "levels": ["raid10", "raid5"], "max_disks": 12},
    )
    pool = Workers()
    with pool:
        there = run_plan(asked, executor=pool, with_details=details, with_sensitivity=details)
    here = run_plan(asked, with_details=details, with_sensitivity=details)
    assert json.dumps(there.to_dict()) == json.dumps(here.to_dict())
    assert {key: (one.n_runs, one.n_requests) for key, one in there.efforts.items()} == {
        key: (one.n_runs, one.n_requests) for key, one in here.efforts.items()
    }
    assert sum("_answered" in name for name in pool.names) >= 1  # draws
    assert sum("counted" in name for name in pool.names) >= 2  # advice


@pytest.mark.filterwarnings("default")
def test_dask_cluster_that_loses_a_worker(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    plan = plan_of(candidates=MANY)
    expected = run_plan(plan, evaluate=Queues()).to_dict()
    cluster = distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
    )
    with cluster, distributed.Client(cluster) as client:
        killed: list[int] = []

        def kill_one(done: int, of: int, candidate: Any) -> None:
            if not killed:
                killed.append(next(int(p.name) for p in tmp_path.iterdir() if int(p.name) != os.getpid()))
                os.kill(killed[0], signal.SIGKILL)

        result = run_plan(
            plan,
            evaluate=Slow(str(tmp_path)),
            executor=client.get_executor(),
            progress=kill_one,
            with_relaxations=False,
        )
    assert killed
    assert len(list(tmp_path.iterdir())) > 1
    assert result.to_dict()["candidates"] == expected["candidates"]


def test_advice_is_given_in_threads_only_where_the_kernel_simulates() -> None:
    with at_once(Simulated()) as pool:
        assert isinstance(pool, Threads)
    for evaluate in (Simulated("simpy"), Queues()):
        with at_once(evaluate) as pool:
            assert pool.submit(threading.get_ident).result() == threading.get_ident()
            assert isinstance(pool.submit(int, "x").exception(), ValueError)


def test_work_that_a_thread_has_divided_ends_when_a_plan_is_interrupted() -> None:
    """Ctrl-C reaches the main thread only; other threads end with the evaluations that they are at."""
    n_begun, is_divided, go_on = 0, threading.Event(), threading.Event()
    array = Array.parse({"drive": "generic-15k", "layout": {"level": "raid10", "disks": 4}})
    workload = Workload.parse({"size": "8 KiB", "read_ratio": 1.0, "rate": "100/s"})

    def waits(array: Array, workload: Workload, *, n_requests: int, seed: int) -> Outcome:
        nonlocal n_begun
        n_begun += 1
        is_divided.set()
        go_on.wait(60)
        return Queues()(array, workload, n_requests=n_requests, seed=seed)

    evaluate = Evaluation(waits)

    def divided() -> None:
        with at_once(Simulated()) as inner:
            list(inner.map(lambda seed: evaluate(array, workload, n_requests=200, seed=seed), range(1000)))

    with at_once(Simulated()) as pool:
        outer = pool.submit(divided)
        is_divided.wait(60)
        evaluate.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
        go_on.set()
    assert isinstance(outer.exception(), CancelledError)
    assert n_begun <= (os.cpu_count() or 1)


def test_the_answer_does_not_depend_on_the_number_of_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_of(
        search={"requests": 1000, "max_requests": 2000, "max_requests_at_answer": 2000},
        candidates={"drives": ["generic-15k"], "levels": ["raid10", "raid5"], "max_disks": 12},
    )

    def found(n_processors: int) -> str:
        monkeypatch.setattr(os, "cpu_count", lambda: n_processors)
        return json.dumps(run_plan(plan).to_dict())

    assert found(1) == found(2) == found(5)


def test_searches_in_other_threads_end_with_their_runs_when_a_plan_is_interrupted() -> None:
    """Families are searched by two threads. When the third ends with Ctrl-C, no other evaluation begins."""
    n_begun, is_waiting, go_on = 0, threading.Event(), threading.Event()

    def evaluate(array: Array, workload: Workload, *, n_requests: int, seed: int) -> Outcome:
        nonlocal n_begun
        n_begun += 1
        if array.layout.level == "raid10":
            is_waiting.set()
            go_on.wait(60)
        return Queues()(array, workload, n_requests=n_requests, seed=seed)

    def interrupt(done: int, of: int, candidate: Any) -> None:
        is_waiting.wait(60)
        counts.append(n_begun)
        threading.Timer(0.2, go_on.set).start()
        raise Interrupted

    counts: list[int] = []
    with ThreadPoolExecutor(2) as pool, pytest.raises(Interrupted):
        run_plan(plan_of(), evaluate=evaluate, executor=pool, progress=interrupt)
    assert n_begun == counts[0]
