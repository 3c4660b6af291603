"""A drive of the reader's own in the lab."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from diskmodel.drive import load_drive
from diskmodel.errors import DescriptionError
from diskmodel.lab.drives import drive_of, set_own_drives
from diskmodel.lab.offers import offers
from diskmodel.lab.settings import Settings


@pytest.fixture
def mine(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "mine.toml"
    load_drive("generic-10k").model_copy(update={"name": "Mine"}).save(path)
    yield path
    set_own_drives(())


def test_is_offered_first_and_chosen(mine: Path) -> None:
    set_own_drives([mine])
    assert offers()["drives"][0] == {"value": "mine", "text": "Mine", "group": "your own", "has_one_arm": True}
    assert offers()["defaults"]["drive"] == "mine"
    assert Settings.parse({"drive": "mine"}).array().drive.name == "Mine"
    set_own_drives(())
    assert offers()["defaults"]["drive"] == Settings().drive
    with pytest.raises(DescriptionError):
        drive_of("mine")


def test_what_cannot_be_added_is_reported_and_changes_nothing(mine: Path, tmp_path: Path) -> None:
    set_own_drives([mine])
    broken, namesake = tmp_path / "broken.toml", tmp_path / "generic-15k.toml"
    broken.write_text("kind = 'hdd'")
    namesake.write_text(mine.read_text())
    for paths in ([broken], [namesake], [tmp_path / "absent.toml"], [mine, mine]):
        with pytest.raises(DescriptionError):
            set_own_drives(paths)
    assert offers()["drives"][0]["value"] == "mine"


def test_a_missing_disk_is_refused_where_data_are_lost() -> None:
    whole, degraded = (Settings.parse({"has_failed_disk": lost}) for lost in (False, True))
    assert whole.array().layout.failed == ()
    assert degraded.array().layout.failed == (0,)
    with pytest.raises(DescriptionError, match="lost data"):
        Settings.parse({"level": "raid0", "has_failed_disk": True}).array()
    survivors = {level["value"] for level in offers()["levels"] if level["survives"]}
    assert survivors == {"raid1", "raid1e", "raid10", "raid5", "raid50", "raid6", "raid60"}
