"""Which kinds a drive belongs to, and which drives a word finds."""

import pytest

from diskmodel.drive import catalogue
from diskmodel.drive.catalogue.kinds import KINDS, find_drives, kinds_of
from diskmodel.errors import DescriptionError


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("seagate-exos-x24", ["hdd", "nearline"]),
        ("hgst-ultrastar-7k4000", ["hdd", "nearline"]),
        ("hitachi-deskstar-7k1000c", ["hdd"]),
        ("seagate-archive-st8000as0002", ["hdd", "smr"]),
        ("wd-ultrastar-hc620", ["hdd", "smr", "host-managed"]),
        ("seagate-exos-10e2400-2400", ["hdd", "10k"]),
        ("quantum-atlas-10k", ["hdd", "10k"]),
        ("generic-15k", ["hdd", "15k"]),
        ("samsung-pm893-960", ["sata-ssd"]),
        ("generic-sas-ssd", ["sas-ssd"]),
        ("samsung-pm9a3-7680", ["nvme"]),
    ],
)
def test_kinds(name: str, kinds: list[str]) -> None:
    assert kinds_of(catalogue()[name]) == kinds


def test_every_drive_is_of_some_kind_and_every_kind_has_drives() -> None:
    assert all(kinds_of(drive) for drive in catalogue().values())
    assert all(find_drives(catalogue(), kind=kind) for kind in KINDS)


def test_without_word_and_kind_all_drives_are_found() -> None:
    assert find_drives(catalogue()) == list(catalogue())


def test_a_word_is_searched_for_in_names_buses_and_kinds() -> None:
    assert find_drives(catalogue(), "PM9A3") == [f"samsung-pm9a3-{size}" for size in (1920, 3840, 7680, 960)]
    assert find_drives(catalogue(), "nvme") == find_drives(catalogue(), kind="nvme")
    assert set(find_drives(catalogue(), "SAS 12")) >= {"generic-sas-ssd", "seagate-exos-10e2400-2400"}
    assert find_drives(catalogue(), "samsung nvme") == find_drives(catalogue(), "samsung", "nvme")


def test_a_kind_is_no_drive() -> None:
    with pytest.raises(DescriptionError, match="choose one from `diskmodel drives --kind nearline`"):
        catalogue()["nearline"]


@pytest.mark.parametrize("word", ["", "  ", "exos floppy"])
def test_nothing_found(word: str) -> None:
    with pytest.raises(DescriptionError, match="matches no name or kind"):
        find_drives(catalogue(), word)
