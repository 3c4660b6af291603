"""Arrays in words and workloads in options: an answer without a file."""

import re

import pytest

from diskmodel import Array
from diskmodel.drive import catalogue
from diskmodel.errors import DescriptionError
from tests.unit.cli.commands import EXAMPLES, answer, refusal, run, write

LOAD = ("--iops", 500, "--reads", "70%", "--block", "8k")


def test_words_and_options_mean_what_files_mean(tmp_path):
    array = write(tmp_path / "a.toml", 'drive = "generic-15k"\nlayout = { level = "raid5", disks = 8 }\n')
    load = write(tmp_path / "w.toml", 'rate = "500/s"\nread_ratio = 0.7\nsize = "8 KiB"\nspan = "1 TB"\n')
    by_words = answer("simulate", "8x generic-15k raid5", *LOAD, "--span", "1TB", "--requests", 2000)
    by_files = answer("simulate", array, "--workload", load, "--requests", 2000)
    assert by_words["latency_ms"] == by_files["latency_ms"]


def test_a_file_of_a_drive_in_words(tmp_path):
    catalogue()["generic-15k"].save(tmp_path / "disk.toml")
    load = ("--queue-depth", 4, "--reads", 1, "--block", "4k", "--requests", 2000)
    for words in ("1x {}", "4x {} raid5"):
        by_file = answer("simulate", words.format(tmp_path / "disk.toml"), *load)
        by_name = answer("simulate", words.format("generic-15k"), *load)
        assert by_file["latency_ms"] == by_name["latency_ms"]


@pytest.mark.parametrize("rate", ["2", "2/s", "2 iops"])
def test_a_rate_may_have_its_unit_and_is_shown_as_exactly_as_its_interval(rate):
    words = ("simulate", "generic-15k", "--iops", rate, "--reads", "70%", "--block", "8k", "--requests", 2000)
    shown = run(*words).stdout
    value, bad = map(float, re.search(r"throughput +(\S+) IOPS +(\S+)", shown).groups())
    assert bad <= value
    assert abs(answer(*words)["iops"] - value) < 0.01


def test_clients_instead_of_a_rate():
    found = answer("simulate", "generic-15k", "--queue-depth", 4, "--reads", 1, "--block", "4k", "--requests", 2000)
    assert found["iops"] > 100


def test_compare_names_arrays_by_their_words():
    words = ("8x generic-15k raid5", "8 x generic-15k in RAID 10")
    found = answer("compare", *words, *LOAD, "--requests", 2000)
    assert [array["name"] for array in found["arrays"]] == list(words)


@pytest.mark.parametrize(
    ("words", "disks", "level"),
    [
        ("generic-15k", 1, "jbod"),
        ("1x generic-15k jbod", 1, "jbod"),
        ("1x generic-15k", 1, "jbod"),
        ("8×generic-15k raid 5", 8, "raid5"),
        ("8 generic-15k raid5", 8, "raid5"),
        (" 8 x generic-15k in RAID-10 ", 8, "raid10"),
    ],
)
def test_forms(words, disks, level):
    array = Array.from_words(words)
    assert (array.layout.disks, array.layout.level, array.drive.name) == (disks, level, "Generic 15k rpm SAS")


@pytest.mark.parametrize(
    ("words", "n_parity", "n_groups"),
    [
        ("12x generic-15k, erasure 8+4", 4, 1),
        ("12x generic-15k erasure 8+4, 1GiB cache", 4, 1),
        ("24x generic-15k in EC 8+4", 4, 2),
        ("24x generic-15k erasure-coded 4+2 with 1GiB cache", 2, 4),
        ("12x generic-15k, EC:4", 4, 1),
    ],
)
def test_an_erasure_code_by_its_strips(words, n_parity, n_groups):
    layout = Array.from_words(words).layout
    assert (layout.level, layout.n_parity, layout.n_groups) == ("erasure", n_parity, n_groups)


def test_an_erasure_code_takes_whole_sets():
    with pytest.raises(DescriptionError, match="13 drives, in which no sets of 12 fit exactly; write for example 24"):
        Array.from_words("13x generic-15k erasure 8+4")


@pytest.mark.parametrize("words", ["", "8x generic-15k", "generic-15k raid5", "8x no-drive raid5"])
def test_other_words_are_refused(words):
    with pytest.raises(DescriptionError):
        Array.from_words(words)


@pytest.mark.parametrize("level", ["raid6 degraded", "RAID 6 (1 disk failed)", "raid-6, rebuilding"])
def test_an_array_with_a_failed_disk_is_one_in_a_file(level, tmp_path):
    with pytest.raises(DescriptionError) as caught:
        Array.from_words(f"8x generic-15k {level}")
    fix = str(caught.value).partition("write a file with ")[2]
    path = tmp_path / "array.toml"
    path.write_text(fix.partition(";")[0].replace(" and ", "\n"))
    assert Array.load(path).layout.failed == (0,)


@pytest.mark.parametrize(
    ("array", "reads", "is_said"),
    [("1x generic-7k2", "50%", True), ("1x generic-7k2", "100%", False), ("2x generic-7k2 raid1", "50%", False)],
)
def test_a_single_drive_writes_to_its_own_cache_and_says_so(array, reads, is_said):
    words = ("simulate", array, "--queue-depth", 1, "--reads", reads, "--block", "4k", "--requests", 500)
    assert ("the drive's own write cache" in " ".join(run(*words).stdout.split())) == is_said


@pytest.mark.parametrize(
    ("load", "is_said"),
    [(("--iops", 350), True), (("--iops", 100), False), (("--queue-depth", 8), False)],
)
def test_an_array_without_a_reserve_says_so(load, is_said):
    words = ("simulate", "2x generic-15k raid1", *load, "--reads", "0%", "--block", "4k", "--requests", 4000)
    assert ("more load it may not keep up" in " ".join(run(*words).stdout.split())) == is_said


RAID5 = ("simulate", "8x generic-15k raid5")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((*RAID5, "--iops", 500, "--sequential"), "--reads: is required for a load in order"),
        ((*RAID5, *LOAD, "--throughput", "5MB/s"), "--iops, --throughput: both state the load"),
        ((*RAID5, "--throughput", "5 bananas"), "--throughput='5 bananas': has the unknown unit"),
        ((*RAID5, *LOAD, "--capacity", "1TB", "--span", "1TB"), "says the same as --span"),
        ((*RAID5, *LOAD, "--capacity", "9TB"), "--capacity='9TB': does not fit: 8x generic-15k raid5 stores 2.1 TB"),
        (("compare", "8x generic-15k raid5", *LOAD, "--span", "9TB"), "--span='9TB': does not fit"),
        (("capacity", "8x generic-15k raid5", "--capacity", "9TB"), "--capacity='9TB': does not fit"),
        ((*RAID5, "--reads", "70%", "--block", "8k"), "--iops or --queue-depth: is required"),
        ((*RAID5, *LOAD, "--queue-depth", 4), "both state the load"),
        ((*RAID5, "--iops", 500, "--reads", 70, "--block", "8q"), "--block='8q': has the unknown unit"),
        ((*RAID5, "--iops", "many", "--reads", 0.7, "--block", "8k"), "--iops='many': must be a number"),
        ((*RAID5, *LOAD, "--percentile", "95"), "only applies to a recorded load"),
        ((*RAID5, "--replay", "2x"), "needs a trace"),
        ((*RAID5, "-w", EXAMPLES / "oltp.toml", "--iops", 5), "cannot be combined with --workload"),
        (("simulate", "nothing.toml", *LOAD), "no such file"),
        (("simulate", "eight disks", *LOAD), "does not say how many drives"),
        (("simulate", "8x generic-15k", *LOAD), "neither a file nor an array in words, which names its RAID level"),
        (("simulate", "3x generic-15k raid10", *LOAD), "disks=3"),
    ],
)
def test_what_is_missing_or_wrong_is_named(given, message):
    assert message in refusal(*given)


def test_a_load_in_order_has_a_rate_in_bytes():
    load = ("--sequential", "--reads", "0%", "--throughput", "50MB/s", "--requests", 600, "--only-run-noise")
    found = answer("simulate", "8x generic-15k raid6", *load)
    assert found["workload_notes"] == ["assumed: --block 1M; name your own, or give a file with --workload"]
    assert found["bytes_per_s"] == pytest.approx(50e6, rel=0.2)
    written = ("capacity", "4x generic-15k raid0", "--requests", 300, "--only-run-noise", "--sequential")
    streamed = answer(*written, "--reads", "100%")
    assert streamed["workload"]["name"] == "1 MiB sequential, 100% reads"
    at_random = answer(*written[:-1], "--reads", "100%", "--block", "1M")
    assert streamed["most_per_s"] > 1.15 * at_random["most_per_s"]


def test_what_a_load_does_not_say_is_assumed_and_said():
    done = run("simulate", "8x generic-15k raid5", "--iops", 100, "--requests", 600, "--only-run-noise")
    assert "8 KiB uniform, 70% reads, 100/s" in done.stdout
    assert "assumed: --reads 70% and --block 8k" in done.stderr


SHORT = ("--requests", 600, "--only-run-noise")


def test_a_level_replaces_that_of_words_and_of_a_file():
    load = ("--iops", 100, "--reads", "70%", "--block", "8k", *SHORT)
    assert ", raid6; workload" in run("simulate", "8x generic-15k", "--level", "RAID 6", *load).stdout
    assert ", raid10; workload" in run("simulate", "8x generic-15k raid5", "--level", "raid10", *load).stdout
    raid5 = EXAMPLES / "raid5.toml"
    found = answer("compare", "8x generic-15k", "--level", "raid5", "--level", "raid6", *load)
    assert [one["name"] for one in found["arrays"]] == ["8x generic-15k raid5", "8x generic-15k raid6"]
    assert [one["level"] for one in found["arrays"]] == ["raid5", "raid6"]
    assert 0 < found["arrays"][1]["loss_per_year"] < found["arrays"][0]["loss_per_year"]
    both = answer("compare", raid5, "--level", "raid5", "--level", "raid6", *load)
    assert [one["name"] for one in both["arrays"]] == ["RAID 5, 8 disks", "RAID 5, 8 disks, raid6"]
    assert "--level='raid7': is not one of the choices" in refusal("capacity", raid5, "--level", "raid7", *load[2:6])


def test_loads_stand_side_by_side(tmp_path):
    alone = write(tmp_path / "oltp.toml", 'name = "oltp"\nsize = "8 KiB"\nread_ratio = 0.7\nrate = "300/s"\n')
    streams = """
    name = "with backup"
    [[streams]]
    name = "oltp"
    size = "8 KiB"
    read_ratio = 0.7
    rate = "300/s"
    [[streams]]
    name = "backup"
    size = "1 MiB"
    read_ratio = 1.0
    rate = "50/s"
    addresses = { pattern = "sequential" }
    """
    beside = write(tmp_path / "both.toml", streams)
    words = ("simulate", "8x generic-10k raid10", "-w", alone, "-w", beside, "--requests", 2000, "--only-run-noise")
    table = run(*words).stdout
    rows = {line[:18].strip(): line[18:].split() for line in table.splitlines() if ":" in line}
    assert float(rows["oltp: mean ms"][0]) < float(rows["oltp: mean ms"][1])  # the backup makes them wait
    assert rows["backup: mean ms"][0] == "–"
    found = answer(*words)["workloads"]
    assert [one["name"] for one in found] == ["oltp", "with backup"]
    assert found[1]["bytes_per_s"] > 10 * found[0]["bytes_per_s"]
    assert "--iostat: is about one workload" in refusal(*words, "--iostat")
    twice = answer("compare", "8x generic-10k raid10", "-w", alone, "-w", alone, *SHORT)["workloads"]
    assert [one["workload"]["name"] for one in twice] == ["oltp (1)", "oltp (2)"]
    carried = answer("capacity", "8x generic-10k raid10", "-w", alone, "-w", beside, *SHORT)["workloads"]
    assert carried[1]["most_per_s"] < carried[0]["most_per_s"]


def documented_words():
    """Words of the table of the reference; what follows a comma belongs to the first of its row."""
    reference = (EXAMPLES.parent / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    table = reference.partition("| Words | What they add |\n|---|---|\n")[2].partition("\n\n")[0]
    for row in table.splitlines():
        first, *more = re.findall(r"`([^`]+)`", row.split("|")[1])
        yield first
        yield from (words.replace("…", first.partition(",")[0]) for words in more)


@pytest.mark.parametrize("words", [*documented_words()])
def test_documented_words_are_read(words: str) -> None:
    assert Array.from_words(words).drive
