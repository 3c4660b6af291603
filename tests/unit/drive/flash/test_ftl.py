"""Translation layer of the scaled drive: what must hold whatever is written (rules F12 to F16)."""

from __future__ import annotations

import random

import pytest

from diskmodel.drive.flash.ftl import RESERVE_BLOCKS, Ftl, scaled


@pytest.mark.parametrize("policy", ["greedy", "cost-benefit"])
@pytest.mark.parametrize("is_fresh", [False, True])
def test_no_unit_is_lost_or_held_twice(policy: str, is_fresh: bool) -> None:
    tables = scaled(900, 40, 32, 4, policy, is_fresh)
    ftl, draw = Ftl(tables), random.Random(3)
    written = set()
    for _ in range(10_000):
        unit = draw.randrange(900) if draw.random() < 0.5 else draw.randrange(50)
        written.add(unit)
        ftl.write(unit)
    held = [unit for unit in ftl._unit_at if unit >= 0]
    assert len(held) == len(set(held))
    assert set(held) == (written if is_fresh else set(range(900)))
    assert all(ftl._unit_at[ftl._slot_of[unit]] == unit for unit in written)
    for block, valid in enumerate(ftl._valid):
        slots = ftl._unit_at[block * 32 : block * 32 + 32]
        assert valid % (1 << 40) == sum(unit >= 0 for unit in slots)


def test_fresh_drive_copies_nothing_until_its_flash_is_full() -> None:
    tables = scaled(900, 40, 32, 4, "greedy", True)
    ftl, draw = Ftl(tables), random.Random(1)
    for _ in range((40 + RESERVE_BLOCKS - 3) * 32):
        assert ftl.write(draw.randrange(900)) == (0, 0)
    assert not ftl.is_cleaning
    for _ in range(900):
        ftl.write(draw.randrange(900))
    assert ftl.is_cleaning
    assert ftl.n_copied > 0


def test_fresh_large_drive_begins_to_copy_after_its_physical_size() -> None:
    tables = scaled(100_000, 1000, 107, 1, "greedy", True)
    ftl, draw = Ftl(tables), random.Random(1)
    for _ in range(107_000):
        ftl.write(draw.randrange(100_000))
    assert ftl.n_copied == 0
    for _ in range(2_000):
        ftl.write(draw.randrange(100_000))
    assert ftl.n_copied > 2_000


@pytest.mark.parametrize("over_provisioning", [0.01, 0.07, 0.28, 1.0])
@pytest.mark.parametrize("block_units", [64, 4096])
def test_scaled_drive_keeps_the_over_provisioning(over_provisioning: float, block_units: int) -> None:
    n_units = 123_456_789
    tables = scaled(n_units, round(n_units * (1 + over_provisioning) / block_units), block_units, 4, "greedy", False)
    ratio = tables.model_blocks * tables.block_units / tables.model_units - 1
    assert ratio == pytest.approx(over_provisioning, rel=0.02)
    assert int(tables.valid.sum()) == tables.model_units
    assert tables.valid.max() <= tables.block_units


def test_fold_is_within_the_model_and_keeps_runs_together() -> None:
    n_units = 10_000_019
    tables = scaled(n_units, 12_000, 1024, 4, "greedy", False)
    folded = [tables.fold(unit) for unit in (0, n_units - 1, n_units // 2)]
    assert all(0 <= unit < tables.model_units for unit in folded)
    start = 5000 * tables.extent_units
    assert [tables.fold(start + i) - tables.fold(start) for i in range(tables.extent_units)] == list(
        range(tables.extent_units)
    )


@pytest.mark.parametrize("n_units", [1, 32, 64, 100])
def test_drive_without_spare_flash_still_works(n_units: int) -> None:
    """Only the blocks in reserve and one slot are free; every write is still found again."""
    ftl, draw = Ftl(scaled(n_units, -(-n_units // 32), 32, 4, "greedy", False)), random.Random(1)
    for _ in range(500):
        ftl.write(draw.randrange(n_units))
    assert sorted(unit for unit in ftl._unit_at if unit >= 0) == list(range(n_units))
