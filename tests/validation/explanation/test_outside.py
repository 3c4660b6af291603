"""Faults from outside of the engine, as they are kept, and a few that are drawn and measured here."""

import json
from pathlib import Path

import pytest

from tests.validation.explanation import page, sound
from tests.validation.explanation.outside import cases, table
from tests.validation.explanation.outside.drives import Disk, Flash
from tests.validation.explanation.outside.faults import FAULTS
from tests.validation.explanation.outside.simulator import Box, Load, run


def test_faults_of_many_kinds_are_drawn_and_some_are_held_out() -> None:
    first, second = ({case.fault for case in cases.faults(number)} for number in (1, 2))
    held = {name for name, fault in FAULTS.items() if fault.is_held_out}
    assert len(first) >= 25
    assert len(second) >= 25
    assert held
    assert not held & first
    assert held <= second


def test_the_arrays_of_the_draws_differ() -> None:
    words = [one.words for number in table.DRAWS for one in cases.subjects_of(number).values()]
    assert len(set(words)) == len(words)


def test_disks_read_on_and_mirrors_are_read_as_linux_does() -> None:
    """One client in order has what the platter passes; of RAID 1 one half has it all, of many the first idle one."""

    def bytes_per_s(kind: str, n: int, depth: int, member: type[Disk | Flash] = Disk) -> tuple[float, list[int]]:
        box, load = Box([member() for _ in range(n)], kind), Load(128 << 10, depth, is_sequential=True)
        rate, _ = run(box, load, 400, 1)
        return rate * load.size, [at for at, one in enumerate(box.members) if one.next_read[0]]

    assert bytes_per_s("stripe", 1, 1)[0] == pytest.approx(Disk().bytes_per_s, rel=0.01)
    for member in (Disk, Flash):
        assert bytes_per_s("mirrors", 2, 4, member)[1] == [0]
        assert bytes_per_s("mirrors", 4, 1, member)[1] == [0, 2]
        assert bytes_per_s("mirrors", 4, 8, member)[1] == [0, 1, 2, 3]
    blind = Box([Disk(reads_ahead=False)])
    alone, _ = run(blind, Load(128 << 10, 1, is_sequential=True), 100, 1)
    assert alone == pytest.approx(1 / Disk().turn, rel=0.15)


def test_a_write_to_parity_comes_a_turn_after_what_is_read_and_of_few_disks_after_the_others() -> None:
    """Of five disks the strip and parity are read, and written a turn later; of four the other strips (Linux md)."""

    def turns(n: int, is_write: bool) -> float:
        rate, _ = run(Box([Disk() for _ in range(n)], "parity", n_parity=1), Load(8192, 1, is_write), 600, 1)
        return 1 / rate / Disk().turn

    # the later one of two disks is a sixth of a turn behind the mean of one
    both = turns(5, False) + 1 / 6
    assert turns(5, True) == pytest.approx(both + 1, rel=0.04)
    assert turns(4, True) == pytest.approx(2 * both, rel=0.04)


def test_disks_of_pools_are_read_as_openzfs_reads_them() -> None:
    """Ten commands at once of each disk; a large read of small records is one or two accesses of a mirror."""

    def rate(box: Box, size: int, depth: int) -> float:
        return run(box, Load(size, depth), 500, 1)[0]

    def pool(n: int) -> Box:
        return Box([Disk() for _ in range(n)], "pool", record=16384)

    assert rate(pool(4), 16384, 128) == pytest.approx(4 * rate(Box([Disk()]), 16384, 10), rel=0.05)
    alone = rate(Box([Disk()]), 1 << 20, 1)
    assert 0.9 * alone < rate(pool(2), 1 << 20, 1) < 1.2 * alone
    raidz = Box([Disk() for _ in range(6)], "raidz", n_parity=2, record=131072, width=6)
    assert rate(raidz, 131072, 1) == pytest.approx(rate(raidz, 4096, 1), rel=0.02)


def test_bits_of_a_bitmap_are_written_at_once_and_safely() -> None:
    """Writes that wait for the bitmap are taken together; each writing of it empties the buffers before (Linux md)."""

    def rate(depth: int, bits: float) -> float:
        box = Box([Disk(is_cached=True) for _ in range(4)], "mirrors", bits=bits)
        return run(box, Load(8192, depth, is_write=True), 600, 1)[0]

    alone, together = rate(1, 1.0), rate(8, 1.0)
    assert alone < rate(1, 0.0) / 2
    assert 2 * alone < together < rate(8, 0.0)


def test_what_is_lost_is_near_what_was_drawn() -> None:
    case = next(case for case in cases.faults(1) if case.fault == "fewer lanes" and case.asked >= 2)
    strength, loss = cases.strength_of(case)
    assert strength > 1
    assert loss == pytest.approx(case.asked, rel=0.1)


def test_a_case_is_measured_as_fio_writes_it(tmp_path: Path) -> None:
    case = next(cases.sound(1, 1))
    document = json.loads(cases.measure(tmp_path / "sound.json", case, 0.0).read_text())
    assert len(document["jobs"]) == len(case.loads)
    again = json.loads(cases.measure(tmp_path / "again.json", case, 0.0).read_text())
    assert again == document


def test_of_the_kept_cases_most_are_seen_and_found() -> None:
    """Bounds of what was reached, below it by the chance of so few cases; the page has the figures."""
    for draw, first, three, wrong in (
        (1, 0.65, 0.7, 0.2),
        (2, 0.5, 0.6, 0.2),
        (3, 0.45, 0.6, 0.2),
        (4, 0.4, 0.5, 0.1),
        (5, 0.45, 0.6, 0.1),
        (6, 0.45, 0.65, 0.1),
        (7, 0.55, 0.7, 0.1),
        (8, 0.45, 0.6, 0.1),
        (9, 0.45, 0.6, 0.1),
        (10, 0.5, 0.7, 0.1),
        (11, 0.5, 0.7, 0.1),
        (12, 0.5, 0.6, 0.1),
        (13, 0.5, 0.6, 0.1),
    ):
        rows = table.chosen(table.read(), draw, False)
        assert len(rows) >= 25
        found = table.shares(rows)
        assert found["seen"] >= 0.85
        assert found["wrong"] <= wrong
        assert found["first"] >= first
        assert found["three"] >= three


def test_what_is_named_with_more_than_eighty_percent_is_right_in_three_of_four() -> None:
    rows = [row for row in table.read() if row.fault and not row.before and row.first[1] >= 0.8]
    assert len(rows) >= 20
    assert sum(row.place == "1" for row in rows) >= 0.75 * len(rows)


def test_a_sound_measurement_that_is_slower_is_noticed_the_sooner_the_slower_it_is() -> None:
    curves = sound.curve(sound.read())
    assert len(curves) >= 5
    for shares in curves.values():
        assert shares == sorted(shares)
        assert shares[-1] >= 0.8


def test_the_page_is_that_of_the_tables() -> None:
    assert page.PAGE.read_text(encoding="utf-8") == page.text()
