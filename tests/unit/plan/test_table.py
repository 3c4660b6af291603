"""What a terminal of 80 characters shows."""

from __future__ import annotations

import io
import math
import re
from dataclasses import replace

import pytest
from rich.console import Console

from diskmodel.array import Array
from diskmodel.controller.description import Controller
from diskmodel.drive import Hdd, load_drive
from diskmodel.engine.simulate import simulate
from diskmodel.plan import compare, run_plan
from diskmodel.plan.answer.comparison import Difference
from diskmodel.plan.answer.outcome import Outcome
from diskmodel.plan.answer.profile_risk import ProfileRisk
from diskmodel.plan.comparison.compare import _is_better
from diskmodel.plan.show.candidates import chance_words, duration
from diskmodel.plan.show.cautions import cautions
from diskmodel.plan.show.table import _difference, explanation
from diskmodel.plan.show.words import MAX_REASONS, because, explained
from diskmodel.result.statistics.batches import Interval
from diskmodel.units import in_digits
from diskmodel.workload import Workload
from tests.unit.plan.fakes import Queues, plan_of

#: A host whose processors are described.
_BUSY = {"submission": "10 us", "processors": 8}


def text_of(item: object) -> str:
    console = Console(file=io.StringIO(), width=80, color_system=None)
    console.print(item)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_answer_first_and_a_line_for_each_candidate() -> None:
    result = run_plan(plan_of(), evaluate=Queues(noise=0.01))
    lines = text_of(result).splitlines()
    assert result.best is not None
    assert lines[0].strip().startswith(f"{result.best.disks} disks of Generic 15k rpm SAS in RAID")
    rows = [line for line in lines if re.match(r" *Generic 15k rpm SAS +raid", line)]
    assert len(rows) == len(result.candidates)
    for row, candidate in zip(rows, result.candidates, strict=True):
        assert str(candidate.disks) in row.split()
        assert str(candidate.rule_of_thumb_disks) in row.split()
        assert candidate.binds in row


def test_strips_are_shown_where_they_differ() -> None:
    wanted = {"drives": ["generic-15k"], "levels": ["raid10"], "strips": ["64 KiB", "256 KiB"], "max_disks": 40}
    wanted["strip_bytes"] = wanted.pop("strips")
    text = text_of(run_plan(plan_of(candidates=wanted), evaluate=Queues()))
    assert "64 KiB" in text
    assert "256 KiB" in text


def test_the_rule_of_thumb_has_no_count_beyond_the_most_disks() -> None:
    """2 PB are 13,000 disks in RAID 10, not one more than the 64 that the plan allows."""
    plan = plan_of(
        objective={"iops": 500, "capacity": "2 PB"},
        candidates={"drives": ["generic-15k"], "levels": ["raid10"], "max_disks": 64},
    )
    text = text_of(run_plan(plan, evaluate=Queues()))
    assert "> 64" in text
    assert " 65 " not in text


def test_parity_groups_of_a_limited_width_are_explained() -> None:
    wanted = {"drives": ["generic-15k"], "levels": ["raid5"], "max_disks": 64, "max_group_width": 14}
    plan = plan_of(objective={"iops": 2500}, candidates=wanted)
    text = text_of(run_plan(plan, evaluate=Queues()))
    assert re.search(r"raid50 +\d", text)
    assert "raid50 is raid5 in groups of at most 14 disks: in a wider one" in " ".join(text.split())


def test_too_few_disks_for_the_level_are_named() -> None:
    plan = plan_of(candidates={"drives": ["generic-15k"], "levels": ["raid10"], "max_disks": 2})
    text = text_of(run_plan(plan, evaluate=Queues()))
    said = " ".join(text.split())
    assert "RAID 10 cannot have any of the numbers of disks in the plan (1 to 2): disks=2: raid10 needs" in said


def test_not_feasible_is_said() -> None:
    text = text_of(run_plan(plan_of(objective={"latency": {"p99": "2 ms"}}), evaluate=Queues()))
    assert text.startswith("No feasible array")
    assert "not feasible" in text


def test_how_many_disks_were_tried_is_said_where_more_might_do() -> None:
    drives = {"drives": ["generic-15k"], "levels": ["raid10"]}
    hint = "Arrays of up to 64 disks were tried; max_disks (--max-disks) allows more."
    more_data = run_plan(plan_of(objective={"capacity": "900 TB"}, candidates=drives), evaluate=Queues())
    assert hint in because(more_data)
    # an idle array of any number of disks takes longer
    too_fast = run_plan(plan_of(objective={"latency": {"p99": "2 ms"}}, candidates=drives), evaluate=Queues())
    assert hint not in because(too_fast)
    limited = plan_of(objective={"capacity": "900 TB"}, candidates=drives | {"max_disks": 64})
    assert hint not in because(run_plan(limited, evaluate=Queues()))


def test_three_reasons_at_most_and_the_rest_on_request() -> None:
    result = run_plan(plan_of(), evaluate=Queues(noise=0.01), with_waterfalls=True)
    assert len(because(result)) <= MAX_REASONS
    answered = text_of(result)
    assert "Assumptions" not in answered
    rest = text_of(explanation(result))
    for title in ("rule of thumb", "What limits each candidate", "Assumptions", "Drive profiles"):
        assert title in rest
    lines = [line for line in rest.splitlines() if line.strip()]
    sentences = [line for _, items in explained(result) for line in items]
    assert len(sentences) == len(set(sentences))
    assert all(len(line) <= 80 for line in lines)
    no = run_plan(plan_of(objective={"latency": {"p99": "2 ms"}}), evaluate=Queues())
    assert 1 <= len(because(no)) <= MAX_REASONS


def test_a_line_that_wraps_keeps_its_indent() -> None:
    text = text_of(run_plan(plan_of(), evaluate=Queues(noise=0.01)))
    reasons = text[: text.index(" drive ")].splitlines()[1:-3]
    assert reasons
    assert all(line.startswith("  ") for line in reasons)


def test_sources_of_a_preset_are_printed_with_the_explanation() -> None:
    result = run_plan(plan_of(notes=["preset x, source: a paper"]), evaluate=Queues())
    assert "preset x" not in text_of(result)
    assert dict(explained(result))["The question"] == ["preset x, source: a paper"]


def test_comparison() -> None:
    arrays = [
        Array.parse({"drive": "generic-15k", "layout": {"level": level, "disks": 6}}) for level in ("raid5", "raid10")
    ]
    load = Workload.parse({"size": "8 KiB", "read_ratio": 0.7, "rate": "600/s"})
    text = text_of(compare(arrays, load, evaluate=Queues(noise=0.01), growth_ratio=0.2))
    assert "p99 ms, one disk failed" in text
    assert "overloaded" in text  # RAID 5 with a disk less cannot hold it
    assert "months of growth" in text
    assert "highest IOPS" in text
    assert "chance of loss a year" in text
    assert "MB/s" not in text  # nobody asks it of requests of 8 KiB
    assert "by rule of thumb" in " ".join(text.split())
    assert text.count("compared with") == 1  # the statistics of a pair are one sentence


@pytest.mark.parametrize(
    ("statistic", "n_better", "ends", "said"),
    [
        ("mean", 16, (0.5, 0.4, 0.625), "mean latency shorter in 16 of 16 draws, 1.6 to 2.5 times"),
        ("p99", 1, (1.5, 0.9, 1.8), "p99 latency longer in 15 of 16 draws, 0.9 to 1.8 times, not certain"),
        ("iops", 16, (2.0, 1.9, 2.6), "IOPS more in 16 of 16 draws, 1.9 to 2.6 times"),
        ("most", 15, (1.2, 0.9, 1.6), "highest IOPS more in 15 of 16 draws, 0.9 to 1.6 times, not certain"),
        ("mean", 0, (2.0, 1.5, math.inf), "mean latency longer in 16 of 16 draws, 1.5 times or more"),
    ],
)
def test_a_difference_is_in_how_many_draws(
    statistic: str, n_better: int, ends: tuple[float, float, float], said: str
) -> None:
    found = Interval(*(end - 1 for end in ends))
    is_significant = found.low > 0 or found.high < 0
    difference = Difference("a", "b", statistic, found, is_significant, 16, n_better, Interval(*ends))
    assert _difference(difference) == said


@pytest.mark.parametrize(
    ("figures", "statistic", "is_better"),
    [
        ((1.0, 1.0), "mean", True),
        ((1.0, 2.5), "mean", False),
        ((1.0, 2.5), "iops", True),
        ((math.nan, 2.5), "mean", True),  # the first is overloaded
        ((1.0, math.nan), "mean", False),
        ((math.nan, math.nan), "mean", False),
    ],
)
def test_the_better_of_a_pair(figures: tuple[float, float], statistic: str, is_better: bool) -> None:
    """As described the second has half the latency, or half the rate, of the first."""
    assert _is_better(*figures, 0.5, statistic) == is_better


def test_a_plan_says_its_chance_in_the_line_below_the_answer() -> None:
    result = run_plan(plan_of(), evaluate=Queues(noise=0.01))
    risk = ProfileRisk(10, ("seeks",), n_draws=16, n_holding=15, failing={}, figures={})
    second = text_of(replace(result, profile_risk=risk)).splitlines()[1]
    assert second.strip() == "Chance of meeting the objective: 94 % (90 % needed)."
    nominal = text_of(replace(result, profile_risk=None, by_chance=False)).splitlines()[1]
    assert nominal.strip().startswith("As everything is described: no chance was asked for")


def test_a_cache_absorbs_a_burst_above_its_mark() -> None:
    """Half of 4 MiB is 256 writes of 8 KiB; what is being destaged takes a few of them."""
    cached = {"write_cache": {"size": "4 MiB", "line_bytes": 4096}}
    array = Array.parse(
        {
            "drive": "generic-10k",
            "layout": {"level": "raid5", "disks": 5},
            "controller": cached,
        }
    )
    workload = Workload.parse({"size": "8 KiB", "read_ratio": 0.5, "rate": "100/s"})
    found = compare([array, array.model_copy(update={"controller": Controller()})], workload, n_requests=4000)
    with_cache, without = (item.healthy for item in found.arrays)
    assert 240 <= with_cache.burst_requests <= 256
    assert with_cache.burst_latency_ms == 0.03
    assert math.isnan(without.burst_requests)
    shown = text_of(found)
    assert "burst absorbed, writes" in shown


@pytest.mark.parametrize("width", [30, 40, 60])
def test_a_narrow_terminal_cuts_no_name(width: int) -> None:
    result = run_plan(plan_of(), evaluate=Queues())
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(result)
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert "…" not in text
    words = text.split()
    for candidate in result.candidates:
        assert f"{candidate.level}" in words
        assert str(candidate.disks) in text


def test_runs_without_a_steady_state_are_marked() -> None:
    arrays = [Array.parse({"drive": "generic-15k", "layout": {"level": "raid10", "disks": n}}) for n in (4, 8)]
    load = Workload.parse({"size": "8 KiB", "read_ratio": 0.5, "rate": "300/s"})
    settled = compare(arrays, load, evaluate=Queues())
    assert "*" not in text_of(settled)
    first = replace(settled.arrays[0], healthy=replace(settled.arrays[0].healthy, is_settled=False))
    text = text_of(replace(settled, arrays=(first, settled.arrays[1])))
    (mean,) = [line for line in text.splitlines() if line.startswith(" mean ms  ")]
    cells = mean.removeprefix(" mean ms ").split(" ± ")
    assert cells[0].strip().endswith("*")
    assert "*" not in cells[1]
    assert "*: the run did not reach a steady state" in text


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (5284.3, 3, "5,284"),
        (999.6, 3, "1,000"),
        (999.4, 3, "999"),
        (1.234, 3, "1.23"),
        (105.6, 2, "106"),
        (12340, 4, "12,340"),
    ],
)
def test_large_figures_have_no_exponent(value: float, digits: int, text: str) -> None:
    assert in_digits(value, digits) == text


@pytest.mark.parametrize(
    ("rate", "host", "is_named"), [(90_000, {}, True), (50_000, {}, False), (90_000, _BUSY, False)]
)
def test_processors_that_are_left_out_are_named(rate: int, host: dict[str, object], is_named: bool) -> None:
    plan = plan_of(
        workload={"size": "4 KiB", "read_ratio": 1.0, "rate": f"{rate}/s"},
        candidates={"drives": ["generic-15k"], "levels": ["raid10"], "disks": [64, 2000]},
        **({"host": host} if host else {}),
    )
    result = run_plan(plan, evaluate=Queues())
    assert result.best is not None
    assert ("more than one of the host's processors" in text_of(result)) == is_named


@pytest.mark.parametrize(("drive", "is_named"), [("intel-d3-s4510-960", True), ("generic-15k", False)])
def test_flash_that_is_written_much_says_how_much(drive: str, is_named: bool) -> None:
    """A write to RAID 1 goes to both disks: 100 of 64 KiB a second are 0.57 TB a day, 0.59 times 960 GB."""
    load = {"size": "64 KiB", "read_ratio": 0.0, "rate": "100/s"}
    result = run_plan(plan_of(workload=load, candidates={"drives": [drive], "levels": ["raid1"]}), by_chance=False)
    array = Array.parse({"drive": drive, "layout": {"level": "raid1", "disks": 2}})
    compared = text_of(compare([array], Workload.parse(load), n_requests=2000, n_draws=0))
    for text in (text_of(result), compared):
        found = re.search(
            r"each disk is written (\S+) TB a day at this load, (\S+) times its size", " ".join(text.split())
        )
        assert (found is not None) == is_named
        if found:
            assert (float(found[1]), float(found[2])) == pytest.approx((0.566, 0.59), rel=0.1)


@pytest.mark.parametrize(("room", "is_named"), [(0, True), (20_000, False), (math.nan, False)])
def test_a_plan_says_where_writes_wait_for_room_in_a_single_disk(room: float, is_named: bool) -> None:
    queues = Queues()

    def evaluate(array: Array, workload: Workload, *, n_requests: int, seed: int) -> Outcome:
        return replace(queues(array, workload, n_requests=n_requests, seed=seed), burst_requests=room)

    asked = {"drives": ["generic-7k2"], "levels": ["raid0"], "min_disks": 1, "max_disks": 1}
    load = {"size": "4 KiB", "read_ratio": 0, "rate": "10/s"}
    plan = plan_of(candidates=asked, workload=load, objective={"latency": {"p99": "200 ms"}})
    result = run_plan(plan, evaluate=evaluate)
    assert result.best is not None
    assert result.best.disks == 1
    said = [line for line in cautions(result) if "own cache is full" in line]
    assert len(said) == is_named
    assert all(line.endswith("measure one, or plan with a reserve.") for line in said)


def test_a_profile_that_did_not_converge_is_named_first() -> None:
    drive = load_drive("generic-15k")
    doubted = drive.model_copy(update={"provenance": {"not_converged": "random writes, rate +1284%"}})
    asked = {"drives": [doubted], "levels": ["raid10"], "max_disks": 40}
    result = run_plan(plan_of(candidates=asked), evaluate=Queues(noise=0.01))
    assert cautions(result)[0].startswith(f"Caution: the profile of {drive.name} does not describe the drive")
    assert "rate +1284%" in cautions(result)[0]
    layout = {"level": "raid10", "disks": 4}
    arrays = [Array.parse({"drive": item, "layout": layout}) for item in (doubted, drive)]
    load = Workload.parse({"size": "8 KiB", "read_ratio": 0.7, "rate": "100/s"})
    text = " ".join(text_of(compare(arrays, load, n_requests=500)).split())
    assert text.count("does not describe the drive that was measured") == 1
    run = simulate(arrays[0], load, n_requests=500, profile_draws=0)
    assert run.messages[0] == doubted.doubt


def test_plan_and_compare_say_what_a_bitmap_of_mirrors_costs_beyond_the_simulation() -> None:
    asked = {"drives": ["generic-15k"], "levels": ["raid10"], "max_disks": 40}
    plan = plan_of(candidates=asked, layout={"bitmap": {}})
    said = [line for line in cautions(run_plan(plan, evaluate=Queues())) if "waits for the bitmap" in line]
    assert len(said) == 1
    layout = {"level": "raid10", "disks": 4, "bitmap": {}}
    arrays = [Array.parse({"drive": name, "layout": layout}) for name in ("generic-15k", "generic-10k")]
    assert text_of(compare(arrays, plan.workload, n_requests=400)).count("waits for the bitmap") == 1


def test_plan_and_compare_name_an_order_that_only_single_requests_stand_behind() -> None:
    drive = load_drive("generic-15k")
    single = Hdd.parse(drive.to_dict() | {"name": "traced", "queue": {"assumed_from": "one-at-a-time"}})
    plan = plan_of(candidates={"drives": [single], "levels": ["raid10"], "max_disks": 40})
    assert any(
        "how traced orders queued commands is assumed" in line for line in cautions(run_plan(plan, evaluate=Queues()))
    )
    layout = {"level": "raid10", "disks": 4}
    arrays = [Array.parse({"drive": item, "layout": layout}) for item in (single, drive)]
    text = " ".join(text_of(compare(arrays, plan.workload, n_requests=400)).split())
    assert text.count("orders queued commands is assumed: it takes one at a time") == 1


@pytest.mark.parametrize(("hours", "text"), [(16.2, "16.2 h"), (48, "48 h"), (60, "2.5 days"), (1000, "41.7 days")])
def test_lengths_of_rebuilds(hours: float, text: str) -> None:
    assert duration(hours) == text


@pytest.mark.parametrize(
    ("chance", "text"),
    [
        (1 / 9_012, "1 in 9,000 a year"),
        (0.013, "1 in 77 a year"),
        (0.95, "almost certain within a year"),
        (1e-12, "less than 1 in a billion a year"),
        (0.0, "less than 1 in a billion a year"),
    ],
)
def test_chances_of_data_loss(chance: float, text: str) -> None:
    assert chance_words(chance) == text
