"""Curves of the lab: what is simulated, and that its figures are those of a simulation."""

import pytest

from diskmodel.engine.simulate import simulate
from diskmodel.lab.curves import answer, ask, figures, point
from diskmodel.lab.settings import LEVELS, Settings


def test_a_point_is_a_run_of_the_settings() -> None:
    settings = Settings.parse({"level": "raid10", "read_ratio": 0.5, "outstanding": 4})
    question = ask(settings, "quick")
    run = simulate(settings.array(), settings.workload(), seed=settings.seed, n_requests=question.n_requests)
    found = point(question, 4.0)
    assert found["iops"] == [run.run_iops.value, run.run_iops.low, run.run_iops.high]
    assert found["p99_ms"][0] == run.latency.quantiles_ns["p99"] / 1e6


@pytest.mark.parametrize("stage", ["quick", "refined"])
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("read_ratio", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("size_bytes", [4096, 1 << 20])
def test_a_curve_keeps_to_its_budget_of_disk_commands(
    stage: str, level: str, read_ratio: float, size_bytes: int
) -> None:
    settings = Settings.parse({"level": level, "read_ratio": read_ratio, "disks": 8, "size_bytes": size_bytes})
    question = ask(settings, stage)  # type: ignore[arg-type]
    penalty = {"jbod": 1, "raid0": 1, "raid5": 4, "raid50": 4, "raid6": 6, "raid60": 6, "raid1": 8}.get(level, 2)
    commands = question.n_requests * len(question.loads) * (read_ratio + (1 - read_ratio) * penalty)
    assert commands <= {"quick": 45_000, "refined": 1_200_000}[stage]
    assert question.n_requests >= 60


def test_the_grid_of_rates_reaches_from_idle_to_overload() -> None:
    question = ask(Settings.parse({"arrivals": "rate", "rate_per_s": 300}), "quick")
    points = [point(question, load) for load in question.loads]
    assert 300 in question.loads
    assert points[0]["utilization_ratio"] < 0.3
    assert points[-1]["utilization_ratio"] > 0.85
    rates = [p["iops"][0] for p in points if p["stable"]]
    assert rates == sorted(rates)


def test_more_writes_cost_raid5_more_iops() -> None:
    reads, writes = (Settings.parse({"read_ratio": ratio}) for ratio in (1.0, 0.0))
    answers = [answer(q := ask(s, "quick"), [point(q, load) for load in q.loads]) for s in (reads, writes)]
    assert answers[0]["chosen"]["iops"][0] > 2 * answers[1]["chosen"]["iops"][0]
    assert answers[0]["calculator"]["iops"] == pytest.approx(4 * answers[1]["calculator"]["iops"])


def test_room_above_the_stationary_level_absorbs_a_burst() -> None:
    light = ask(Settings.parse({"write_cache_bytes": 1 << 30, "arrivals": "rate", "rate_per_s": 100}), "quick")
    assert point(light, 100.0)["absorbed_writes"] > 1000
    without = ask(Settings.parse({"arrivals": "rate", "rate_per_s": 100}), "quick")
    assert point(without, 100.0)["absorbed_writes"] == 0


def test_a_short_run_still_has_an_interval_of_its_percentile() -> None:
    settings = Settings()
    run = simulate(settings.array(), settings.workload(), seed=1, n_requests=3000)
    value, low, high = figures(run)["p99_ms"]
    assert low < value < high
    assert figures(simulate(settings.array(), settings.workload(), seed=1, n_requests=300))["p99_ms"][1:] == [
        None,
        None,
    ]
