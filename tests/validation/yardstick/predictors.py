"""The predictors that are compared on the page: diskmodel, the rule of thumb, and a linear model."""

from __future__ import annotations

import math
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path

from diskmodel.analytic.rule import WRITE_PENALTIES
from diskmodel.engine.simulate import simulate
from diskmodel.plan.trial.rule_of_thumb import calculator_disk_iops
from diskmodel.result import Result
from tests.validation.coverage import predicted
from tests.validation.coverage.evidence import size_bytes
from tests.validation.yardstick.answers import Answer, Answers, read, text_of
from tests.validation.yardstick.questions import Question, questions, statistics_of

#: What diskmodel answered, kept: to simulate all of it takes a quarter of an hour.
KEPT = Path(__file__).parents[2] / "data" / "yardstick-diskmodel.csv"
#: Requests of a run.
N_REQUESTS = 20_000
#: Processes that simulate at the same time.
WORKERS = 2
#: The linear model of a disk: time of a request, and its rate of bytes. Published research on storage still uses it,
#: and these two figures are of one nearline disk.
LINEAR_S, LINEAR_BYTES_PER_S = 11.5e-3, 143e6


def rule_of_thumb() -> Answers:
    """Return what a calculator says: the usual rate of each disk, write penalties, clients over the rate."""
    return _of_one_server(lambda asked: calculator_disk_iops(asked.array.drive))


def linear_model() -> Answers:
    """Return what the linear model says of each disk; arrays and queues as by the rule of thumb."""
    return _of_one_server(lambda asked: 1 / (LINEAR_S + size_bytes(asked.workload) / LINEAR_BYTES_PER_S))


def diskmodel() -> Answers:
    """Return the kept answers of diskmodel."""
    return read(KEPT)


def renew() -> None:
    """Simulate all questions anew and keep the answers.

    Published measurements are answered by the table of `make intervals`: there each interval is made without the drive
    or array that the figure comes from.
    """
    asked = questions()
    of_table = predicted.read()
    found: Answers = {}
    for item in asked:
        if item.group == "published":
            row = of_table[item.id]
            for name in statistics_of(item):
                ends = (row.low[name], row.high[name]) if row.is_predictive else (None, None)
                found[item.id, name] = Answer(row.values[name], *ends)
    others = [number for number, item in enumerate(asked) if item.group != "published"]
    with ProcessPoolExecutor(WORKERS) as pool:
        for number, answers in zip(others, pool.map(_simulated, others), strict=True):
            print(asked[number].id, flush=True)
            found |= {(asked[number].id, name): answer for name, answer in answers.items()}
    KEPT.write_text(text_of(found), encoding="utf-8")


@cache
def _questions() -> list[Question]:
    return questions()


def _simulated(number: int) -> dict[str, Answer]:
    return simulated(_questions()[number])


def simulated(asked: Question, n_requests: int = N_REQUESTS) -> dict[str, Answer]:
    """Return what `diskmodel simulate` says of a question."""
    result = simulate(asked.array, asked.workload, n_requests=n_requests)
    return dict(_answers(asked, result))


def _answers(asked: Question, result: Result) -> Iterator[tuple[str, Answer]]:
    data = result.to_dict()
    for name in statistics_of(asked):
        interval = result.prediction.intervals[name] if result.prediction else result.interval_of(name)
        scale = 1.0 if name == "iops" else 1e6
        value = float(result.iops.mean) if name == "iops" else float(data["latency_ms"][name])
        yield name, Answer(value, interval.low / scale, interval.high / scale)


def _of_one_server(disk_iops: object) -> Answers:
    assert callable(disk_iops)
    found: Answers = {}
    for asked in questions():
        (stream,) = asked.workload.streams
        arrival = stream.to_dict()["arrival"]
        reads, depth = float(stream.read_ratio), int(arrival["clients"])
        layout = asked.array.layout
        level = str(layout.level)
        # a pool is counted as one disk for each group of its disks, a mirror reads from all of them
        is_raidz = level.startswith("raidz")
        disks = 1 if is_raidz else layout.disks
        penalty = 1 if is_raidz else WRITE_PENALTIES.get("raid10" if level == "mirror" else level, 1)
        busy = min(disks, depth) if reads == 1 else disks
        rate = busy * disk_iops(asked) / (reads + (1 - reads) * penalty)
        mean_ms = 1e3 * depth / rate
        known = {"iops": rate, "mean": mean_ms, "p99": math.log(100) * mean_ms}
        found |= {(asked.id, name): Answer(known[name]) for name in statistics_of(asked)}
    return found


#: Name on the page → its answers.
PREDICTORS = {"diskmodel": diskmodel, "rule of thumb": rule_of_thumb, "linear model": linear_model}
