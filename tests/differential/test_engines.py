"""The two engines agree completion by completion, to the nanosecond, on random arrays and workloads."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.differential.cases import CORPUS, N_FIXED, Case, draw_case, random_case
from tests.differential.compare import difference

BLOCKS = 10
SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    return draw_case(lambda options: draw(st.sampled_from(options)))


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_kept_cases(path: Path) -> None:
    """Cases on which the engines once differed, or on which a planted fault first showed."""
    told = difference(json.loads(path.read_text())["case"])
    assert told is None, told


@pytest.mark.parametrize("block", range(BLOCKS))
def test_fixed_list_of_cases(block: int) -> None:
    for seed in range(block, N_FIXED, BLOCKS):
        told = difference(random_case(seed))
        assert told is None, f"random_case({seed}): {told}"


# the explain phase would run the slow engine hundreds of times more
@settings(max_examples=150, deadline=None, derandomize=True, database=None, suppress_health_check=SLOW,
          phases=(Phase.explicit, Phase.generate, Phase.shrink))  # fmt: skip
@given(cases())
def test_drawn_cases(case: Case) -> None:
    told = difference(case)
    assert told is None, told


@pytest.mark.slow
@settings(max_examples=1500, deadline=None, database=None, suppress_health_check=SLOW,
          phases=(Phase.explicit, Phase.generate, Phase.shrink))  # fmt: skip
@given(cases())
def test_many_drawn_cases(case: Case) -> None:
    told = difference(case)
    assert told is None, told
