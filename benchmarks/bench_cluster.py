"""What a Dask cluster on this machine costs, whether it loses answers, and from what size on it pays.

`--scene lost`, two rounds: 1,000 questions while a worker is killed. First the workers simulate, and one of them is
killed after two fifths of the answers; each answer is compared with that of this process. What the scheduler, the
client and the workers take in processor time beyond the simulations is the overhead of a question. Then the workers
only wait for as long as a simulation takes and return an answer of the same size: with more workers than cores this
shows how many the scheduler keeps busy.

`--scene sweep`, a minute on an idle machine: 10,000 questions of 100 requests with one and with two workers, in batches
(`diskmodel.sweep`), and some of them one at a time and in threads; then some of 50,000 requests. On two processors the
client and the scheduler share them with the workers. A machine that is busy with other work shows less of what a
second worker gives, so the ratio is also printed by processor time.

`--scene plan`, half a minute: plans in threads and on two workers of this machine. The client's share is what more
workers cannot shorten.

Run: python benchmarks/bench_cluster.py [--scene lost | sweep | plan] [--questions N] [--requests N] [--workers N]
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench_plan import QUESTIONS
from distributed import Client

from diskmodel import Array, Workload, run_plan, simulate, sweep
from diskmodel.engine import _kernel

#: When a worker is killed, as a share of the answers.
KILLED_AFTER = 0.4
#: Requests of a short question, and of a long one, of a sweep. Beside the kernel a question takes a millisecond; a long
#: one is mostly kernel, which needs no interpreter.
SHORT, LONG = 100, 50_000
#: Plans of `bench_plan.py`: one that is mostly a search, and two that are mostly draws.
PLANS = ("plan-oltp", "p99.9", "page cache")
_TICKS = os.sysconf("SC_CLK_TCK")


def answer(question: int, n_requests: int) -> str:
    """Return what one array of a sweep does under its own requests, as JSON; the same in every process."""
    array = Array.parse({"drive": "generic-15k", "layout": {"level": "raid10", "disks": 4 + question % 5 * 2}})
    workload = Workload.parse({"size": "8 KiB", "read_ratio": 0.7, "clients": 16})
    found = simulate(array, workload, n_requests=n_requests, seed=question, profile_draws=0).to_dict()
    del found["wall_s"]
    return json.dumps(found, sort_keys=True)


def wait(question: int, seconds: float, text: str) -> str:
    """Take as long as a simulation, and no processor."""
    time.sleep(seconds)
    return f"{question} {text}"


class Cluster:
    """A scheduler and workers, each a process of its own with one thread, and a client."""

    def __init__(self, folder: Path, n_workers: int) -> None:
        self._folder = folder
        began = time.perf_counter()
        place = folder / "scheduler.json"
        self._scheduler = self._start("scheduler", "--scheduler-file", str(place), "--host", "127.0.0.1", "--port", "0")
        options = ("--scheduler-file", str(place), "--nthreads", "1", "--no-nanny", "--local-directory", str(folder))
        self.workers = [self._start("worker", *options) for _ in range(n_workers)]
        while not place.exists():
            time.sleep(0.05)
        self.client = Client(scheduler_file=str(place))  # type: ignore[no-untyped-call]
        self.client.wait_for_workers(n_workers, timeout=120)
        # a first question loads the modules
        list(self.map(answer, [(n, 100) for n in range(8 * n_workers)]))
        #: Seconds by the clock until the workers have answered first questions.
        self.start_s = time.perf_counter() - began

    def _start(self, program: str, *options: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{program}", "--no-dashboard", *options]
        with (self._folder / f"{program}.log").open("ab") as log:
            return subprocess.Popen(command, stdout=log, stderr=log)

    def map(self, function: Any, questions: Iterable[tuple[Any, ...]]) -> Iterator[str]:
        """Yield the answers in the order of the questions, through the executor that `run_plan` takes, too."""
        executor = self.client.get_executor()  # type: ignore[no-untyped-call]
        yield from executor.map(function, *zip(*questions, strict=True))

    def kill_a_worker(self) -> None:
        """End a worker without a word, in the middle of its question."""
        os.kill(self.workers.pop().pid, signal.SIGKILL)

    def processor_s(self) -> dict[str, float]:
        """Return the processor time so far of the scheduler, of all workers that live, and of this process."""
        workers = sum(_processor_s(worker.pid) for worker in self.workers)
        return {"scheduler": _processor_s(self._scheduler.pid), "workers": workers, "client": time.process_time()}

    def close(self) -> None:
        """End all processes."""
        self.client.close()  # type: ignore[no-untyped-call]
        for process in (*self.workers, self._scheduler):
            process.terminate()
            process.wait()


@contextmanager
def cluster(n_workers: int) -> Iterator[Cluster]:
    """Yield a cluster with so many workers."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as ended:
        found = Cluster(Path(folder), n_workers)
        ended.callback(found.close)
        yield found


def _processor_s(pid: int) -> float:
    """User and system time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def ask_and_lose_a_worker(n_workers: int, questions: list[tuple[Any, ...]]) -> list[str]:
    """Return the answers of a cluster that loses a worker on the way."""
    answers: list[str] = []
    with cluster(n_workers) as found:
        for text in found.map(answer, questions):
            answers.append(text)
            if len(answers) == int(KILLED_AFTER * len(questions)):
                found.kill_a_worker()
    return answers


def processor_per_question(questions: list[tuple[Any, ...]]) -> dict[str, float]:
    """Return the processor seconds that one question takes in a worker, in the scheduler and in the client."""
    with cluster(1) as found:
        before = found.processor_s()
        n = sum(1 for _ in found.map(answer, questions))
        return {name: (now - before[name]) / n for name, now in found.processor_s().items()}


def waited(n_workers: int, n: int, seconds: float, text: str) -> float:
    """Return how many questions per second of the clock are answered by workers that only wait."""
    with cluster(n_workers) as found:
        began = time.perf_counter()
        answers = list(found.map(wait, [(question, seconds, text) for question in range(n)]))
        rate = n / (time.perf_counter() - began)
    assert answers == [f"{question} {text}" for question in range(n)]
    return rate


def answered(question: tuple[int, int]) -> str:
    """Return the answer to a question of so many requests."""
    return answer(*question)


@dataclass(frozen=True)
class Swept:
    """What sweeps took.

    Attributes
    ----------
    n : int
        Questions.
    clock_s : float
        Of all.
    processor_s : dict of str to float
        Of all, by process.
    """

    n: int
    clock_s: float
    processor_s: dict[str, float]

    def __add__(self, other: Swept) -> Swept:
        both = {name: seconds + other.processor_s[name] for name, seconds in self.processor_s.items()}
        return Swept(self.n + other.n, self.clock_s + other.clock_s, both)


def swept(found: Cluster, n_workers: int, questions: list[tuple[int, int]], batch: int | None = None) -> Swept:
    """Return what a sweep takes on so many of the workers."""
    chosen = sorted(found.client.scheduler_info()["workers"])[:n_workers]  # type: ignore[no-untyped-call]
    before = found.processor_s()
    began = time.perf_counter()
    executor = found.client.get_executor(workers=chosen)  # type: ignore[no-untyped-call]
    n = sum(1 for _ in sweep(answered, questions, executor=executor, batch=batch))
    clock_s = time.perf_counter() - began
    return Swept(n, clock_s, {name: now - before[name] for name, now in found.processor_s().items()})


def in_turns(found: Cluster, questions: list[tuple[int, int]]) -> tuple[Swept, Swept]:
    """Return what a sweep takes on one worker and on two: half of it at a time, as other work comes and goes."""
    first, second = questions[::2], questions[1::2]
    one, two = swept(found, 1, first), swept(found, 2, first)
    two += swept(found, 2, second)
    return one + swept(found, 1, second), two


def in_threads(questions: list[tuple[int, int]]) -> float:
    """Return the seconds by the clock of a question where a thread for each processor answers them."""
    began = time.perf_counter()
    n = sum(1 for _ in sweep(answered, questions))
    return (time.perf_counter() - began) / n


def sweep_scene(n: int) -> None:
    """Print what a sweep takes with one and two workers, and from what size on it pays."""
    before_s = time.process_time()
    with cluster(2) as found:
        start_s, start_processor_s = found.start_s, sum(found.processor_s().values()) - before_s
        print(f"two workers are ready after {start_s:.1f} s, and {start_processor_s:.1f} s of processor time")
        for n_requests, n_asked in ((SHORT, n), (LONG, max(n // 20, 10))):
            questions = [(question, n_requests) for question in range(n_asked)]
            few = questions[: max(n_asked // 20, 10)]
            list(map(answered, few[:10]))
            began = time.process_time()
            list(map(answered, few))
            alone_s = (time.process_time() - began) / len(few)
            thread_s = in_threads(questions[: max(n_asked // 5, 10)])
            print(f"{n_asked:,} questions of {n_requests:,} requests, each {1e3 * alone_s:.2f} ms in one process")
            if n_requests == SHORT:
                _print_taken("one at a time", swept(found, 1, few, batch=1))
            one, two = in_turns(found, questions)
            _print_taken("in batches", one)
            bound = 2 * one.processor_s["workers"] / sum(two.processor_s.values())
            print(
                f"  one worker {one.clock_s:.1f} s, two {two.clock_s:.1f} s by the clock: "
                f"{one.clock_s / two.clock_s:.2f} times as fast (load {os.getloadavg()[0]:.1f}); by processor time, "
                f"two processors for all processes allow {bound:.2f} times"
            )
            saved_s = thread_s - two.clock_s / n_asked
            pays = f"pay from {start_s / saved_s:,.0f} questions on" if saved_s > 0 else "are not faster"
            print(
                f"  threads {1e3 * thread_s:.2f} ms a question by the clock, two workers "
                f"{1e3 * two.clock_s / n_asked:.2f}: with their start, they {pays}"
            )


def _print_taken(how: str, taken: Swept) -> None:
    of_question = {name: 1e3 * seconds / taken.n for name, seconds in taken.processor_s.items()}
    print(f"  {how}, ms of processor time: " + ", ".join(f"{k} {v:.2f}" for k, v in of_question.items()))


def plan_scene() -> None:
    """Print what plans take in threads and on two workers, and which part of that is the client's."""
    with cluster(2) as found:
        for name in PLANS:
            plan = QUESTIONS[name]()
            began, began_s = time.perf_counter(), time.process_time()
            here = run_plan(plan, with_details=False)
            clock, taken_s = time.perf_counter() - began, time.process_time() - began_s
            print(f"{name}: threads {clock:.1f} s by the clock, {taken_s:.1f} s of processor time")
            for how in ("first", "again"):
                before, began = found.processor_s(), time.perf_counter()
                executor = found.client.get_executor(pure=False)  # type: ignore[no-untyped-call]
                there = run_plan(plan, with_details=False, executor=executor)
                clock = time.perf_counter() - began
                assert there.to_dict() == here.to_dict(), "the answer of the cluster is not that of this machine"
                taken = {name: now - before[name] for name, now in found.processor_s().items()}
                parts = ", ".join(f"{name} {seconds:.1f}" for name, seconds in taken.items())
                print(f"  two workers, {how}: {clock:.1f} s by the clock; of the processor: {parts}")


def lost_scene(n: int, n_requests: int, n_workers: int) -> None:
    """Print what a question costs, how many workers are kept busy, and that no answer was lost."""
    questions = [(question, n_requests) for question in range(n)]
    began = time.process_time()
    alone = [answer(*question) for question in questions]
    each_s = (time.process_time() - began) / len(questions)
    there = ask_and_lose_a_worker(n_workers, questions)
    assert there == alone, "an answer of the cluster is not that of one process"
    print(f"{len(there):,} questions, one of {n_workers} workers killed: all answers there and as in one process")

    taken = processor_per_question(questions[:300])
    print(f"A question takes {1e3 * each_s:.1f} ms of processor time in one process, {len(alone[0]):,} bytes of answer")
    print("On a cluster, ms of processor time: " + ", ".join(f"{k} {1e3 * v:.1f}" for k, v in taken.items()))
    busiest = max(taken["scheduler"], taken["client"])
    print(f"So the scheduler and the client would keep up with {taken['workers'] / busiest:.0f} workers")

    few = max(len(questions) // n_workers, 20)
    one, many = (waited(workers, few * workers, each_s, alone[0]) for workers in (1, n_workers))
    print(
        f"Workers that wait as long instead: 1 answers {one:.1f}/s, {n_workers} answer {many:.1f}/s, "
        f"{many / one:.2f} times as many (load {os.getloadavg()[0]:.1f})"
    )


def main() -> None:
    """Print what the scenes that are asked for show."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scene", choices=("lost", "sweep", "plan"), action="append", help="default: all")
    parser.add_argument("--questions", type=int, help="default: 1,000 where a worker is lost, 10,000 of the sweep")
    parser.add_argument("--requests", type=int, default=50_000, help="simulated requests of a question (lost)")
    parser.add_argument("--workers", type=int, default=4, help="of the scene with a lost one")
    given = parser.parse_args()
    if _kernel.IS_DEBUG_BUILD:
        sys.exit("the kernel is a debug build: run make build")
    scenes = given.scene or ["lost", "sweep", "plan"]
    if "lost" in scenes:
        lost_scene(given.questions or 1000, given.requests, given.workers)
    if "sweep" in scenes:
        sweep_scene(given.questions or 10_000)
    if "plan" in scenes:
        plan_scene()


if __name__ == "__main__":
    main()
