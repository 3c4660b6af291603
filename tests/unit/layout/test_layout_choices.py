"""What `md_tables` decides beside the sizes: how copies are read, what is refused and how it is said."""

from __future__ import annotations

import pytest

from diskmodel.errors import DescriptionError, Fault
from diskmodel.layout.description import Layout
from diskmodel.layout.md import mirror
from diskmodel.layout.md.rebuild import step
from diskmodel.layout.md.tables import MdTables, md_tables
from diskmodel.layout.pieces import ChildIo, Copy
from diskmodel.layout.plan import plan
from diskmodel.records import READ, WRITE


def tables(**layout: object) -> MdTables:
    """Strips of eight sectors, disks of a hundred strips."""
    return md_tables(Layout.parse({"strip_bytes": 4096} | layout), 800, 512)


@pytest.mark.parametrize(
    ("layout", "policy"),
    [
        ({"level": "raid1", "disks": 2}, "nearest"),
        ({"level": "raid10", "disks": 4}, "idle-or-nearest"),
        ({"level": "raid1e", "disks": 3}, "idle-or-nearest"),
        ({"level": "raid10", "disks": 4, "arrangement": "far"}, "lowest"),
        ({"level": "raid10", "disks": 4, "arrangement": "far", "read_policy": "primary"}, "primary"),
    ],
)
def test_how_the_nearest_copy_is_reported(layout: dict[str, object], policy: str) -> None:
    assert tables(**layout).read_policy == policy


@pytest.mark.parametrize(
    ("layout", "is_cut"),
    [
        ({"level": "raid10", "disks": 4}, True),
        ({"level": "raid10", "disks": 4, "copies": 4}, False),
        ({"level": "raid10", "disks": 4, "copies": 4, "arrangement": "far"}, True),
        ({"level": "raid1", "disks": 3}, False),
        ({"level": "jbod", "disks": 2}, False),
        ({"level": "raid0", "disks": 2}, True),
    ],
)
def test_where_strips_of_a_read_stay_apart(layout: dict[str, object], is_cut: bool) -> None:
    assert tables(**layout, read_strips="separate").cuts_reads is is_cut
    assert not tables(**layout).cuts_reads


def test_strips_that_stay_apart_are_commands_of_their_own() -> None:
    t = tables(level="raid0", disks=2, read_strips="separate")
    first = plan(t, READ, 4, 28, lambda copies, _: copies[0]).first
    assert first == [ChildIo(0, READ, 4, 4), ChildIo(1, READ, 0, 8), ChildIo(0, READ, 8, 8), ChildIo(1, READ, 8, 8)]
    joined = plan(t, WRITE, 4, 28, lambda copies, _: copies[0]).first
    assert joined == [ChildIo(0, WRITE, 4, 12), ChildIo(1, WRITE, 0, 16)]


def refused(**layout: object) -> Fault:
    with pytest.raises(DescriptionError) as caught:
        tables(**layout)
    (fault,) = caught.value.faults
    return fault


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        ({"strip_bytes": 4000}, "layout.strip_bytes=4000: must be a multiple of the sector size 512; try 4096"),
        ({"strip_bytes": 1}, "layout.strip_bytes=1: must be a multiple of the sector size 512; try 512"),
        (
            {"data_offset_bytes": 700},
            "layout.data_offset_bytes=700: must be a multiple of the sector size 512; try 512",
        ),
        ({"member_bytes": 5000}, "layout.member_bytes=5000: must be a multiple of the sector size 512; try 5120"),
        ({"member_bytes": 512 * 801}, "layout.member_bytes=410112: the disk has 409600 bytes; use less"),
        (
            {"data_offset_bytes": 512 * 793},
            "layout.strip_bytes=4096: no whole strip fits on the disk; use a smaller strip or offset",
        ),
        (
            {"failed": [0], "rebuild": {"window_bytes": 1000}},
            "layout.rebuild.window_bytes=1000: must be a multiple of the sector size 512; try 1024",
        ),
    ],
)
def test_what_does_not_fit_is_reported_with_a_way_out(layout: dict[str, object], message: str) -> None:
    assert str(refused(**{"level": "raid5", "disks": 4} | layout)) == message


def test_the_least_that_fits_is_taken() -> None:
    t = tables(level="raid5", disks=4, data_offset_bytes=512 * 792)
    assert (t.member, t.capacity) == (8, 24)
    t = tables(level="raid5", disks=4, member_bytes=512 * 800)
    assert t.member == 800


def test_a_copy_is_on_the_spare_as_soon_as_its_last_sector_is() -> None:
    t = tables(level="raid1", disks=2, failed=[0], spares=1, data_offset_bytes=8192, rebuild={"window": "8 KiB"})
    copies = [Copy(0, 16), Copy(1, 16)]
    assert mirror.surviving(t, copies, 8, front=8) == [Copy(2, 16), Copy(1, 16)]
    assert mirror.surviving(t, copies, 8, front=7) == [Copy(1, 16)]
    assert mirror.surviving(t, copies, 8, front=0) == [Copy(1, 16)]


def test_far_copies_are_rebuilt_from_where_the_others_lie() -> None:
    t = tables(level="raid10", disks=4, copies=4, arrangement="far", spares=1, rebuild={"window": "4 KiB"}, failed=[0])
    # a part is 25 strips; strip 0 of disk 0 is chunk 0, whose second copy begins the second part of disk 1
    assert step(t, 0).first == [ChildIo(1, READ, 25 * 8, 8)]
    # the second part of disk 0 holds what the first part of disk 3 holds, the third what disk 2, the fourth what disk 1
    assert [step(t, 25 * 8 * part).first for part in (1, 2, 3)] == [[ChildIo(disk, READ, 0, 8)] for disk in (3, 2, 1)]
