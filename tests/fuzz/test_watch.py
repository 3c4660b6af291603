"""The long tier notices what it is there for: an input that fails, ends its process, hangs, or takes all memory."""

from __future__ import annotations

import os
import signal
from random import Random

import pytest

from tests.fuzz import watch as watched_by
from tests.fuzz.check import Check
from tests.fuzz.watch import watch

FAILS, ENDS, HANGS, GROWS = 3, 11, 17, 23


def planted(choose: Random) -> bool:
    """Fails in every way that is known, each at its number."""
    number = _NUMBERS[choose.random()]
    if number == FAILS:
        raise ValueError("as planted")
    if number == ENDS:
        os.kill(os.getpid(), signal.SIGKILL)
    while number == HANGS:
        pass
    if number == GROWS:
        assert bytearray(3 * watched_by.MAX_BYTES)
    return number % 2 == 0


#: What a generator of that number draws first, back to the number.
_NUMBERS = {Random(f"planted {number}").random(): number for number in range(40)}


@pytest.mark.parametrize("jobs", [1, 2])
def test_each_kind_of_failure_is_reported_by_its_number(jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watched_by, "MAX_CORE_S", 0.5)
    found = watch(Check("planted", planted), range(40), jobs)
    report = {finding.number: finding.report.strip().splitlines()[-1] for finding in found.findings}
    assert set(report) == {FAILS, ENDS, HANGS, GROWS}
    assert report[FAILS] == "ValueError: as planted"
    assert report[ENDS].startswith("ended its process: -9")
    assert report[HANGS].startswith("took more than")
    assert report[GROWS] == "MemoryError"
    assert found.n == 40
    assert found.n_understood == 20


def test_numbers_from_any_first_one_on() -> None:
    seen = watch(Check("planted", planted), range(24, 40))
    assert (seen.n, seen.findings, seen.stopped_at) == (16, [], None)
