"""Mistakes that people make, and whether the answer tells them what to do."""

from pathlib import Path

import pytest

from diskmodel.drive import catalogue
from tests.unit.cli.commands import EXAMPLES, refusal, write

ARRAY = 'drive = "generic-15k"\n[layout]\nlevel = "raid5"\ndisks = 5\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (ARRAY + 'stirp = "64 KiB"', "layout.stirp='64 KiB': is not a known field; did you mean strip?"),
        (ARRAY + 'stirp_bytes = "64 KiB"', "did you mean strip_bytes?"),
        (ARRAY + "colour = 1", "layout.colour=1: is not a known field; remove it or check the spelling"),
        (ARRAY + "[host]\n[host.page_cahce]", "host.page_cahce: is not a known field; did you mean page_cache?"),
        (
            ARRAY.replace('drive = "generic-15k"', '[drive]\nname = "generic-15k"'),
            'drive: does not say its kind; add kind = …, or write the name of a bundled drive: drive = "generic-15k"',
        ),
    ],
)
def test_arrays(tmp_path: Path, text: str, said: str) -> None:
    array = write(tmp_path / "array.toml", text)
    assert said in refusal("simulate", array, "--workload", EXAMPLES / "oltp.toml")


def test_streams_of_a_workload(tmp_path: Path) -> None:
    streams = '[[streams]]\nsize = "4 KiB"\narrival = {kind = "poison", rate = "5/s"}\n[streams.addresses]\nfoo = 1\n'
    told = refusal("simulate", EXAMPLES / "raid5.toml", "--workload", write(tmp_path / "load.toml", streams))
    assert "streams.0.arrival='poison': is not a known kind; use one of 'poisson', 'bursts'" in told
    assert "streams.0.addresses: does not say its pattern; add pattern = …" in told
    misspelt = '[[streams]]\nsize = "4 KiB"\narrival = {kind = "closed", cleints = 4}\n'
    told = refusal("simulate", EXAMPLES / "raid5.toml", "--workload", write(tmp_path / "load.toml", misspelt))
    assert "cleints=4: is not a known field; did you mean clients?" in told


def test_what_is_no_trace_is_told_by_what_it_is() -> None:
    iostat, oltp = EXAMPLES / "measured" / "iostat.txt", EXAMPLES / "oltp.toml"
    assert "is iostat-text, which tells no single requests" in refusal("workload", iostat, "--fit")
    replay = ("simulate", EXAMPLES / "raid5.toml", "--workload", oltp, "--replay", "2x")
    for words in (("workload", oltp), ("calibrate", oltp, "--out", "x.toml"), replay):
        assert "is a TOML description, not evidence" in refusal(*words)


def test_every_fault_is_told_with_those_of_a_drive(tmp_path: Path) -> None:
    array = write(tmp_path / "array.toml", 'drive = "generic-15"\n[layout]\nlevel = "raid5"\ndisks = 0\n')
    told = refusal("simulate", array, "--workload", EXAMPLES / "oltp.toml")
    assert "array.toml: 2 faults" in told
    assert "drive='generic-15': is neither a file nor a drive of the catalogue; did you mean generic-15k" in told
    assert "layout.disks=0: must be at least 1; raise it" in told
    profile = write(tmp_path / "mine.toml", (catalogue()["generic-15k"]).to_toml().replace("rpm = 15000.0", "rpm = 0"))
    array.write_text(array.read_text().replace("generic-15", "mine.toml"))
    told = refusal("simulate", array, "--workload", EXAMPLES / "oltp.toml")
    assert f"{profile}: rpm=0: " in told
    assert "layout.disks=0: " in told


def test_every_fault_of_a_plan_is_told(tmp_path: Path) -> None:
    text = (EXAMPLES / "plan-oltp.toml").read_text()
    plan = write(tmp_path / "plan.toml", text.replace('"generic-10k"', '"generic-1k"').replace('"80 ms"', '"80"'))
    told = refusal("plan", plan)
    assert "drive='generic-1k': is neither a file nor a drive of the catalogue" in told
    assert "objective.latency.p99_ns='80': has no unit" in told
