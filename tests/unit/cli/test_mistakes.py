"""Common mistakes in descriptions, and whether the message says how to fix them."""

from pathlib import Path

import pytest

from diskmodel.drive import catalogue
from tests.unit.cli.commands import EXAMPLES, refusal, write

ARRAY = 'drive = "generic-15k"\n[layout]\nlevel = "raid5"\ndisks = 5\n'


@pytest.mark.parametrize(
    ("text", "output"),
    [
        (ARRAY + 'stirp = "64 KiB"', "layout.stirp='64 KiB': is not a known field; did you mean strip?"),
        (ARRAY + 'stirp_bytes = "64 KiB"', "did you mean strip_bytes?"),
        (ARRAY + "color = 1", "layout.color=1: is not a known field; remove it or check the spelling"),
        (ARRAY + "[host]\n[host.page_cahce]", "host.page_cahce: is not a known field; did you mean page_cache?"),
        (ARRAY + '[host]\nmemory = "8 GiB"', "is not a known field; did you mean host.page_cache.memory?"),
        ('drive = "generic-15k"\nlevel = "raid5"', "level='raid5': is not a known field; did you mean layout.level?"),
        # Several tables have a size: none is suggested.
        (ARRAY + "size = 3", "layout.size=3: is not a known field; remove it or check the spelling"),
        (
            ARRAY.replace('drive = "generic-15k"', '[drive]\nname = "generic-15k"'),
            'drive: has no kind; add kind = …, or write the name of a bundled drive: drive = "generic-15k"',
        ),
    ],
)
def test_arrays(tmp_path: Path, text: str, output: str) -> None:
    array = write(tmp_path / "array.toml", text)
    assert output in refusal("simulate", array, "--workload", EXAMPLES / "oltp.toml")


LOAD = ("--iops", 100, "--reads", "70%", "--block", "8k")
RAID5 = ("simulate", "8x generic-15k raid5")


@pytest.mark.parametrize(
    ("words", "output"),
    [
        ((*RAID5, *LOAD, "--seed", -1), "--seed='-1': must be at least 0; raise it"),
        ((*RAID5, *LOAD, "--seed", "abc"), "--seed='abc': must be a whole number; write digits only"),
        ((*RAID5, "--iops", -5, *LOAD[2:]), "--iops='-5': must be above 0"),
        ((*RAID5, *LOAD[:3], "170%", *LOAD[4:]), "--reads='170%': must be at most 100%"),
        ((*RAID5, *LOAD[:5], 512), 'has no unit; write for example "512 B" or "512 KiB"'),
        (
            (*RAID5, *LOAD, "--span", "200TB"),
            "--span='200TB': does not fit: 8x generic-15k raid5 stores 2.1 TB; add disks, or lower it",
        ),
        ((*RAID5, *LOAD, "--clients", 4), "--iops, --queue-depth: both state the load"),
        (("simulate", EXAMPLES / "raid5.tml", *LOAD), "no such file or directory; did you mean "),
        (("simulate", EXAMPLES, *LOAD), "is a directory; name a file in it"),
        (("plan", "--from", "preset:vmm"), "preset='vmm': is not a known preset; did you mean vm?"),
        (("rule", "--level", "radi5", "--disks", 5, "--iops", 3, "--reads", "1"), "did you mean raid5?"),
        (("workload", EXAMPLES / "trace.csv", "--format", "msrr"), "did you mean msr?"),
        ((*RAID5, "--bs", "8k"), "--bs: is not an option of simulate; did you mean --block?"),
        ((*RAID5, "--iodepth", 4), "--iodepth: is not an option of simulate; did you mean --queue-depth?"),
        ((*RAID5, "--blok", "8k"), "did you mean --block?"),
        (
            (*RAID5, "--sync"),
            "--sync: needs a value; its help: How writes are made safe from a power cut: fdatasync or",
        ),
        ((*RAID5, "--json=3"), "--json: takes no value; write it alone, or leave it out"),
        ((*RAID5, "--xyzzy"), "--xyzzy: is not an option of simulate; diskmodel simulate --help lists its options"),
        ((*RAID5, *LOAD, "--seed", "1" * 23), "must be at most 18446744073709551615; lower it"),
        ((*RAID5, "--iops", "1e15", *LOAD[2:]), "--iops='1e15': must be at most 1e+09; lower it"),
        ((*RAID5, "--iops", "٣٠٠", *LOAD[2:]), "--iops='٣٠٠': has digits of another script; write '300"),
        (("compare", RAID5[1], RAID5[1], *LOAD, "--plot", ""), "--plot='': is empty; name a file"),
        (("workload", EXAMPLES / "trace.csv", "--out", ""), "--out='': is empty; name a file"),
        (("calibrate", "", "--out", "drive.toml"), "='': is empty; name a file"),
        (("measure", "disk", "--out", "m.json", "--seed", "1" * 23), "must be at most 18446744073709551615"),
        (
            ("rule", "--level", "raid5", "--disks", 5, "--iops", "٣٠٠", "--reads", "1"),
            "--iops='٣٠٠': has digits of another",
        ),
        (("rule", "--level", "raid5", "--disks", 5, "--iops", "8k", "--reads", "1"), "--iops='8k': must be a number"),
        (("rule", "--level", "raid5", "--disks", 5, "--iops", "1.000,5", "--reads", "1"), "write '1000.5', with a"),
        (
            ("rule", "--level", "raid5", "--disks", 5, "--iops", 3, "--reads", "0,5"),
            "write '0.5', with a decimal point",
        ),
        (("compare", RAID5[1], RAID5[1], *LOAD, "--p99", "0ms"), "--p99='0ms': must be above 0"),
        ((*RAID5, *LOAD, "--time-limit", "0s"), "--time-limit='0s': must be from 1 ms to 365 d; write for example"),
        ((*RAID5, *LOAD, "--time-limit", "90"), "--time-limit='90': has no unit; write for example"),
        (
            ("rule", "--level", "erasure", "--n-parity", 10**11, "--disks", 9, "--iops", 3, "--reads", "1"),
            "must be less than 100,000, the most disks of an array",
        ),
        (("rule", "--bs"), "--bs: is not an option of rule; diskmodel rule --help lists its options"),
    ],
)
def test_options_and_files(words: tuple[object, ...], output: str) -> None:
    message = refusal(*words)
    assert output in message
    assert "Input should" not in message


def test_streams_of_a_workload(tmp_path: Path) -> None:
    streams = '[[streams]]\nsize = "4 KiB"\narrival = {kind = "poison", rate = "5/s"}\n[streams.addresses]\nfoo = 1\n'
    message = refusal("simulate", EXAMPLES / "raid5.toml", "--workload", write(tmp_path / "load.toml", streams))
    assert (
        "streams.0.arrival='poison': is not a known kind; did you mean 'poisson'? The choices are 'poisson', 'bursts'"
        in message
    )
    assert "streams.0.addresses: has no pattern; add pattern = …" in message
    misspelt = '[[streams]]\nsize = "4 KiB"\narrival = {kind = "closed", cleints = 4}\n'
    message = refusal("simulate", EXAMPLES / "raid5.toml", "--workload", write(tmp_path / "load.toml", misspelt))
    assert "cleints=4: is not a known field; did you mean clients?" in message


def test_a_file_that_is_not_a_trace_is_named() -> None:
    iostat, oltp = EXAMPLES / "measured" / "iostat.txt", EXAMPLES / "oltp.toml"
    assert "is iostat-text, which does not record single requests" in refusal("workload", iostat, "--fit")
    replay = ("simulate", EXAMPLES / "raid5.toml", "--workload", oltp, "--replay", "2x")
    for words in (("workload", oltp), ("calibrate", oltp, "--out", "x.toml"), replay):
        assert "is a TOML description, not evidence" in refusal(*words)


def test_every_fault_is_reported_with_those_of_a_drive(tmp_path: Path) -> None:
    array = write(tmp_path / "array.toml", 'drive = "generic-15"\n[layout]\nlevel = "raid5"\ndisks = 0\n')
    message = refusal("simulate", array, "--workload", EXAMPLES / "oltp.toml")
    assert "array.toml: 2 faults" in message
    assert "drive='generic-15': is neither a file nor a drive in the catalogue; did you mean generic-15k" in message
    assert "layout.disks=0: must be at least 1; raise it" in message
    profile = write(tmp_path / "mine.toml", (catalogue()["generic-15k"]).to_toml().replace("rpm = 15000.0", "rpm = 0"))
    array.write_text(array.read_text().replace("generic-15", "mine.toml"))
    message = refusal("simulate", array, "--workload", EXAMPLES / "oltp.toml")
    assert f"{profile}: rpm=0: " in message
    assert "layout.disks=0: " in message


def test_every_fault_of_a_plan_is_reported(tmp_path: Path) -> None:
    text = (EXAMPLES / "plan-oltp.toml").read_text()
    plan = write(
        tmp_path / "plan.toml", text.replace('"seagate-exos-10e2400-2400"', '"generic-1k"').replace('"80 ms"', '"80"')
    )
    message = refusal("plan", plan)
    assert "drive='generic-1k': is neither a file nor a drive in the catalogue" in message
    assert "objective.latency.p99_ns='80': has no unit" in message
