"""The net works: a fault of one place or one step anywhere in the kernel makes the fixed cases fail."""

from types import ModuleType

import pytest

from diskmodel.engine import native, simpy_engine
from diskmodel.records import Run
from tests.differential.cases import build, random_case
from tests.differential.planted import ROOT, build_kernel, first_witness
from tests.differential.test_engines import N_FIXED

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("planted")]


@pytest.fixture(scope="module")
def faulty() -> ModuleType:
    return build_kernel(ROOT / "target" / "faults")


@pytest.fixture(scope="module")
def references() -> list[Run]:
    return [simpy_engine.run(*build(random_case(seed))) for seed in range(N_FIXED)]


def test_release_plants_nothing() -> None:
    assert not hasattr(native._kernel, "plant")


def test_no_fault_no_difference(faulty: ModuleType, references: list[Run]) -> None:
    assert first_witness(faulty, -1, references) is None


def test_every_fault_is_noticed(faulty: ModuleType, references: list[Run]) -> None:
    names = faulty.fault_names()
    assert len(names) >= 30
    witnesses = {name: first_witness(faulty, number, references) for number, name in enumerate(names)}
    print(witnesses)
    survivors = [name for name, seed in witnesses.items() if seed is None]
    assert not survivors, f"no case notices {survivors}"
