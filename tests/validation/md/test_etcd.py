"""The model against puts into etcd on one disk, within 25 %."""

from __future__ import annotations

import pytest

from tests.validation.md.etcd import measured, simulated

#: Published runs are of 1,000 puts: with 64 connections one of 1.1 s, about 30 commits.
OUTSIDE = {64}


@pytest.mark.parametrize("n", sorted(measured().keys() - OUTSIDE))
def test_puts(n: int) -> None:
    assert simulated(n) == pytest.approx(measured()[n], rel=0.25)


def test_what_is_outside_is_too_fast() -> None:
    assert 1.25 < simulated(64) / measured()[64] < 1.5


def test_no_log_gains_more_than_its_clients_as_the_published_runs_do() -> None:
    found = measured()
    for few, many in ((1, 64), (64, 128), (128, 256)):
        assert simulated(many) / simulated(few) <= 1.01 * many / few
    assert found[128] / found[64] > 2.5


def test_the_database_slows_all_of_them_alike() -> None:
    ratios = [simulated(n, with_database=True) / simulated(n) for n in measured()]
    assert all(0.88 < ratio < 0.96 for ratio in ratios)
    assert simulated(64, with_database=True) / measured()[64] < 1.3
