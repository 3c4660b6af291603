"""Consumer drives behind a cache of one bit a cell (rule F23)."""

from __future__ import annotations

import pytest

from diskmodel import Array, DescriptionError, Flash, Workload, load_drive, simulate
from diskmodel.drive.flash.sheet import FlashSheet

SHEET = {
    "sequential_read": "7000 MB/s",
    "sequential_write": "5000 MB/s",
    "random_reads_per_s": 1_000_000,
    "random_writes_per_s": 1_000_000,
}
CACHE = {"sustained_write": "1500 MB/s", "cache": "113 GB", "fixed_cache": "6 GB"}


def drive(name: str = "samsung-980-pro-1tb", used_ratio: float = 1.0) -> Flash:
    found = load_drive(name).filled(used_ratio)
    assert isinstance(found, Flash)
    return found


@pytest.mark.parametrize(
    ("name", "unused_gb", "room_gb"),
    [
        ("samsung-980-pro-1tb", 0, 6),
        ("samsung-980-pro-1tb", 150, 56),  # three bits a cell
        ("samsung-980-pro-1tb", 900, 113),
        ("samsung-870-qvo-4tb", 200, 56),  # four
    ],
)
def test_the_cache_shrinks_as_the_drive_fills(name: str, unused_gb: int, room_gb: int) -> None:
    sheet = drive(name).sheet
    assert sheet is not None
    assert sheet.cache_room_bytes(unused_gb * 10**9) == room_gb * 10**9


def test_states_in_order() -> None:
    half = drive(used_ratio=0.5)
    (cached, cache_bytes), (fresh, room_bytes) = half.fast_states()
    assert cache_bytes == 113e9
    assert cache_bytes + room_bytes == pytest.approx((1.07 - 0.5) * half.capacity_bytes, abs=2)
    assert (cached.state, fresh.state, fresh.program_ns) == ("fresh", "fresh", half.program_ns)
    rates = {}
    load = Workload.parse(
        {"size": "128 KiB", "read_ratio": 0.0, "clients": 32, "addresses": {"pattern": "sequential"}, "span_ratio": 0.5}
    )
    for name, state in (("cached", cached), ("steady", half)):
        array = Array(drive=state.model_copy(update={"exact": True}), layout={"level": "jbod", "disks": 1})
        rates[name] = simulate(array, load, n_requests=4000, profile_draws=0).bytes_per_s
    assert rates["cached"] == pytest.approx(5e9, rel=0.05)
    assert rates["steady"] == pytest.approx(1.5e9, rel=0.05)


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"cache": "113 GB"}, "cache_bytes: is of use with the rate behind it; add sustained_write"),
        ({**CACHE, "fixed_cache": "120 GB"}, "fixed_cache_bytes=120000000000: is more than cache_bytes=113000000000"),
        ({**CACHE, "bits_per_cell": 1}, "bits_per_cell"),
    ],
)
def test_mistakes_are_named(fields: dict[str, object], rule: str) -> None:
    with pytest.raises(DescriptionError, match=rule):
        FlashSheet.parse({**SHEET, **fields})


def test_facts_name_the_cache() -> None:
    assert ("SLC cache", "113 GB when empty, 6 GB when full; then 1,500 MB/s in order") in drive().facts()
    assert not [label for label, _ in load_drive("micron-7450-pro-960").facts() if "cache" in label]
