"""The two engines agree completion by completion, to the nanosecond, on random arrays and workloads."""

from collections import Counter

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from diskmodel.engine import native
from diskmodel.layout.levels import LEVELS
from diskmodel.queue import SCHEDULERS
from diskmodel.queue.registry import drive_schedulers
from tests.differential.cases import CORPUS, N_FIXED, Case, draw_case, random_case
from tests.differential.compare import difference, difference_from
from tests.differential.witnesses import fixed, witness, witnesses

BLOCKS = 10
#: Cases of the slow tier, an eighth of a second each; the fast tier runs the first N_FIXED of them.
N_SLOW = 1_000
#: Cases of the fixed list that a choice has to occur in.
MIN_CASES = 10
SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    return draw_case(lambda options: draw(st.sampled_from(options)))


def of_witness(name: str) -> str | None:
    """How the engines differ on one of the cases that the tests of mutants look at, too."""
    found = witness(name)
    return difference_from(found.reference, found.scenario, found.requests, witnesses()[name])


# in the worker of the tests of mutants, which has the reference engine's outcome then
@pytest.mark.xdist_group("cargo")
@pytest.mark.parametrize("name", [path.stem for path in CORPUS])
def test_kept_cases(name: str) -> None:
    """Cases on which the engines once differed, or which first caught a mutant."""
    divergence = of_witness(name)
    assert divergence is None, divergence


@pytest.mark.xdist_group("cargo")
@pytest.mark.parametrize("block", range(BLOCKS))
def test_fixed_list_of_cases(block: int) -> None:
    for name in list(fixed())[block::BLOCKS]:
        divergence = of_witness(name)
        assert divergence is None, f"{name}: {divergence}"


def test_fixed_list_covers_every_choice() -> None:
    """Whatever is registered is compared: each scheduler above a disk and inside one, and each RAID level."""
    arrays = [case["array"] for case in fixed().values()]
    seen = {
        "above a disk": Counter(array["queue"]["scheduler"] for array in arrays),
        "inside a disk": Counter(a["drive"]["queue"]["scheduler"] for a in arrays if a["drive"]["kind"] == "hdd"),
        "level": Counter(array["layout"]["level"] for array in arrays),
    }
    registered = {
        "above a disk": {name for name, policy in SCHEDULERS.items() if not policy.edge},
        "inside a disk": set(drive_schedulers()),
        "level": set(LEVELS),
    }
    for where, names in registered.items():
        assert set(seen[where]) == names
        assert min(seen[where].values()) >= MIN_CASES, seen[where]


def test_both_engines_have_the_same_schedulers() -> None:
    assert set(SCHEDULERS) == native.KERNEL_SCHEDULERS


@pytest.mark.slow
# the explain phase would run the slow engine hundreds of times more
@settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=SLOW,
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
)
@given(cases())
def test_drawn_cases(case: Case) -> None:
    divergence = difference(case)
    assert divergence is None, divergence


@pytest.mark.slow
@pytest.mark.parametrize("block", range(4))
def test_many_cases(block: int) -> None:
    for seed in range(N_FIXED + block, N_SLOW, 4):
        divergence = difference(random_case(seed))
        assert divergence is None, f"random_case({seed}): {divergence}"


@pytest.mark.long
@settings(
    max_examples=20_000,
    deadline=None,
    database=None,
    suppress_health_check=SLOW,
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
)
@given(cases())
def test_twenty_thousand_drawn_cases(case: Case) -> None:
    divergence = difference(case)
    assert divergence is None, divergence
