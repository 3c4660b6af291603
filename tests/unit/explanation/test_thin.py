"""First writes to chunks of a thin volume, beside the small simulator, which shares no code."""

from statistics import mean

import pytest

from diskmodel.array import Array
from diskmodel.explanation.causes import CAUSES
from diskmodel.explanation.measured import Measured
from diskmodel.workload import Workload
from tests.validation.explanation.outside.drives import Disk, Flash
from tests.validation.explanation.outside.simulator import Box, Load, times_of


def _writes(box: Box, size: float, depth: int) -> dict[str, float]:
    found = times_of(box, Load(size, depth, is_write=True), 1_500, 1)
    return {"iops": found.rate, "writes.mean": mean(found.writes) * 1e9}


@pytest.mark.parametrize(
    ("words", "kind", "n"),
    [("6x generic-10k raid10", "mirrors", 6), ("generic-10k", "stripe", 1), ("samsung-pm893-960", "stripe", 1)],
)
@pytest.mark.parametrize("depth", [1, 4])
@pytest.mark.parametrize("chunk", [64 << 10, 256 << 10])
def test_a_first_write_reads_copies_and_writes(words: str, kind: str, n: int, depth: int, chunk: int) -> None:
    """Rates within a third, of what writes of whole chunks make there."""
    array = Array.from_words(words).model_copy(update={"drive_write_cache": False})

    def box(copied: float) -> Box:
        members = [Disk(60 / 10000, 0.0004, 0.008, 90e6) if array.drive.has_arms else Flash() for _ in range(n)]
        return Box([*members], kind, chunk=copied)

    workload = Workload.parse({"size": "4 KiB", "clients": depth, "read_ratio": 0})
    change = CAUSES["thin-unmapped"].change(array, workload, chunk)
    assert change is not None
    assert change.law is not None
    assert isinstance(change.workload, Workload)
    assert change.workload.mean_size_bytes == chunk
    whole, copied = _writes(box(0), chunk, depth), _writes(box(chunk), 4096, depth)
    found = change.law(whole, Measured("load", workload, whole, {"writes": 1e4}))
    assert found["iops"] == pytest.approx(copied["iops"], rel=1 / 3)
    assert found["iops"] * found["writes.mean"] == pytest.approx(depth * 1e9, rel=0.02)


def test_a_buffer_takes_the_write_with_its_chunk() -> None:
    disk = Array.from_words("generic-7k2")
    workload = Workload.parse({"size": "4 KiB", "clients": 1, "read_ratio": 0})
    more = {}
    for is_on in (True, False):
        change = CAUSES["thin-unmapped"].change(
            disk.model_copy(update={"drive_write_cache": is_on}), workload, 64 << 10
        )
        assert change is not None
        assert change.law is not None
        figures = {"iops": 100.0, "writes.mean": 1e7}
        more[is_on] = change.law(figures, Measured("load", workload, figures, {"writes": 1e4}))["writes.mean"] - 1e7
    turn_ns = 60e9 / 7200
    assert more == {True: pytest.approx(1.5 * turn_ns), False: pytest.approx(2.5 * turn_ns)}


def test_larger_writes_than_a_chunk_copy_nothing() -> None:
    large = Workload.parse({"size": "1 MiB", "clients": 1, "read_ratio": 0})
    assert CAUSES["thin-unmapped"].change(Array.from_words("generic-7k2"), large, 64 << 10) is None
