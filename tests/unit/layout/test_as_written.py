"""RAID levels, sizes and shares as people write them."""

import pytest

from diskmodel import Array, Workload
from diskmodel.analytic.rule import write_penalty
from diskmodel.errors import DescriptionError
from diskmodel.layout.levels import LEVELS, level_name


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("RAID5", "raid5"),
        ("raid 5", "raid5"),
        ("Raid_6", "raid6"),
        ("RAID-10", "raid10"),
        ("raid1+0", "raid10"),
        ("RAID 1/0", "raid10"),
        ("raid 5+0", "raid50"),
        ("RAID 1E", "raid1e"),
        ("JBOD", "jbod"),
    ],
)
def test_a_level_is_understood_as_it_is_usually_written(written: str, meant: str) -> None:
    assert Array("generic-15k", written, 8).layout.level == meant
    assert write_penalty(written) == write_penalty(meant)


@pytest.mark.parametrize("written", ["raid0+1", "RAID 0/1", "raid7", "", "5"])
def test_a_level_that_is_not_ours_is_refused(written: str) -> None:
    with pytest.raises(DescriptionError, match="is not one of the choices"):
        Array("generic-15k", written, 8)


def test_every_registered_name_is_itself() -> None:
    assert [level_name(name) for name in LEVELS] == list(LEVELS)


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("size", "8 KB", 'write for example "8 KiB"'),
        ("size", "8x", "has the unknown unit 'x'; use one of"),
        ("read_ratio", 70, "write 0.7 or 70%"),
        ("read_ratio", "70", "write 0.7 or 70%"),
        ("read_ratio", 700, "lower it"),
        ("span", "20t", 'write "20 TB" or "20 TiB"'),
    ],
)
def test_a_quantity_that_may_mean_two_things_is_corrected_by_name(field: str, value: object, said: str) -> None:
    with pytest.raises(DescriptionError) as refused:
        Workload.parse({"size": "8 KiB", "clients": 1, field: value})
    assert said in str(refused.value)


@pytest.mark.parametrize(("written", "size_bytes"), [("8k", 8192), ("8K", 8192), ("1m", 1 << 20), ("8 KiB", 8192)])
def test_a_size_of_requests_may_be_written_as_in_fio(written: str, size_bytes: int) -> None:
    assert Workload.parse({"size": written, "clients": 1}).streams[0].mean_size_bytes == size_bytes
