"""Options of questions: each is declared once, and its value is one of the field that it sets."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from diskmodel.array import Array
from diskmodel.cli.shared.inputs import with_options
from diskmodel.errors import DescriptionError
from diskmodel.options import ARRAY, GROUPS, OF_A_PLAN, QUESTION, SEARCH, STREAM, Option, parse_options
from diskmodel.plan.question.options import plan_from, plan_options
from tests.unit.cli.commands import answer, refusal, run, write

LINE = {"iops": "300", "reads": "70%", "block": "8k", "capacity": "500GB", "p99": "60ms", "drive": ["generic-15k"]}


def test_an_option_is_one_declaration(monkeypatch: pytest.MonkeyPatch) -> None:
    spares = Option("--hot-spares", "Hot spares.", plan="candidates.spares", kind="count")
    hours = Option("--rebuild-hours", "Longest rebuild.", plan="objective.rebuild_hours")
    declared = {**OF_A_PLAN, spares.key: spares, hours.key: hours}
    monkeypatch.setattr("diskmodel.plan.question.options.OF_A_PLAN", declared)
    plan, _ = plan_from(plan_options({**LINE, "hot_spares": 2, "rebuild_hours": "12"}))
    assert (plan.candidates.spares, plan.objective.rebuild_hours) == (2, 12.0)
    with pytest.raises(DescriptionError, match="--rebuild-hours='0': must be above 0"):
        plan_options({**LINE, "rebuild_hours": "0"})
    with pytest.raises(DescriptionError, match="--hot-spares=-1: must be at least 0"):
        plan_options({**LINE, "hot_spares": -1})


def test_the_strip_of_a_plan_is_asked_and_named(tmp_path: Path) -> None:
    text = 'drive = "generic-15k"\n[layout]\nlevel = "raid5"\ndisks = 6\nstrip = "128 KiB"\n'
    array = Array.load(write(tmp_path / "array.toml", text))
    plan, notes = plan_from(plan_options({**LINE, "strip": "256KiB"}), array=array)
    assert plan.candidates.strip_bytes == (256 << 10,)
    assert [note for note in notes if "128 KiB" in note] == ["--strip: 256 KiB replaces 128 KiB of the array"]


def of_array(**given: Any) -> Mapping[str, Any]:
    return parse_options(given, ARRAY, {"array": Array})


def test_a_cache_is_a_size_or_none() -> None:
    assert of_array(write_cache="0", read_cache="1GiB", strip=None) == {"write_cache": 0, "read_cache": 1 << 30}
    with pytest.raises(DescriptionError, match="--read-cache='1': has no unit"):
        of_array(read_cache="1")


LOAD = ("--iops", 200, "--reads", "50%", "--block", "8k", "--requests", 500, "--drive", "generic-15k")


def test_options_replace_fields_of_an_array(tmp_path: Path) -> None:
    controller = '[controller]\nwrite_cache = { size = "64 MiB" }\nread_cache = { hit_ratio = 0.3 }\n'
    text = 'drive = "generic-10k"\n[layout]\nlevel = "raid5"\ndisks = 4\n'
    array = write(tmp_path / "array.toml", text + controller)
    plain = write(tmp_path / "plain.toml", text.replace("disks", 'strip = "256 KiB"\ndisks'))
    changed = answer("simulate", array, *LOAD, "--write-cache", 0, "--read-cache", "0", "--strip", "256KiB")
    same = answer("simulate", plain, *LOAD)
    cached = answer("simulate", array, *LOAD)
    for key in ("iops", "latency_ms", "back_end_per_host"):
        assert changed[key] == same[key] != cached[key]


def test_options_that_do_not_fit_an_array_are_refused() -> None:
    one, other = "4x generic-15k raid10", "4x generic-15k raid5"
    assert "layout.strip_bytes=1000: must be a multiple" in refusal("simulate", one, *LOAD, "--strip", "1000B")
    said = refusal("compare", one, other, *LOAD, "--strip", "8", "--read-cache", "x")
    assert "2 faults" in said
    assert "--read-cache='x'" in said


def test_options_of_arrays_are_those_of_plans() -> None:
    for command in ("simulate", "compare", "replay", "plan"):
        said = " ".join(run(command, "--help").stdout.split())
        for option in ARRAY:
            assert option.name in said
            assert option.help in said or option.name == "--level", (command, option.name)
    assert {option.key for option in ARRAY} <= set(OF_A_PLAN)


def test_a_controller_is_named(tmp_path: Path) -> None:
    controller = of_array(controller="perc-h730")["controller"]
    assert (controller.volume_depth, controller.write_cache.destage_depth) == (64, 2)
    plan, _ = plan_from(plan_options({**LINE, "controller": "perc-h730", "write_cache": "2GiB", "threads": 8}))
    assert plan.controller.write_cache is not None
    assert (plan.controller.write_cache.size_bytes, plan.controller.write_cache.destage_depth) == (2 << 30, 2)
    assert plan.host.processors == 8
    with pytest.raises(DescriptionError, match="--controller='perc-h370': is not a controller in the catalogue"):
        of_array(controller="perc-h370")
    text = 'drive = "generic-10k"\ncontroller = "perc-h330"\n[layout]\nlevel = "raid0"\ndisks = 4\n'
    assert Array.load(write(tmp_path / "array.toml", text)).controller.volume_depth == 5
    for words in ("perc-h730, 2GiB cache", "2GiB cache, perc-h730"):
        both = Array(f"8x generic-10k raid5, {words}").controller.write_cache
        assert both is not None
        assert (both.size_bytes, both.destage_depth) == (2 << 30, 2)


def test_controllers_are_listed_and_shown() -> None:
    rows = answer("controllers")["controllers"]
    assert {"generic-hba", "linux-md", "perc-h330", "perc-h730", "smart-array-p408i"} <= {row["name"] for row in rows}
    assert answer("controllers", "perc-h330")["volume_depth"] == 5
    assert "volume_depth = 5" in run("controllers", "perc-h330").stdout
    assert "perc-h730" in run("controllers").stdout
    assert "did you mean perc-h730?" in refusal("controllers", "perc-h73")


def test_vdevs_of_draid_and_the_order_of_resilvers_are_options(tmp_path: Path) -> None:
    """They set fields of a pool in words or in a file, and of the candidates of a plan."""
    words = with_options(Array("11x generic-7k2 draid2"), {"data_disks": 4, "distributed_spares": 1}, "words").layout
    assert (words.data_disks, words.distributed_spares) == (4, 1)
    layout = '[layout]\nlevel = "mirror"\ndisks = 2\nfailed = [0]\nspares = 1\n'
    failed = Array.load(write(tmp_path / "failed.toml", f'drive = "generic-7k2"\n{layout}'))
    assert with_options(failed, {"sequential_resilver": True}, "file").layout.is_rebuilt_in_order
    given = {**LINE, "drive": ["generic-7k2"], "level": ["draid2", "raidz2"], "data_disks": 4, "distributed_spares": 1}
    plan, _ = plan_from(plan_options({**given, "sequential_resilver": True}))
    assert (plan.layout.data_disks, plan.layout.distributed_spares) == (4, 1)
    assert plan.candidates.rebuild.sequential is True


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"data_disks": 4}, "--data-disks=4: only dRAID has them; remove it, or name a level such as draid2"),
        ({"distributed_spares": 1}, "--distributed-spares=1: only dRAID has them"),
        ({"sequential_resilver": True}, "only mirrors of OpenZFS and dRAID have a choice"),
        ({"level": ["draid2:4d:11c:1s"]}, "write draid2, with --data-disks (d) and --distributed-spares (s)"),
    ],
)
def test_kinds_of_vdevs_without_them_are_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        plan_from(plan_options({**LINE, "level": ["raidz2"], **given}))
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("level", "given", "said"),
    [
        ("raidz2", {"special_device": ["2x nosuch"]}, "--special-device='2x nosuch': is neither a file nor a drive"),
        ("raidz2", {"special_device": ["2x"]}, "--special-device='2x': names no drive; write for example \"2x"),
        ("raidz2", {"special_device": ["2 x"]}, "--special-device='2 x': names no drive; write for example \"2x"),
        ("raid6", {"special_device": ["2x micron-7450-pro-1920"]}, "--special-device: belongs to pools of OpenZFS"),
        ("raidz2", {"cache_device": ["micron-7450-pro-1920"]}, "--cache-device: what comes onto a cache device"),
        ("raidz2", {"log_device": ["wd-ultrastar-hc620"]}, "--log-device='wd-ultrastar-hc620': has zones"),
        ("raid10", {"log_device": ["micron-7450-pro-1920"]}, "--log-device: only pools of OpenZFS have a log"),
    ],
)
def test_devices_of_their_own_are_refused_by_the_name_of_their_option(
    level: str, given: dict[str, Any], said: str
) -> None:
    with pytest.raises(DescriptionError) as caught:
        plan_from(plan_options({**LINE, "level": [level], **given}))
    assert str(caught.value).startswith(said)


def groups_of(command: str) -> dict[str, set[str]]:
    """Options by the title of their group."""
    found: dict[str, set[str]] = {}
    title = ""
    for line in run(command, "--help").stdout.splitlines():
        if heading := re.fullmatch(r"([A-Z][a-z ]+):", line):
            title = heading[1]
        if title and (option := re.match(r"  (?:-\w, )?(--[\w-]+)", line)):
            found.setdefault(title, set()).add(option[1])
    return found


@pytest.mark.parametrize("command", ["plan", "simulate", "compare", "capacity"])
def test_options_are_in_groups(command: str) -> None:
    found = groups_of(command)
    titles = [title for title in found if title not in ("", "Options")]
    assert titles == [title for title in GROUPS if title in titles]
    assert {"Load", "Array", "Pools and logs", "Search", "Output"} <= set(titles)
    assert found.get("Options", {"--help"}) <= {"--help"}
    assert max(len(options) for options in found.values()) <= 26


def test_a_plan_asks_for_load_objective_and_candidates() -> None:
    found = groups_of("plan")
    assert {"--iops", "--throughput", "--reads", "--backup", "--commits", "--workload"} <= found["Load"]
    assert {"--capacity", "--p99", "--commit-p99", "--data-loss"} <= found["Objective"]
    assert {"--drive", "--level", "--max-disks"} <= found["Candidates"]
    assert {"--log-device", "--record-size", "--special-device"} <= found["Pools and logs"]


def test_an_option_is_in_the_same_group_everywhere() -> None:
    known: dict[str, str] = {}
    for option in (*ARRAY, *STREAM, *QUESTION, *SEARCH):
        # of a plan these are an objective and candidates; of an array the place of its load, and its own level
        if option.name not in ("--capacity", "--level"):
            assert known.setdefault(option.name, option.group) == option.group


def test_few_options_need_no_groups() -> None:
    assert set(groups_of("drives")) == {"Options"}
