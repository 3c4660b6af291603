"""The SPC-1-like load against what is published of SPC-1, cell by cell."""

from __future__ import annotations

import numpy as np
import pytest

from diskmodel.errors import DescriptionError
from diskmodel.plan.question.presets import preset
from diskmodel.records import Op
from diskmodel.workload import Workload, spc1_like
from diskmodel.workload.programs.spc1 import KINDS

CAPACITY = 10**12
N = 100_000

#: Percent, as Gill and Modha print them.
PUBLISHED = {(Op.READ, False): 29, (Op.WRITE, False): 32, (Op.READ, True): 11, (Op.WRITE, True): 28}
IS_SEQUENTIAL = np.array([kind.pattern == "sequential" for kind in KINDS])


@pytest.fixture(scope="module")
def requests():  # type: ignore[no-untyped-def]
    return spc1_like(20).requests(capacity_bytes=CAPACITY, n=N, seed=1)


@pytest.mark.parametrize(("cell", "percent"), PUBLISHED.items())
def test_each_cell_of_the_mix_is_the_published_one(requests, cell, percent) -> None:  # type: ignore[no-untyped-def]
    """Published in whole percent: within half of one, and five standard errors of what is drawn (reads or writes)."""
    op, is_sequential = cell
    share = np.mean((requests.op == op) & (IS_SEQUENTIAL[requests.stream] == is_sequential))
    assert 100 * share == pytest.approx(percent, abs=0.52 + 500 * np.sqrt(0.25 * 0.6 / N))


def test_reads_by_pattern_are_the_published_ones(requests) -> None:  # type: ignore[no-untyped-def]
    """Printed as 10 % uniform, 65 % near the last, 25 % sequential (Gill and Bathen, FAST 2007); by the streams:"""
    streams = requests.stream[requests.op == Op.READ]
    patterns = np.array([kind.pattern for kind in KINDS])[streams]
    shares = {pattern: 100 * np.mean(patterns == pattern) for pattern in ("uniform", "reuse_walk", "sequential")}
    assert shares == pytest.approx({"uniform": 5.8, "reuse_walk": 67.6, "sequential": 26.6}, abs=0.5)


def test_the_data_store_has_its_share_and_the_mean_size_is_eight_kib(requests) -> None:  # type: ignore[no-untyped-def]
    in_asu1 = np.mean(requests.offset < 0.45 * CAPACITY)
    assert 100 * in_asu1 == pytest.approx(59.6, abs=0.1)
    assert requests.length.mean() / 1024 == pytest.approx(8.0, abs=0.1)


def test_requests_stay_where_their_kind_goes(requests) -> None:  # type: ignore[no-untyped-def]
    for index, kind in enumerate(KINDS):
        offset = requests.offset[requests.stream == index] / CAPACITY
        assert offset.min() >= kind.offset - 1e-6
        assert offset.max() <= kind.offset + kind.span


def test_the_preset_is_the_load_of_a_hundred_units() -> None:
    assert Workload.parse(preset("spc1-like").fields["workload"]) == spc1_like(100)


def test_a_load_has_units() -> None:
    with pytest.raises(DescriptionError, match="n_units"):
        spc1_like(0)
