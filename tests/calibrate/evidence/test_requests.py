"""Reading request traces, and the scores."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from calibrate.evidence.requests import read_requests
from calibrate.score.agreement import agreement, demerit_ms
from calibrate.trace.clock.issue import Pause, issue_ms
from diskmodel.errors import FormatError

TEXT = """R Hit 100 8 5000.0 20000.0

W Miss 108 4 700.5 10000.0
R Hit 9 1 3000.0 1.5
R Hit 10 1
"""


def test_columns_blank_lines_and_a_cut_last_line(tmp_path: Path) -> None:
    path = tmp_path / "a.trace"
    path.write_text(TEXT)
    trace = read_requests(path)
    assert trace.is_write.tolist() == [False, True, False]
    assert trace.end.tolist() == [108, 112, 10]
    assert trace.response_ms.tolist() == [5.0, 0.7005, 3.0]
    assert issue_ms(trace, Pause.AFTER).tolist() == pytest.approx([0.0, 25.0, 35.7005])
    assert issue_ms(trace, Pause.BEFORE).tolist() == pytest.approx([20.0, 35.0, 35.702])


def test_a_malformed_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "b.trace"
    path.write_text("R Hit 100 8 5000.0 20000.0\nX y z\nR Hit 100 8 5000.0 20000.0\n")
    with pytest.raises(FormatError, match="line 2"):
        read_requests(path)


def test_demerit_of_a_shift_is_the_shift() -> None:
    values = np.random.default_rng(1).gamma(2.0, 3.0, 500)
    assert demerit_ms(values, values[::-1]) == 0.0
    assert demerit_ms(values, values + 0.25) == pytest.approx(0.25)


def test_agreement_by_hand() -> None:
    measured = np.array([2.0, 4.0])
    draws = np.array([[3.0, 3.0], [5.0, 5.0]])
    score = agreement(measured, np.array([3.0, 5.0]), draws)
    assert score["mae_ms"] == 1.0
    assert score["mean_error_ratio"] == pytest.approx(1 / 3)
    assert score["correlation"] == pytest.approx(1.0)
