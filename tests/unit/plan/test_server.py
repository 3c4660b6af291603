"""Several volumes of one server: apart, shared, and what sharing does to each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diskmodel.array import Array
from diskmodel.engine.ledger import current, question
from diskmodel.engine.simulate import simulate
from diskmodel.errors import DescriptionError
from diskmodel.plan import Outcome, PlanDescription, ServerPlan, ServerResult, run_plan, run_server
from diskmodel.plan.question.presets import preset
from diskmodel.plan.question.short_toml import short_toml
from diskmodel.plan.show import server_words as words
from diskmodel.plan.show.server_report import server_csv, server_html, server_markdown
from diskmodel.plan.trial.simulated import Simulated
from diskmodel.workload import Workload
from tests.audit.verify import checked
from tests.unit.plan.fakes import Queues

LOG = {"size": "8 KiB", "read_ratio": 0, "rate": "400/s", "addresses": {"pattern": "sequential"}}
DATA = {"size": "8 KiB", "read_ratio": 0.8, "rate": "150/s"}


def volume(name: str, workload: Any = None, p99: str = "40 ms", **more: Any) -> dict[str, Any]:
    own = {"workload": DATA if workload is None else workload, "capacity": "100 GB"}
    return {"name": name, **own, "objective": {"latency": {"p99": p99}}, **more}


def server(*volumes: Mapping[str, Any], **more: Any) -> ServerPlan:
    data: dict[str, Any] = {
        "volumes": [dict(item) for item in volumes],
        "candidates": {"drives": ["generic-15k"], "levels": ["raid10"], "max_disks": 24, "max_group_width": 10_000},
        **more,
    }
    return ServerPlan.parse(data)


TWO = (volume("data"), volume("log", LOG, "60 ms"))


@pytest.mark.parametrize(
    ("volumes", "more", "said"),
    [
        ((volume("a"), volume("a")), {}, "two volumes have the name 'a'; rename one"),
        (TWO, {"workload": DATA}, "workload: is given together with volumes"),
        (TWO, {"arrangement": [["data"], ["lgo"]]}, "arrangement: 'lgo' is no volume; use data, log"),
        (TWO, {"arrangement": [["data"]]}, "must have every volume on one array; place each of data, log once"),
        (TWO, {"arrangement": [["data", "log"], ["log"]]}, "must have every volume on one array"),
        (TWO, {"arrangement": "together"}, "arrangement"),
        (
            TWO,
            {"objective": {"degraded": {"latency": {"streams": {"lgo": {"p99": "1 s"}}}}}},
            "objective.degraded.latency.streams.lgo: no such volume; use one of data, log",
        ),
        ((volume("a", {**DATA, "span": "200 GB"}),), {}, "beyond the 100,000,595,968 bytes of the volume"),
        ((volume("a", objective={"latency": {"streams": {"x": {"p99": "1 s"}}}}),), {}, "is no stream of this volume"),
        ((volume("a", {"size": "4 KiB", "clients": 2}, objective={"iops": 5}),), {}, "give its workload a rate"),
        ((volume("a", objective={"cost_usd": 5}),), {}, "cost_usd"),
        (
            ({"name": "a", "capacity": "1 GB", "preset": "lgo"},),
            {},
            "volumes.0.preset='lgo': is not a known preset; did you mean log?",
        ),
        ((volume("a", capacity="0 GB"),), {}, "volumes.0.capacity"),
        ((), {}, "volumes"),
    ],
)
def test_bad_volumes_are_refused_with_a_fix(volumes: Any, more: dict[str, Any], said: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        server(*volumes, **more)
    assert said in str(caught.value)


def test_one_volume_asks_what_a_plan_without_volumes_asks() -> None:
    asked = server(volume("data", objective={"iops": 300, "growth": "20%", "years": 2, "fill_limit": "80%"}))
    (arrays,) = asked.arrangements.values()
    plan = asked.plan_of(arrays[0])
    own = {"iops": 300, "growth": "20%", "years": 2, "fill_limit": "80%", "capacity": "100 GB"}
    direct = PlanDescription.parse(
        {"name": plan.name, "workload": DATA, "objective": own, "candidates": asked.candidates}
    )
    assert plan == direct


def test_shared_volumes_lie_one_after_the_other_with_their_own_limits() -> None:
    spread = {"streams": [{**DATA, "name": "index", "span": "10%"}, {**DATA, "name": "heap", "offset": "10%"}]}
    limits = {"latency": {"p99": "30 ms", "streams": {"heap": {"p99": "50 ms", "mean": "9 ms"}}}, "fill_limit": "50%"}
    asked = server(volume("data", spread, objective=limits), volume("log", LOG, "10 ms", objective={"iops": 900}))
    plan = asked.plan_of(("data", "log"))
    index, heap, log = plan.design_workload.streams
    size = asked.volume("data").usable_bytes
    assert size >= 200 * 10**9
    assert [stream.name for stream in (index, heap, log)] == ["data/index", "data/heap", "log"]
    assert (index.offset_bytes, index.span_bytes) == (0, size // 10)
    assert (heap.offset_bytes, heap.span_bytes) == (size // 10, size - size // 10)
    assert log.offset_bytes == size
    assert log.expected_rate_per_s == pytest.approx(900)
    assert plan.objective.capacity_bytes == size + asked.volume("log").usable_bytes
    streams = plan.objective.latency.streams
    assert streams["data"].limits() == {"p99": 30_000_000}
    assert streams["data/heap"].limits() == {"p99": 50_000_000, "mean": 9_000_000}
    assert streams["log"].limits() == {}


def test_limits_with_a_disk_failed_are_those_of_each_volume() -> None:
    degraded = {"latency": {"p99": "90 ms", "streams": {"log": {"p99": "20 ms"}}}, "failures": 1}
    asked = server(*TWO, objective={"degraded": degraded, "utilization_ceiling": "70%"})
    shared, log = asked.plan_of(("data", "log")).objective, asked.plan_of(("log",)).objective
    assert shared.degraded is not None
    assert log.degraded is not None
    assert {name: item.p99_ns for name, item in shared.degraded.latency.streams.items()} == {
        "data": 90_000_000,
        "log": 20_000_000,
    }
    assert log.degraded.latency.p99_ns == 20_000_000
    assert shared.utilization_ceiling_ratio == log.utilization_ceiling_ratio == 0.7


def test_a_preset_is_replaced_field_by_field() -> None:
    given = {"name": "log", "preset": "log", "capacity": "1 GB", "objective": {"iops": 10, "fill_limit_ratio": 0.5}}
    asked = server(given)
    found = asked.volume("log")
    assert found.objective.fill_limit_ratio == 0.5
    assert found.objective.latency.p99_ns == 5_000_000
    assert found.workload.streams[0].addresses.pattern == "sequential"
    assert len(asked.preset_notes) == len(preset("log").sources) + len(preset("log").assumptions)


def test_arrangements_are_those_asked_for() -> None:
    three = (*TWO, volume("temp"))
    apart, shared = (("data",), ("log",), ("temp",)), (("data", "log", "temp"),)
    assert server(*three).arrangements == {"apart": apart, "shared": shared}
    assert server(*three, arrangement="apart").arrangements == {"apart": apart}
    assert server(*three, arrangement="shared").arrangements == {"shared": shared}
    pairs = [["data", "temp"], "log"]
    assert server(*three, arrangement=pairs).arrangements == {
        "apart": apart,
        "shared": shared,
        "as given": (("data", "temp"), ("log",)),
    }
    assert set(server(*three, arrangement=[["temp", "data", "log"]]).arrangements) == {"apart", "shared"}


@dataclass(frozen=True)
class Crowd:
    """Queues in which a volume's latency grows with the square of the number of volumes on the array."""

    queues: Queues

    def __call__(self, array: Array, workload: Workload, *, n_requests: int, seed: int) -> Outcome:
        found = self.queues(array, workload, n_requests=n_requests, seed=seed)
        factor = max(len(workload.volumes), 1) ** 2
        longer = {
            name: {statistic: figure.scaled(factor) for statistic, figure in figures.items()}
            for name, figures in found.latency_ns.items()
        }
        return replace(found, latency_ns=longer)


@pytest.fixture(scope="module")
def crowded() -> ServerResult:
    three = volume("data", p99="120 ms"), volume("log", LOG, "60 ms"), volume("temp", p99="100 ms")
    asked = server(*three, arrangement=[["data", "temp"], ["log"]])
    return run_server(asked, evaluate=Crowd(Queues()), with_relaxations=False, with_details=False)


def test_the_fewest_disks_win_and_arrays_of_two_arrangements_are_answered_once(crowded: ServerResult) -> None:
    apart, shared, given = crowded.arrangements
    assert crowded.best is apart
    assert apart.disks == sum(array.disks for array in apart.arrays)
    assert given.array_of("log") is apart.array_of("log")
    assert not shared.is_feasible
    sharing = {item.volume: item for item in given.array_of("data").sharing}
    assert sharing["data"].ratio >= 4
    alone = run_plan(crowded.plan.plan_of(("log",)), evaluate=Crowd(Queues()), with_details=False)
    assert alone.best is not None
    assert alone.best.disks == apart.array_of("log").disks


def test_a_price_decides_where_everything_has_one() -> None:
    asked = server(*TWO, prices={"drives_usd": {"Generic 15k rpm SAS": 200}})
    found = run_server(asked, evaluate=Queues(), with_relaxations=False, with_details=False)
    assert found.minimized == "cost"
    assert found.best is not None
    assert found.best.cost_usd == 200 * (found.best.disks or 0)


def test_the_answer_is_a_line_three_reasons_and_tables(crowded: ServerResult) -> None:
    assert words.answer(crowded).startswith(f"Apart: {crowded.arrangements[0].disks} disks: data on ")
    because = words.because(crowded)
    assert 1 <= len(because) <= 3
    rows = words.rows(crowded)
    assert all(len(row) == len(words.header(crowded)) for row in rows)
    assert [row[0] for row in rows if row[0]] == ["apart", "shared", "as given"]
    assert [row[0] for row in words.latency_rows(crowded)] == ["data", "log", "temp"]
    titles = [title for title, _ in words.explained_volumes(crowded)]
    assert "log: what limits each candidate" in titles
    assert len(set(titles)) == len(titles)


def test_reports_have_the_answer_and_the_question(crowded: ServerResult, tmp_path: Path) -> None:
    page, text = server_html(crowded), server_markdown(crowded)
    assert page == server_html(crowded)
    for part in (words.answer(crowded), "Arrays", "[[volumes]]"):
        assert part in page
        assert part in text
    assert page.count("<svg") == 2
    assert len(server_csv(crowded).splitlines()) == 1 + sum(len(item.arrays) for item in crowded.arrangements)
    saved = tmp_path / "plan.toml"
    saved.write_text(short_toml(crowded.plan))
    assert ServerPlan.load(saved) == crowded.plan


def test_no_arrangement_is_an_answer_too() -> None:
    found = run_server(server(*TWO, volume("x", p99="1 us")), evaluate=Queues(), with_relaxations=False)
    assert found.best is None
    assert words.answer(found).startswith("No feasible arrangement")
    assert all("not feasible" in line for line in words.because(found))
    assert found.to_dict()["best"] is None
    assert "<svg" not in server_html(found)


def test_the_latency_of_a_volume_is_that_of_all_its_streams() -> None:
    streams = [{**DATA, "name": "a"}, {**DATA, "name": "b", "size": "64 KiB", "rate": "40/s"}]
    plan = server(volume("data", {"streams": streams}), volume("log", LOG)).plan_of(("data", "log"))
    array = Array.parse({"drive": "generic-15k", "layout": {"level": "raid10", "disks": 6}})
    outcome = Simulated()(array, plan.design_workload, n_requests=4000, seed=4)
    as_planned = plan.design_workload.at_the_end(array.usable_bytes, 4000)
    result = simulate(array, as_planned, n_requests=4000, seed=4)
    done, rows = result.run.completions, result.window.rows
    own = rows[np.isin(result.requests.stream[rows], (0, 1))]
    expected = np.quantile(done.done_ns[own] - done.issue_ns[own], 0.99)
    p99 = outcome.latency_of("p99", "data")
    assert p99 is not None
    assert p99.value == pytest.approx(expected, rel=0.02)
    assert p99 not in (outcome.latency_of("p99", "data/a"), outcome.latency_of("p99", "data/b"))


CACHED = {
    "controller": {"write_cache": {"size": "16 MiB"}},
    "search": {"requests": 30_000, "max_requests": 30_000, "max_requests_at_answer": 60_000},
}


def test_a_log_apart_needs_few_disks_although_its_requests_are_many() -> None:
    busy = {**LOG, "rate": "2000/s"}
    asked = server(volume("log", busy, "10 ms"), **CACHED)
    found = run_server(asked, with_relaxations=False, with_details=False, by_chance=False)
    (array,) = found.arrangements[0].arrays
    best = array.result.best
    assert best is not None
    assert best.rule_of_thumb_disks is not None
    assert (array.disks, best.rule_of_thumb_disks > array.disks) == (4, True)
    assert "are sequential; counted as random ones they would take" in words.because(found)[0]
    # the same requests at random places take more: what the rule of thumb counts is about them
    scattered = server(volume("log", {**busy, "addresses": {"pattern": "uniform"}}, "10 ms"), **CACHED)
    other = run_server(scattered, with_relaxations=False, with_details=False, by_chance=False)
    assert other.arrangements[0].arrays[0].disks > array.disks


@dataclass(frozen=True)
class Unaware:
    """A planner that asks each volume alone, as if its neighbors were not there."""

    def __call__(self, array: Array, workload: Workload, *, n_requests: int, seed: int) -> Outcome:
        whole = Simulated()(array, workload, n_requests=n_requests, seed=seed)
        latency = dict(whole.latency_ns)
        for name, streams in workload.volumes.items():
            alone = workload.model_copy(update={"streams": streams})
            latency[name] = Simulated()(array, alone, n_requests=n_requests, seed=seed).latency_ns[name]
        return replace(whole, latency_ns=latency)


@pytest.mark.slow
def test_an_unsafe_shared_answer_is_caught_by_a_long_run_from_another_seed() -> None:
    scan = {"size": "256 KiB", "read_ratio": 1.0, "rate": "60/s"}
    asked = server(volume("data", p99="13 ms"), volume("scan", scan, objective={}), search=CACHED["search"])
    plan = asked.plan_of(("data", "scan"))
    verdicts = {}
    for name, evaluate in (("ours", None), ("unaware", Unaware())):
        found = run_plan(plan, evaluate=evaluate, with_relaxations=False, with_details=False)
        assert found.best is not None
        verdicts[name] = checked(plan.objective, found.best.to_dict(), 60_000)
    assert verdicts["ours"].verdict == "true"
    assert verdicts["unaware"].is_unsafe
    assert "p99 of data" in verdicts["unaware"].verdict
    assert verdicts["unaware"].disks < verdicts["ours"].disks


def test_the_last_array_has_the_time_that_the_others_leave() -> None:
    """Of a server's question: an even share of what is left for each, and more in all than for one array."""
    asked = server(*TWO, arrangement="compare")
    had: dict[str, float] = {}

    def answer(one: PlanDescription) -> Any:
        account = current()
        had[one.name or ""] = account.left_s
        account.enter(0.5)
        return run_plan(one, evaluate=Queues(), with_relaxations=False, by_chance=False)

    with question(15.0) as account:
        run_server(asked, evaluate=Queues(), answer=answer)
    n = len({volumes for arrays in asked.arrangements.values() for volumes in arrays})
    assert account.budget_s == 15.0 + 5.0 * (n - 1)
    assert len(had) == n > 2
    first, *_, last = had.values()
    assert first == pytest.approx(account.budget_s / n)
    assert last == pytest.approx(account.budget_s - 0.5 * (n - 1), abs=0.2)
