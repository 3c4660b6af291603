"""The processor's pauses by hand (rule H4)."""

from __future__ import annotations

import numpy as np

from diskmodel.host.description import Host
from diskmodel.host.pauses import Pauses, draw_pauses

#: Pauses [10, 15), [35, 40), then round: [50, 55), ...
DRAWN = [(10, 5), (20, 5)]


def test_awake_is_the_end_of_a_pause_and_else_the_time_itself() -> None:
    pauses = Pauses(DRAWN)
    assert [pauses.awake(t) for t in (0, 9, 10, 14, 15, 34, 35, 39, 40, 52)] == [0, 9, 15, 15, 15, 34, 40, 40, 40, 55]


def test_work_goes_on_after_each_pause() -> None:
    assert Pauses(DRAWN).worked(0, 10) == 10
    assert Pauses(DRAWN).worked(0, 11) == 16
    # 10 before the first pause, 20 between the two, 1 after the second
    assert Pauses(DRAWN).worked(0, 31) == 41
    assert Pauses(DRAWN).worked(16, 0) == 16


def test_draws_have_the_means_asked_for_and_the_seed_decides() -> None:
    host = Host(pause_ns=100_000, pause_interval_ns=2_000_000)
    drawn = draw_pauses(host, 1)
    assert drawn.shape == (4096, 2)
    # the mean of 4096 exponential draws has a standard error of 1.6 %
    assert np.allclose(drawn.mean(axis=0), (2_000_000, 100_000), rtol=0.06)
    assert (drawn != draw_pauses(host, 2)).any()
    assert draw_pauses(Host(), 1).shape == (0, 2)
