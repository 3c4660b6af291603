"""Odd but legal questions are within bounds: a drawn handful here, a thousand by hand (`odd_questions`)."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.fuzz.odd_questions import drawn

#: Of the handful, and how many it has.
SEED, N = 11, 2


@pytest.mark.slow
@pytest.mark.evidence
def test_a_handful_of_odd_questions() -> None:
    command = [sys.executable, "-m", "tests.fuzz.odd_questions", str(N), "--seed", str(SEED)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_same_number_draws_the_same_question() -> None:
    assert str(drawn(3, SEED)) == str(drawn(3, SEED))
    assert len({str(drawn(n, SEED)) for n in range(20)}) == 20
