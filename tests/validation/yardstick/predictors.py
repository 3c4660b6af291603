"""The predictors that are compared on the page: diskmodel, the rule of thumb, and a linear model."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from diskmodel.engine.simulate import simulate
from diskmodel.result import Result
from tests.validation.coverage import predicted
from tests.validation.coverage.evidence import size_bytes
from tests.validation.coverage.score import Asked, rule_of
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
    return {(asked.id, name): Answer(value) for asked in questions() for name, value in _asked(asked, rule_of(asked))}


def linear_model() -> Answers:
    """Return what the linear model says of each disk; arrays and queues as by the rule of thumb."""

    def disk_iops(asked: Asked) -> float:
        return 1 / (LINEAR_S + size_bytes(asked.workload) / LINEAR_BYTES_PER_S)

    found = ((asked, rule_of(asked, disk_iops)) for asked in questions())
    return {(asked.id, name): Answer(value) for asked, rule in found for name, value in _asked(asked, rule)}


def _asked(asked: Question, known: dict[str, float]) -> list[tuple[str, float]]:
    return [(name, known[name]) for name in statistics_of(asked)]


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


def _simulated(number: int) -> dict[str, Answer]:
    return simulated(questions()[number])


def simulated(asked: Question, n_requests: int = N_REQUESTS) -> dict[str, Answer]:
    """Return what `diskmodel simulate` says of a question."""
    result = simulate(asked.array, asked.workload, n_requests=n_requests)
    return dict(_answers(asked, result))


def _answers(asked: Question, result: Result) -> Iterator[tuple[str, Answer]]:
    data = result.to_dict()
    for name in statistics_of(asked):
        interval = result.interval_of(name)
        scale = 1.0 if name == "iops" else 1e6
        value = float(result.iops.mean) if name == "iops" else float(data["latency_ms"][name])
        yield name, Answer(value, interval.low / scale, interval.high / scale)


#: Name on the page → its answers.
PREDICTORS = {"diskmodel": diskmodel, "rule of thumb": rule_of_thumb, "linear model": linear_model}
