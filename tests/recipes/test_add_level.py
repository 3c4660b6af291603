"""docs/how-to/add-a-raid-level.md, followed: an entry of the list of levels is enough, in both engines."""

from __future__ import annotations

import random

import pytest

from diskmodel.analytic.reliability import data_loss
from diskmodel.array import Array
from diskmodel.errors import DescriptionError
from diskmodel.layout.levels import LEVELS, RaidLevel
from tests.differential.cases import draw_case
from tests.differential.compare import difference


@pytest.fixture(autouse=True)
def raid7(monkeypatch: pytest.MonkeyPatch) -> None:
    """The level of the page."""
    level = RaidLevel("raid7", "RAID 7 (three parities)", "parity", min_disks=5, n_parity=3)
    monkeypatch.setitem(LEVELS, "raid7", level)


def test_descriptions_know_the_level() -> None:
    array = Array.parse({"drive": "generic-15k", "layout": {"level": "raid7", "disks": 8, "failed": [0, 1, 2]}})
    assert array.layout.data_strips == 5
    with pytest.raises(DescriptionError, match="raid7 has lost data"):
        Array.parse({"drive": "generic-15k", "layout": {"level": "raid7", "disks": 8, "failed": [0, 1, 2, 3]}})
    with pytest.raises(DescriptionError, match="raid7 needs at least 5 disks"):
        Array.parse({"drive": "generic-15k", "layout": {"level": "raid7", "disks": 4}})


@pytest.mark.parametrize("seed", range(12))
def test_both_engines_agree_on_it(seed: int) -> None:
    draw = random.Random(seed)

    def pick(options: object) -> object:
        assert isinstance(options, (tuple, list, range))
        return "raid6" if "raid6" in options else draw.choice(options)

    # no level of RAID writes the zones of a host-managed drive in order
    drawn = (draw_case(pick) for _ in range(100))
    case = next(one for one in drawn if "write_zones" not in one["array"]["drive"])
    case["array"]["layout"] |= {"level": "raid7", "disks": draw.choice((5, 6, 8))}
    case["array"]["layout"] |= {"failed": [0]} if case["array"]["layout"].get("failed") else {}
    reported = difference(case)
    assert reported is None, reported


def test_formulas_know_it() -> None:
    assert LEVELS["raid7"].write_penalty == 8
    three = data_loss("raid7", n_disks=8, mttf_hours=1e6, mttr_hours=24, disk_bytes=1e12)
    two = data_loss("raid6", n_disks=8, mttf_hours=1e6, mttr_hours=24, disk_bytes=1e12)
    assert three.mttdl_hours > 10 * two.mttdl_hours
