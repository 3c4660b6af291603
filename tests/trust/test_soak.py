"""Every law of conservation holds in a great many random runs of the kernel."""

import pytest

from tests.trust.soak import soak


@pytest.mark.parametrize(
    "n_ios",
    [
        pytest.param(3_000_000, id="short", marks=pytest.mark.slow),
        pytest.param(10**9, id="long", marks=pytest.mark.long),
    ],
)
def test_no_law_is_broken(n_ios: int) -> None:
    runs = list(soak(n_ios))
    assert sum(run.n_ios for run in runs) >= n_ios
    assert sum(run.is_covered for run in runs) >= 0.9 * len(runs)
