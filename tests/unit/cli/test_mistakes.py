"""Mistakes that people make, and whether the answer tells them what to do."""

from pathlib import Path

import pytest

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
