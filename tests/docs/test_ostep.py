"""The page on OSTEP's homework gives the answers of first principles, for drawn exercises.

Here are no engines: angles by hand, and the tables of the book for the mapping.
"""

from __future__ import annotations

import contextlib
import io
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from diskmodel.queue import SCHEDULERS
from tests.docs.blocks import blocks

PAGE = Path(__file__).parents[2] / "docs/course/ostep.md"
Row = tuple[int, int, int, int]


@pytest.fixture(scope="module")
def page() -> Iterator[dict[str, Any]]:
    """What the page defines."""
    names: dict[str, Any] = {"__name__": "__page__"}
    with patch.dict(SCHEDULERS):
        for block in blocks(PAGE):
            if block.language == "python":
                with contextlib.redirect_stdout(io.StringIO()):
                    exec(compile(block.text, str(PAGE), "exec", dont_inherit=True), names)
        yield names


def by_hand(asked: list[int], zones: tuple[int, ...], skew: int, policy: str, window: int, speed: int = 1) -> list[Row]:
    """Seek, rotation and transfer of each block, in order of service."""
    place = {}
    for track, z in enumerate(zones):
        first = sum(360 // other for other in zones[:track])
        for i in range(360 // z):
            place[first + i] = (track, (180 - z / 2 + (i + track * skew) * z) % 360, z)
    at, now, left, served = 0, 0.0, list(enumerate(asked)), []

    def parts(block: int) -> tuple[float, float, float]:
        track, angle, z = place[block]
        seek = 40 / speed * abs(track - at)
        return seek, (angle - now - seek) % 360, z

    while left:
        if policy == "FIFO":
            chosen = left[0]
        elif policy == "SSTF":
            chosen = min(left, key=lambda one: (abs(place[one[1]][0] - at), sum(parts(one[1]))))
        else:
            chosen = min(
                (one for one in left if one[0] // window == left[0][0] // window), key=lambda o: sum(parts(o[1]))
            )
        block = chosen[1]
        spent = parts(block)
        served.append((block, *(round(x) for x in spent)))
        at, now = place[block][0], now + sum(spent)
        left.remove(chosen)
    return served


POLICIES = {"FIFO": "fcfs", "SSTF": "track-sstf", "SATF": "satf"}


@pytest.mark.parametrize("policy", ["FIFO", "SSTF", "SATF", "BSATF"])
def test_one_disk(page: dict[str, Any], policy: str) -> None:
    rng = random.Random(policy)
    for _ in range(25):
        zones = rng.choice([(30, 30, 30), (10, 20, 30), (20, 30, 40)])
        skew, window, speed = rng.randrange(4), rng.randrange(1, 5), rng.choice([1, 2, 4])
        asked = rng.sample(range(sum(360 // z for z in zones)), 8)
        name = POLICIES.get(policy) or page["bounded"](window)
        found = page["solve"](asked, zones=zones, skew=skew, seek_speed=speed, policy=name)
        expected = by_hand(asked, zones, skew, policy, window if policy == "BSATF" else len(asked), speed)
        assert found == expected, (policy, asked, zones, skew, window, speed)


def test_the_answers_that_the_book_prints(page: dict[str, Any]) -> None:
    assert page["solve"]([0]) == [(0, 0, 165, 30)]
    assert sum(sum(row[1:]) for row in page["solve"]([7, 30, 8])) == 795


@pytest.mark.parametrize("level", ["raid0", "raid10", "raid4", "raid5", "raid5 LA"])
def test_mapping(page: dict[str, Any], level: str) -> None:
    rng = random.Random(level)
    n = 6 if level == "raid10" else rng.choice([5, 6, 7])
    for block in rng.sample(range(200), 12):
        stripe, column = divmod(block, n - 1)
        if level == "raid0":
            where = [(block % n, block // n)]
        elif level == "raid10":
            pair, row = block % (n // 2), block // (n // 2)
            where = [(2 * pair, row), (2 * pair + 1, row)]
        else:
            parity = n - 1 if level == "raid4" else (n - 1 - stripe) % n
            data = column
            if level == "raid5":
                data = (parity + 1 + column) % n
            elif level == "raid5 LA" and column >= parity:
                data = column + 1
            where = [(data, stripe), (parity, stripe)]
        more = {"rotation": "left-asymmetric"} if level.endswith("LA") else {}
        found = page["operations"](level.split()[0], n, block, True, **more)
        verbs = ["write"] if level in ("raid0", "raid10") else ["read", "write"]
        assert sorted(found) == sorted((*place, verb) for place in where for verb in verbs)


def test_timing(page: dict[str, Any]) -> None:
    """Random blocks far apart: each costs 10.1 ms on its disk, and writing what was read costs nothing."""
    far = [1_000 * i + 150 for i in (3, 11, 7, 25, 18)]
    for level, n in (("raid0", 4), ("raid4", 4), ("raid5", 5)):
        for is_write in (False, True):
            counts = [0] * n
            for block in far:
                stripe, column = divmod(block, n - 1)
                parity = n - 1 if level == "raid4" else (n - 1 - stripe) % n
                data = block % n if level == "raid0" else column if level == "raid4" else (parity + 1 + column) % n
                counts[data] += 1
                if is_write and level != "raid0":
                    counts[parity] += 1
            assert page["timing"](level, n, far, is_write) == pytest.approx(10.1 * max(counts)), (level, is_write)
