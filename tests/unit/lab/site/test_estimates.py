"""Requests that the page draws have the workload's distribution, and its estimates are those of Python."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from diskmodel.engine import native
from diskmodel.engine.scenario import resolve
from diskmodel.lab.curves import figures
from diskmodel.lab.quick_interval import quick_quantile_interval
from diskmodel.lab.settings import Settings
from diskmodel.lab.site.tables import drive_tables, level_tables
from diskmodel.records import Requests, StreamRule
from diskmodel.result import summarize
from diskmodel.result.statistics.batches import mean_interval
from diskmodel.result.statistics.quantiles import quantile_interval, quantiles
from diskmodel.result.statistics.stability import judge_stability
from diskmodel.result.statistics.warmup import warm_up
from diskmodel.schema import to_kernel
from diskmodel.workload import Workload
from tests.unit.lab.site.node import in_node

_DRAW = 'async (modules, workloads) => workloads.map(([one, n, seed]) => modules["requests.js"].draw(one, n, seed))'
N = 40_000


def draws(*asked: list[Any]) -> list[dict[str, Any]]:
    """What the page draws: changes of the workload, number of requests, seed."""
    workload = {"size_bytes": 8192, "read_ratio": 0.7, "pattern": "random", "span_bytes": 1 << 40, "rate_per_s": 500}
    answers: list[dict[str, Any]] = in_node(_DRAW, [[workload | changes, n, seed] for changes, n, seed in asked])
    return answers


def test_requests_have_the_distributions_of_the_workload() -> None:
    """Each test fails once in a thousand seeds; the seed is fixed."""
    rows = draws([{}, N, 1])[0]["requests"]
    gaps = np.diff(rows["whenNs"], prepend=0.0)
    assert stats.kstest(gaps, stats.expon(scale=1e9 / 500).cdf).pvalue > 1e-3
    assert abs(np.corrcoef(gaps[1:], gaps[:-1])[0, 1]) < 3.3 / math.sqrt(N)
    places = np.array(rows["offset"]) / 8192
    n_places = (1 << 40) // 8192
    assert np.array_equal(places, places.astype(int))
    assert 0 <= places.min() < places.max() < n_places
    assert stats.kstest(places / n_places, "uniform").pvalue > 1e-3
    assert abs(np.corrcoef(places[1:], places[:-1])[0, 1]) < 3.3 / math.sqrt(N)
    writes = int(np.sum(rows["op"]))
    assert stats.binomtest(writes, N, 0.3).pvalue > 1e-3
    assert set(rows["length"]) == {8192}
    assert stats.kstest(rows["cacheDraw"], "uniform").pvalue > 1e-3


def test_sequential_requests_are_pythons_and_go_round() -> None:
    for size, span in ((65_536, 1_000_000), (3 << 10, 1 << 20)):
        rows = draws([{"pattern": "sequential", "size_bytes": size, "span_bytes": span}, 40, 1])[0]["requests"]
        workload = Workload.parse({"size_bytes": size, "addresses": {"pattern": "sequential"}, "clients": 1})
        assert rows["offset"] == workload.requests(capacity_bytes=span, n=40, seed=1).offset.tolist()


def test_a_hot_spot_takes_four_fifths_of_the_requests() -> None:
    rows = draws([{"pattern": "hot_spot", "span_bytes": 1000 * 8192}, N, 1])[0]["requests"]
    places = np.array(rows["offset"]) / 8192
    assert stats.binomtest(int((places < 200).sum()), N, 0.8).pvalue > 1e-3
    counts = np.bincount(places.astype(int), minlength=1000)
    assert len(counts) == 1000
    for part in (counts[:200], counts[200:]):
        assert stats.chisquare(part).pvalue > 1e-3


def test_a_change_leaves_all_other_draws_as_they_were() -> None:
    before, after, other = (
        answer["requests"] for answer in draws([{}, 500, 1], [{"read_ratio": 0.1}, 400, 1], [{}, 500, 2])
    )
    assert before["op"][:400] != after["op"]
    for column in ("whenNs", "offset", "length", "cacheDraw"):
        assert before[column][:400] == after[column]
    assert not set(before["whenNs"]) & set(other["whenNs"])


def test_clients_have_a_rule_instead_of_times() -> None:
    [answer] = draws([{"clients": 7}, 100, 1])
    assert answer["streams"] == [to_kernel(StreamRule("", 7))]
    assert not any(answer["requests"]["whenNs"])


def test_natural_alignment() -> None:
    sizes = {512: 512, 4096: 4096, 12_288: 4096, 1 << 20: 1 << 20, 4 << 20: 1 << 20}
    main = 'async (modules, sizes) => sizes.map(modules["requests.js"].alignment)'
    assert in_node(main, list(sizes)) == list(sizes.values())


def series() -> dict[str, list[float]]:
    """Responses as runs give them: independent, correlated, with a warm-up, constant, short."""
    rng = np.random.default_rng(5)
    noise = rng.exponential(1e7, 20_000)
    slow = np.convolve(noise, np.exp(-np.arange(400) / 100), "valid")
    return {
        "independent": np.rint(noise[:6000]).tolist(),
        "correlated": np.rint(slow[:7000]).tolist(),
        "warm-up": np.rint(noise[:3000] + 3e8 * np.exp(-np.arange(3000) / 60)).tolist(),
        "constant": [5e6] * 300,
        "short": np.rint(noise[:150]).tolist(),
        "few": [1.0, 2.0, 3.0],
    }


def test_estimates_of_a_series_are_those_of_python() -> None:
    main = """async (modules, series) => Object.fromEntries(Object.entries(series).map(([name, plain]) => {
      const s = modules["statistics.js"], values = Float64Array.from(plain);
      return [name, { mean: s.meanInterval(values), p99: s.quantile(values, 0.99), dropped: s.warmUp(values),
        ends: s.quantileInterval(values, 0.9), quick: s.quickQuantileInterval(values, 0.9) }];
    }))"""
    given = series()
    found = in_node(main, given)
    for name, answer in found.items():
        values = np.array(given[name])
        interval = mean_interval(values)
        same(answer["mean"], [interval.value, interval.low, interval.high])
        same([answer["p99"]], quantiles(values, [0.99]))
        same(answer["ends"], quantile_interval(values, 0.9))
        same(answer["quick"], quick_quantile_interval(values, 0.9))
        assert answer["dropped"] == warm_up(values)[0], name
    assert found["warm-up"]["dropped"] > 0


def same(answer: list[Any], expected: Any) -> None:
    assert np.allclose([math.nan if x == "nan" else x for x in answer], list(expected), rtol=1e-9, equal_nan=True)


def test_overload_is_judged_as_in_python() -> None:
    rng = np.random.default_rng(9)
    runs, verdicts = [], []
    for load in (0.5, 0.8, 0.9, 0.97, 1.03, 1.1, 1.3):
        for n in (150, 3_000):
            issue = np.rint(np.cumsum(rng.exponential(1e6, n)))
            done, free = [], 0.0
            for time, service in zip(issue, rng.exponential(1e6 * load, n), strict=True):
                free = max(free, time) + round(service)
                done.append(free)
            runs.append([issue.tolist(), done, issue[-1]])
            verdict = judge_stability(issue.astype(np.int64), np.array(done).astype(np.int64), int(issue[-1]))
            verdicts.append(verdict.is_stable)
    main = 'async (modules, runs) => runs.map((one) => modules["statistics.js"].isStable(...one))'
    assert in_node(main, runs) == verdicts
    assert True in verdicts
    assert False in verdicts


def test_figures_are_those_of_python_for_the_same_run() -> None:
    """The page's own requests, run by the kernel in Python, give the figures that the page shows."""
    main = """async (modules, { cases, drive, levels }, bytes) => {
      const bench = new modules["answers.js"].Bench(await modules["kernel.js"].Kernel.from(bytes), levels);
      bench.add(drive);
      return cases.map(([settings, load, n, span]) => ({ point: bench.point(settings, load, n),
        drawn: modules["requests.js"].draw({ ...settings, span_bytes: span,
          ...(settings.arrivals === "rate" ? { rate_per_s: load } : { clients: load }) }, n, settings.seed) }));
    }"""
    cases = [
        Settings(arrivals="rate", rate_per_s=300.0, drive_write_cache="off"),
        Settings(arrivals="rate", rate_per_s=3000.0, drive_write_cache="off"),
        Settings(outstanding=24, level="raid10", has_failed_disk=True, drive_write_cache="off"),
        Settings(outstanding=1, level="jbod", disks=1, scheduler="look", read_hit_ratio=0.5, drive_write_cache="off"),
    ]
    given = [[s.to_dict(), s.chosen_load, 4_000, s.array().usable_bytes] for s in cases]
    found = in_node(
        main, {"cases": given, "drive": drive_tables(Settings().drive), "levels": level_tables()}, with_kernel=True
    )
    for settings, answer in zip(cases, found, strict=True):
        rows = {key: np.array(values) for key, values in answer["drawn"]["requests"].items() if key != "n"}
        [rule] = answer["drawn"]["streams"]
        requests = Requests(
            when_ns=rows["whenNs"].astype(np.int64),
            op=rows["op"].astype(np.uint8),
            offset=rows["offset"].astype(np.int64),
            length=rows["length"].astype(np.int64),
            stream=rows["stream"].astype(np.int32),
            cache_draw=rows["cacheDraw"],
            streams=(StreamRule("", rule["n_clients"], rule["pace_ns"]),),
        )
        array = settings.array()
        run = native.run(resolve(array, settings.seed), requests)
        expected = figures(summarize(requests, run, n_disks=array.n_devices, precision=0.05))
        point = answer["point"]
        for key in ("n_requests", "stable"):
            assert point[key] == expected[key], (settings, key)
        for key in ("iops", "mean_ms", "p99_ms"):
            assert point[key] == pytest.approx(expected[key], rel=1e-9), (settings, key)
        for key in ("utilization_ratio", "back_end_per_host"):
            assert point[key] == pytest.approx(expected[key], rel=1e-12)
        assert point["breakdown_ms"] == pytest.approx(expected["breakdown_ms"], rel=1e-9)
    assert [a["point"]["stable"] for a in found] == [True, False, True, True]
