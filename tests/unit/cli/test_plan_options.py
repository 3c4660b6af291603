"""`diskmodel plan` asked in one line: options, presets, existing arrays, and the file that asks the same."""

from pathlib import Path
from typing import Any

import pytest

from diskmodel.drive import load_drive
from diskmodel.errors import DescriptionError
from diskmodel.plan import PlanDescription, cases
from diskmodel.plan.question.options import DEFAULT_DRIVES, DEFAULT_LEVELS, plan_from, plan_options
from diskmodel.plan.question.presets import preset, preset_names
from tests.unit.cli.commands import EXAMPLES, answer, briefly, refusal, run, write

QUESTION = ("--iops", 300, "--reads", "70%", "--block", "8k", "--capacity", "500GB", "--p99", "60ms")
#: Presets of logs, which ask for commits.
LOGS = ("etcd", "mysql", "postgres")
SMALL = ("--drive", "generic-15k", "--level", "raid10", "--max-disks", 8)
#: Presets of pools, and the records of each.
POOLS = {
    "zfs-vm": 16 << 10,
    "zfs-nas": 128 << 10,
    "zfs-backup": 1 << 20,
    "zfs-postgres": 8 << 10,
    "zfs-postgres-16k": 16 << 10,
}


def without_place(found: dict[str, Any]) -> dict[str, Any]:
    """An answer without the notes about where its question came from."""
    return {key: value for key, value in found.items() if key != "question_notes"}


def test_one_line_asks_what_a_file_asks(tmp_path: Path) -> None:
    saved = tmp_path / "plan.toml"
    found = answer("plan", "--nominal", *QUESTION, *SMALL, "--save", saved)
    assert found["best"]["disks"] == 4
    assert found["best"]["level"] == "raid10"
    plan = PlanDescription.load(saved)
    stream = plan.workload.streams[0]
    assert (stream.read_ratio, stream.mean_size_bytes, stream.expected_rate_per_s) == (0.7, 8192, 300)
    assert plan.objective.iops == 300
    assert plan.objective.capacity_bytes == 500 * 10**9
    assert plan.objective.latency.p99_ns == 60_000_000
    assert without_place(answer("plan", "--nominal", saved)) == without_place(found)


def test_drives_and_levels_have_defaults_that_are_named() -> None:
    # no four disks store that much: nothing needs to be simulated
    done = run("plan", "--nominal", *QUESTION, "--capacity", "500PB", "--max-disks", 4, "--json")
    assert done.exit_code == 3
    for name in (*DEFAULT_DRIVES, *DEFAULT_LEVELS):
        assert name in done.stderr


def test_a_rate_alone_is_a_question_and_every_assumption_is_named() -> None:
    plan, notes = plan_from(plan_options({"iops": "500"}))
    (stream,) = plan.workload.streams
    assert (stream.read_ratio, stream.mean_size_bytes, plan.objective.iops) == (0.7, 8192, 500)
    for option in ("--reads", "--block", "--drive", "--p99", "--capacity", "--level"):
        assert sum(note.startswith(f"no {option}: ") for note in notes) == 1, notes
    plan, notes = plan_from(plan_options({"throughput": "300MB/s", "sequential": True, "reads": "0"}))
    (stream,) = plan.workload.streams
    assert (stream.read_ratio, stream.mean_size_bytes) == (0, 1 << 20)
    assert plan.name == "1 MiB sequential, 0% reads, 286.1/s (300 MB/s)"
    assert any(note.startswith("no --block: requests of 1 MiB") for note in notes)


def test_options_replace_fields_of_a_file_and_each_is_named() -> None:
    file = EXAMPLES / "plan-oltp.toml"
    replaced = ("--p99", "100ms", "--reads", 0.9, "--block", "4k")
    asked = ("plan", "--nominal", file, *replaced, "--write-cache", "64MiB", *SMALL)
    done = run(*asked, "--json")
    lines = done.stderr.splitlines()
    for start in (
        "--p99: 100 ms replaces 80 ms of",
        "--reads: 90% replaces 70% of",
        "--block: 4 KiB replaces 8 KiB of",
    ):
        assert sum(line.startswith(start) for line in lines) == 1, lines
    plan = answer(*asked, status=3)["plan"]
    assert plan["objective"]["latency"]["p99_ns"] == 100_000_000
    assert plan["objective"]["iops"] == 500
    assert plan["workload"]["streams"][0]["read_ratio"] == 0.9
    assert plan["workload"]["streams"][0]["sizes"][0]["size_bytes"] == 4096
    assert plan["controller"]["write_cache"]["size_bytes"] == 64 << 20


def test_an_option_that_changes_nothing_is_not_named() -> None:
    done = run("plan", "--nominal", EXAMPLES / "plan-oltp.toml", "--p99", "80 ms", *SMALL, "--json")
    assert "--p99" not in done.stderr


@pytest.mark.parametrize("level", ["RAID10", "raid 10", "RAID-10", "raid1+0"])
def test_levels_are_understood_as_they_are_written(level: str) -> None:
    found = answer("plan", "--nominal", *QUESTION, "--drive", "generic-15k", "--max-disks", 4, "--level", level)
    assert found["best"]["level"] == "raid10"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "--iops or --throughput: is missing"),
        (("--throughput", "300MB/s", "--sequential"), "--reads: is missing"),
        (("--from", "preset:vm"), "--iops or --throughput: is missing"),
        ((*QUESTION, "--reads", "170"), "--reads='170': must be at most 100%; lower it"),
        ((*QUESTION, "--capacity", "20T"), 'has the unknown unit \'T\'; write "20 TB" or "20 TiB"'),
        ((*QUESTION, "--capacity", "0"), "--capacity='0': must be above 0"),
        ((*QUESTION, "--p99", "0ms"), "--p99='0ms': must be above 0"),
        ((*QUESTION, "--iops", "1e15"), "--iops='1e15': must be at most 1e+09; lower it"),
        ((*QUESTION, "--iops", "٣٠٠"), "--iops='٣٠٠': has digits of another script; write '300'"),
        ((*QUESTION, "--iops", "8000,5"), "write '8000.5', with a decimal point"),
        ((*QUESTION, "--seed", "1" * 23), "must be at most 18446744073709551615; lower it"),
        ((*QUESTION, "--save", ""), "--save='': is empty; name a file"),
        ((*QUESTION, "--level", "10"), "write raid10, or --percentile 10"),
        ((*QUESTION, "--level", "raid9"), "--level='raid9': is not one of the choices"),
        ((*QUESTION, "--throughput", "1MB/s"), "is given together with --iops"),
        ((*QUESTION, "--from", "vm"), "write for example preset:vm"),
        ((*QUESTION, "--from", "preset:vn"), "use one of analytics, backup"),
        ((*QUESTION, "--percentile", "50"), "only applies to a recorded load"),
        ((EXAMPLES / "plan-oltp.toml", "--from", "preset:vm"), "a plan file and a preset at the same time"),
        (("--from", "preset:vm", "--iops", 1, "--capacity", "1TB", "--reads", "50%"), "has 3 streams"),
    ],
)
def test_what_is_missing_or_wrong_is_named_with_its_fix(words: tuple[object, ...], said: str) -> None:
    assert said in refusal("plan", *words)


def test_all_faults_of_a_line_are_reported_together() -> None:
    said = refusal("plan", "--iops", "x", "--reads", 170, "--block", "8K b", "--capacity", 20, "--p99", "20")
    assert "5 faults" in said
    assert "diskmodel plan --iops 8000" in refusal("plan")


@pytest.mark.parametrize("name", preset_names())
def test_a_preset_is_a_question_with_sources(name: str, tmp_path: Path) -> None:
    known = preset(name)
    assert known.title
    assert known.sources
    assert known.assumptions
    saved = tmp_path / "plan.toml"
    load = ("--commits", 50) if name in LOGS else ("--iops", 50, "--capacity", "100GB")
    level = ("--level", "mirror") if name in POOLS else ()
    words = ("--from", f"preset:{name}", *load, *SMALL[:2], *(level or SMALL[2:4]), "--max-disks", 4)
    done = briefly("plan", "--nominal", *words, "--save", saved)
    assert done.exit_code in (0, 3), done.stderr
    plan = PlanDescription.load(saved)
    assert (plan.objective.commits_per_s if name in LOGS else plan.objective.iops) == 50
    assert plan.design_workload.offered_rate_per_s == pytest.approx(50)
    assert len(plan.notes) == len(known.sources) + len(known.assumptions)


@pytest.mark.parametrize(("name", "record_bytes"), POOLS.items())
def test_a_preset_of_a_pool_sets_its_records_and_tries_mirrors_and_raid_z(name: str, record_bytes: int) -> None:
    given = plan_options({"iops": 100, "capacity": "1 TB"})
    plan, notes = plan_from(given, preset=preset(name))
    assert plan.layout.record_bytes == record_bytes
    assert plan.candidates.levels == ("mirror", "raidz1", "raidz2")
    assert not any("--level" in note for note in notes)
    chosen, notes = plan_from({**given, "level": ["raidz3"]}, preset=preset(name))
    assert chosen.candidates.levels == ("raidz3",)
    assert f"--level: raidz3 replaces mirror, raidz1, raidz2 of preset {name}" in notes
    with pytest.raises(DescriptionError, match=r"layout.record_bytes, ashift: belong to pools of OpenZFS"):
        plan_from({**given, "level": ["raid6"]}, preset=preset(name))


def test_a_saved_plan_leaves_the_number_of_vdevs_to_their_width(tmp_path: Path) -> None:
    text = '[layout]\nrecord = "8 KiB"\n[workload]\nsize = "8 KiB"\nrate = "50/s"\n[objective]\niops = 50\n'
    file = write(tmp_path / "plan.toml", text + '[candidates]\ndrives = ["generic-15k"]\nlevels = ["mirror"]\n')
    plan, _ = plan_from({}, path=file)
    (case,) = cases(plan)
    assert case.array(12).layout.n_groups == 6


def test_presets_are_listed_with_their_sources() -> None:
    listed = answer("plan", "--nominal", "--list-presets")["presets"]
    assert [item["name"] for item in listed] == preset_names()
    known = {"oltp", "mail", "vm", "file-server", "video", "backup", "web", "analytics", "log", "spc1-like"}
    known |= {*LOGS, *POOLS, "kafka", "vm-barriers", "desktops"}
    assert known == set(preset_names())
    text = run("plan", "--nominal", "--list-presets").stdout
    assert all(item["name"] in text for item in listed)


@pytest.mark.slow
def test_a_throughput_is_a_rate_of_requests_of_the_mean_size() -> None:
    words = ("--from", "preset:backup", "--throughput", "104.8576 MB/s", "--capacity", "1TB", *SMALL)
    plan = answer("plan", "--nominal", *words)["plan"]
    assert plan["objective"]["iops"] == pytest.approx(100)


def asked(start: str | None = None, **options: Any) -> tuple[list[str], str]:
    """Patterns of the streams of a question on one line, and the notes about it."""
    given = plan_options({"capacity": "1 TB", "p99": "1 s", "drive": ["generic-15k"], **options})
    plan, notes = plan_from(given, preset=None if start is None else preset(start))
    return [stream.addresses.pattern for stream in plan.workload.streams], "; ".join(notes)


def test_where_requests_go_is_said_and_asked() -> None:
    load: dict[str, Any] = {"throughput": "50 MB/s", "block": "1m", "reads": 1.0}
    patterns, notes = asked(**load)
    assert patterns == ["uniform"]
    assert (
        "at random places; files that are read or written from end to end are another question: --sequential" in notes
    )
    assert "at random places" not in asked("backup", throughput="50 MB/s")[1]
    patterns, notes = asked(**load, sequential=True)
    assert patterns == ["sequential"]
    assert "at random places" not in notes


def test_the_places_of_a_preset_can_be_replaced() -> None:
    patterns, notes = asked("backup", iops=50, sequential=False)
    assert patterns == ["uniform"]
    assert "--no-sequential: uniform places replace sequential ones of preset backup" in notes
    assert "places replace" not in asked("backup", iops=50, sequential=True)[1]
    with pytest.raises(DescriptionError, match="--sequential: is not clear"):
        asked("vm", iops=50, sequential=True)


def test_an_existing_array_is_the_start(tmp_path: Path) -> None:
    text = (
        'drive = "generic-15k"\ndrive_write_cache = false\n'
        '[layout]\nlevel = "raid5"\ndisks = 6\nstrip = "128 KiB"\n[controller]\nhit = "50 us"\n'
    )
    array = write(tmp_path / "array.toml", text)
    found = answer("plan", "--nominal", "--array", array, *QUESTION, "--max-disks", 8)
    assert [c["level"] for c in found["candidates"]] == ["raid5", "raid10", "raid6"]
    assert {c["drive"] for c in found["candidates"]} == {load_drive("generic-15k").name}
    assert {c["strip_bytes"] for c in found["candidates"]} == {128 << 10}
    assert found["plan"]["controller"]["hit_ns"] == 50_000
    assert found["plan"]["drive_write_cache"] is False
    assert all(c["array"]["drive_write_cache"] is False for c in found["candidates"] if c["array"])


def test_a_recorded_load_may_be_scaled_by_name(tmp_path: Path) -> None:
    recorded = EXAMPLES / "measured" / "iostat.txt"
    words = ("--workload", recorded, "--capacity", "100GB", "--p99", "100ms", *SMALL)
    at_its_rate = answer("plan", "--nominal", *words)
    assert "iops" not in at_its_rate["plan"]["objective"]
    done = run("plan", "--nominal", *words, "--iops", 50, "--json")
    assert "--iops: 50 replaces" in done.stderr
    assert "34.74/s; 8 KiB uniform, 0% reads, 15.26/s" in done.stdout
