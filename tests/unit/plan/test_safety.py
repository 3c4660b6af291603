"""What a plan says of an array with a disk failed."""

import math
import re

import pytest

from diskmodel.array import Array
from diskmodel.plan import PlanDescription, run_plan
from diskmodel.plan.answer.outcome import Outcome
from diskmodel.plan.answer.safety import Safety
from diskmodel.plan.show.cautions import cautions, long_rebuild
from diskmodel.plan.show.words import because, explained, warning
from diskmodel.plan.trial.beside_rebuild import beside_rebuild
from diskmodel.result import Interval
from diskmodel.workload import Workload


@pytest.mark.parametrize(
    ("hours", "loss", "warning"),
    [
        (10.0, 0.001, ""),
        (math.nan, 0.001, ""),
        (
            10.0,
            0.01002,
            "this array loses data with a probability of a little more than 0.01 a year, above the limit of 0.01",
        ),
        (10.0, 0.02, "this array loses data with a probability of 0.02 a year, above the limit of 0.01"),
        (math.inf, 0.001, "with a disk failed, the rebuild of this array does not end beside the whole load"),
    ],
)
def test_an_array_is_safe_if_it_is_rebuilt_and_seldom_loses_data(hours: float, loss: float, warning: str) -> None:
    safety = Safety(None, None, hours, loss, 0.01)
    assert (safety.is_safe, safety.warning) == (not warning, warning)


@pytest.mark.parametrize(
    ("done", "offered", "words"),
    [
        (0.0, 500.0, "no request completes while it runs"),
        (412.34, math.nan, "it completes 412 requests/s"),
        (412.34, 1500.0, "it completes 412 of 1,500 requests/s"),
        (20.21, 20.0, "at 20 requests/s the queue grows without end"),
    ],
)
def test_a_rebuild_that_overloads_the_array_is_named(done: float, offered: float, words: str) -> None:
    rate = Interval.exact(done)
    rebuilding = Outcome(False, rate, rate, {"": {}}, 1.0, rebuilt_bytes_per_s=50e6)
    safety = Safety(rebuilding, rebuilding, math.inf, 0.001, 0.01, offered_per_s=offered)
    assert not safety.is_safe
    assert safety.warning == f"with a disk failed, this array cannot serve the whole load during the rebuild: {words}"


def _starving(**more: object) -> PlanDescription:
    """A plan whose rebuild goes before every request: the sweep of the arm finds its next step first."""
    fast = {"speed_min": "1000000 GB/s", "speed_max": "1000000 GB/s", "steps_at_once": 4, "window": "64 MiB"}
    return PlanDescription.parse(
        {
            "workload": {"streams": [{"size": "4 KiB", "clients": 4}]},
            "objective": {"iops": 30, "capacity": "100 GB"},
            "candidates": {"drives": ["generic-15k"], "levels": ["raid5"], "max_disks": 3, "rebuild": fast},
            "queue": {"scheduler": "look", "drive_depth": 1, "merge": False},
            **more,
        }
    )


def test_a_plan_whose_rebuild_starves_requests_is_answered_with_a_warning() -> None:
    result = run_plan(_starving(), with_details=False)
    assert result.best is not None
    assert result.best.disks == 3
    assert "cannot serve the whole load during the rebuild: no request completes" in warning(result)
    assert "Lower rebuild.speed_min" in warning(result)
    assert "during its rebuild overloaded; the chance" in because(result)[-1]


def test_a_rebuild_that_starves_requests_misses_a_limit_of_rebuild_hours() -> None:
    objective = {"iops": 30, "capacity": "100 GB", "rebuild_hours": 1000}
    result = run_plan(_starving(objective=objective), with_details=False)
    assert result.best is None
    assert "rebuild" in result.reason


def test_beside_a_rebuild_the_hardest_time_counts_for_latency_and_half_way_for_hours() -> None:
    def at(done_ratio: float, rate: float, p99_ms: float, *, is_stable: bool = True) -> Outcome:
        latency = {"": {"p99": Interval.exact(p99_ms * 1e6)}} if is_stable else {"": {}}
        by_done[done_ratio] = Outcome(
            is_stable, Interval.exact(rate), Interval.exact(rate), latency, 0.5, rebuilt_bytes_per_s=rate
        )
        return by_done[done_ratio]

    def evaluate(array: Array, workload: Workload, *, n_requests: int, seed: int) -> Outcome:
        assert array.layout.rebuild is not None
        return by_done[array.layout.rebuild.done_ratio]

    by_done: dict[float, Outcome] = {}
    halfway = Array.parse(
        {
            "drive": "generic-15k",
            "layout": {"level": "raid5", "disks": 5, "failed": [0], "spares": 1, "rebuild": {"done_ratio": 0.5}},
        }
    )
    load = Workload.parse({"size": "8 KiB", "rate": "100/s"})
    for first in (at(0.0, 30e6, 90.0), at(0.0, 30e6, 10.0), at(0.0, 30e6, 0.0, is_stable=False)):
        middle = at(0.5, 20e6, 50.0)
        by_done[0.0] = first
        runs = beside_rebuild(evaluate, halfway, load, n_requests=1000, seed=0)
        assert runs[0] is middle
        assert runs[1] is (middle if first.is_stable and first.latency_ns[""]["p99"].value < 50e6 else first)


def test_data_that_are_not_rebuilt_yet_are_slower_than_without_a_rebuild() -> None:
    """Half-way through, the outer part of the disks, where the data are, is whole again."""
    candidates = {"drives": ["generic-7k2"], "levels": ["raid5"], "disks": [11]}
    asked = {
        "workload": {"size": "8 KiB", "read_ratio": 0.8, "rate": "400/s"},
        "objective": {"latency": {"p99": "60 ms"}, "capacity": "1 TB"},
        "candidates": candidates,
    }
    best = run_plan(PlanDescription.parse(asked), with_details=False).best
    assert best is not None
    assert best.safety is not None
    degraded, rebuilding = (best.safety.p99_ms(item) for item in (best.safety.degraded, best.safety.rebuilding))
    assert degraded is not None
    assert rebuilding is not None
    assert rebuilding > 1.2 * degraded


@pytest.mark.parametrize(
    ("level", "disks", "risk"),
    [
        ("raid5", 4, "a second failed disk may lose data"),
        ("raid10", 4, "a second failed disk may lose data"),
        ("raid6", 6, "the array survives only 1 more failed disk"),
        ("raid1", 4, "the array survives only 2 more failed disks"),
    ],
)
def test_a_rebuild_of_weeks_is_explained(level: str, disks: int, risk: str) -> None:
    array = Array.parse({"drive": "generic-7k2", "layout": {"level": level, "disks": disks}})
    capacity = array.drive.capacity_bytes
    said = long_rebuild(array, 500.0, 3.0)
    assert said == (
        f"a rebuild takes 500 hours (21 days), and until then {risk}: the disks hold 1 TB each and are rebuilt at "
        f"{capacity / 500 / 3600 / 1e6:.3g} MB/s beside the load (without it in 3 hours)"
    )
    assert "beside the load" not in long_rebuild(array, 500.0, 400.0)
    assert long_rebuild(array, 167.0) == long_rebuild(array, math.inf) == long_rebuild(array, math.nan) == ""


def test_a_plan_says_what_shortens_a_rebuild_of_weeks() -> None:
    asked = {
        "workload": {"size": "8 KiB", "read_ratio": 0.7, "rate": "1500/s"},
        "objective": {"latency": {"p99": "100 ms"}, "capacity": "40 TB"},
        "candidates": {"drives": ["toshiba-mg08aca16te"], "levels": ["raid10"], "max_disks": 16},
    }
    result = run_plan(PlanDescription.parse(asked), with_details=False)
    (said,) = [line for line in cautions(result) if "rebuild" in line]
    assert "days), and until then a second failed disk may lose data" in said
    assert 'set rebuild = { speed_min = "30 MB/s" } in [candidates]: about 148 hours' in said
    asked["candidates"] |= {"rebuild": {"speed_min": "30 MB/s"}}  # type: ignore[operator]
    faster = run_plan(PlanDescription.parse(asked), with_details=False)
    assert faster.best is not None
    assert faster.best.safety is not None
    assert faster.best.safety.rebuild_hours == pytest.approx(148, rel=0.05)
    assert not [line for line in cautions(faster) if "rebuild" in line]


def _of_archives(reads: float, rate: int, p99: str, drive: str = "seagate-archive-st8000as0002") -> PlanDescription:
    return PlanDescription.parse(
        {
            "workload": {"size": "8 KiB", "read_ratio": reads, "rate": f"{rate}/s"},
            "objective": {"latency": {"p99": p99}, "capacity": "10 TB"},
            "candidates": {"drives": [drive], "levels": ["raid10"], "min_disks": 4, "max_disks": 4},
            "search": {"requests": 1000, "max_requests": 1000},
        }
    )


def test_shingled_recording_is_named_where_it_is_the_reason() -> None:
    result = run_plan(_of_archives(0.3, 25, "200 ms"), with_details=False, with_relaxations=False)
    assert result.best is None
    (said,) = because(result)
    assert "These drives record in shingled tracks (SMR): random writes fill their media cache" in said
    assert "with conventional recording 4 disks would do 2" in said
    assert "shingled tracks (SMR)" in " ".join(dict(explained(result))["What limits each candidate"])


@pytest.mark.parametrize(
    "plan",
    [_of_archives(1.0, 25, "1 ms"), _of_archives(0.3, 25, "1 ms", "toshiba-mg08aca16te")],
    ids=["reads", "usual"],
)
def test_shingled_recording_is_not_named_where_it_matters_not(plan: PlanDescription) -> None:
    result = run_plan(plan, with_details=False, with_relaxations=False)
    assert result.best is None
    assert "shingled" not in " ".join(because(result))


@pytest.mark.parametrize(("drive", "speed"), [("toshiba-mg08aca16te", "30 MB/s"), ("seagate-exos-m-30", "60 MB/s")])
def test_the_proposed_speed_of_a_rebuild_ends_within_a_week(drive: str, speed: str) -> None:
    asked = {
        "workload": {"size": "8 KiB", "read_ratio": 0.7, "rate": "600/s"},
        "objective": {"latency": {"p99": "200 ms"}, "capacity": "40 TB"},
        "candidates": {"drives": [drive], "levels": ["raid10"], "min_disks": 8, "max_disks": 8},
    }
    result = run_plan(PlanDescription.parse(asked), with_details=False)
    (said,) = [line for line in cautions(result) if "rebuild" in line]
    assert f'speed_min = "{speed}"' in said
    (hours,) = re.findall(r"about (\d+) hours", said)
    assert int(hours) < 168
