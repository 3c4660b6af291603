"""The time to reach a block, as schedulers compare it (rules Q6, Q12), worked by hand."""

from __future__ import annotations

import pytest

from diskmodel.drive import load_drive
from diskmodel.drive.hdd.tables import HddTables
from diskmodel.drive.mechanics import Arm, Mechanics, Spindle
from diskmodel.records import Op


@pytest.fixture(scope="module")
def mechanics() -> Mechanics:
    tables = load_drive("generic-15k").tables()
    assert isinstance(tables, HddTables)
    return Mechanics(tables)


def test_a_block_on_the_own_track_has_no_margin(mechanics: Mechanics) -> None:
    """The head is at block 0 of its track, and block 10 passes in 10 sectors: far less than the margin."""
    turn, per_track = mechanics.tables.revolution_ns, mechanics.tables.sectors_per_track[0]
    spindle = Spindle(turn, 0)
    start_ns = (turn - spindle.phase_ns) % turn
    wait = 10 * turn // per_track
    assert mechanics.positioning_ns(Arm(), spindle, 10, Op.READ, start_ns, 1_000_000) == pytest.approx(wait, abs=1)


def test_a_block_behind_a_move_may_be_missed(mechanics: Mechanics) -> None:
    """A sector on another track that passes 0.5 ms after the move costs a turn more from a margin of 0.6 ms on."""
    turn, per_track = mechanics.tables.revolution_ns, int(mechanics.tables.sectors_per_track[0])
    spindle = Spindle(turn, 0)
    times = [
        (mechanics.positioning_ns(Arm(), spindle, lba, Op.READ, 0), lba) for lba in range(per_track, 2 * per_track)
    ]
    move = mechanics.move_ns(Arm(), 0, 1, Op.READ)
    plain, lba = min((abs(time - move - 500_000), lba) for time, lba in times)
    assert plain < turn / per_track
    exact = mechanics.positioning_ns(Arm(), spindle, lba, Op.READ, 0)
    assert mechanics.positioning_ns(Arm(), spindle, lba, Op.READ, 0, 400_000) == exact
    assert mechanics.positioning_ns(Arm(), spindle, lba, Op.READ, 0, 600_000) == exact + turn
