"""How full flash drives are: in words, as an option, and where nobody says it."""

from __future__ import annotations

import pytest

from diskmodel import Array, DescriptionError, Workload, simulate
from diskmodel.drive.flash.sheet import spare_of
from diskmodel.explanation.otherwise import otherwise

WORDS = "2x micron-7450-pro-960 raid1"
WRITES = Workload.parse({"size": "4 KiB", "read_ratio": 0.0, "clients": 128, "span_ratio": 0.6})


def test_words_and_fields_say_how_full_the_drives_are() -> None:
    for words in ("60% used", "used 60 %", "60% full"):
        assert Array(f"{WORDS}, {words}").used_ratio == 0.6
    array = Array(WORDS, used="60%")
    assert array.used_ratio == 0.6
    assert Array.parse(array.to_dict()) == array
    assert "used: 60% of each drive, the rest trimmed" in str(array)


def test_a_load_beyond_what_is_used_is_refused() -> None:
    with pytest.raises(DescriptionError, match="less than the 60% that the load reaches; write 60%"):
        simulate(Array(WORDS, used="40%"), WRITES, n_requests=1000)


def test_what_is_not_used_is_spare_and_said_where_nobody_says_it() -> None:
    found = {}
    for used in (None, 0.6):
        array = Array(WORDS) if used is None else Array(WORDS, used_ratio=used)
        result = simulate(array, WRITES, n_requests=20_000, profile_draws=0)
        found[used] = result, otherwise(array, WRITES, result, seed=0, names=["used"])
    (full, said), (partly, nothing) = found.values()
    assert nothing == ()
    (one,) = said
    assert one.in_words(is_closed=True).startswith(
        "Assumed: other data fills the drives; with --used 60% (the rest trimmed): "
    )
    assert one.iops == pytest.approx(partly.iops.mean, rel=0.05)
    assert partly.iops.mean > 2.5 * full.iops.mean
    # rule F22, and the closed form of uniform writes, by the spare that makes it so
    spare = (1 + Array(WORDS).drive.over_provisioning_ratio) / 0.6 - 1
    assert spare_of(partly.write_amplification_ratio) == pytest.approx(spare, rel=0.06)
    assert full.to_dict()["per_disk"][0]["write_amplification_ratio"] == pytest.approx(
        full.write_amplification_ratio, rel=0.02
    )


def test_reads_have_no_write_amplification() -> None:
    reads = Workload.parse({"size": "4 KiB", "clients": 8})
    assert simulate(Array(WORDS), reads, n_requests=2000).to_dict()["write_amplification_ratio"] is None
