"""Searches on other machinery: interrupted and taken up again, on a cluster that loses a worker."""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from diskmodel.array import Array
from diskmodel.plan import Outcome, run_plan
from diskmodel.plan.run.memory import Remembered, from_plain, read_outcomes, to_plain
from diskmodel.plan.trial.at_once import at_once
from diskmodel.plan.trial.simulated import Simulated
from diskmodel.workload import Workload
from tests.unit.plan.fakes import Queues, plan_of

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
    assert from_plain(to_plain(outcome)) == outcome


def test_another_seed_or_length_is_another_outcome(tmp_path: Path) -> None:
    plan = plan_of()
    array = Array.parse({"drive": "generic-15k", "layout": {"level": "raid5", "disks": 9}})
    remembered = Remembered(Queues(noise=0.1), str(tmp_path / "m"))
    values = {
        remembered(array, plan.workload, n_requests=n, seed=seed).iops.value for n in (500, 700) for seed in (1, 2)
    }
    assert len(values) == 4


@pytest.mark.slow
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
        assert isinstance(pool, ThreadPoolExecutor)
    for evaluate in (Simulated("simpy"), Queues()):
        with at_once(evaluate) as pool:
            assert pool.submit(threading.get_ident).result() == threading.get_ident()
            assert isinstance(pool.submit(int, "x").exception(), ValueError)


def test_what_has_not_begun_is_left_undone_when_a_plan_is_interrupted() -> None:
    """Ctrl-C reaches the main thread, and the work that a thread has divided in turn must end, too."""
    begun: list[int] = []
    is_divided, go_on = threading.Event(), threading.Event()

    def waits(number: int) -> None:
        begun.append(number)
        go_on.wait(60)

    def divided() -> None:
        with at_once(Simulated()) as inner:
            results = inner.map(waits, range(1000))
            is_divided.set()
            list(results)

    pool = at_once(Simulated())
    outer = pool.submit(divided)
    is_divided.wait(60)
    threading.Timer(0.2, go_on.set).start()
    pool.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert isinstance(outer.exception(), CancelledError)
    assert len(begun) <= (os.cpu_count() or 1)
