"""The spread that intervals of fitted drives have, on what their fits did not see: read from the page of the fits."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from diskmodel.uncertainty.spread import spread_of, student

PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "validation-fio-fits.md"
CELL = re.compile(r"(\*\*)?([+-]\d+)%, ([+-]\d+)%")


def rows() -> Iterator[tuple[list[tuple[float, float]], list[tuple[float, float]]]]:
    """Yield logarithms of the errors of rate and p99 of each drive, at depths that were fitted and at others."""
    for line in PAGE.read_text(encoding="utf-8").split("\n## Reads\n")[1].splitlines():
        found = CELL.findall(line)
        if line.startswith("|") and found:
            logs = [(bold, [math.log1p(max(int(x), -95) / 100) for x in pair]) for bold, *pair in found]
            fitted, held = (
                [(one[0], one[1]) for bold, one in logs if bool(bold) is is_held] for is_held in (False, True)
            )
            yield fitted, held


@pytest.mark.parametrize(("at", "statistic", "least"), [(0, "iops", 0.90), (1, "p99", 0.95)])
def test_what_a_fit_does_not_see_is_off_by_as_much_as_what_it_sees(at: int, statistic: str, least: float) -> None:
    spread = spread_of("fitted-flash", "model", statistic)
    assert spread is not None
    inside = n = 0
    for fitted, held in rows():
        own = math.sqrt(sum(one[at] ** 2 for one in fitted) / len(fitted))
        reach = student(1.96, spread.dof) * max(spread.log_sd, own)
        inside += sum(abs(one[at]) < reach for one in held)
        n += len(held)
    assert n > 140
    assert inside / n > least
