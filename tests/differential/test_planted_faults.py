"""The net works: a fault of one place or one step anywhere in the kernel makes the fixed cases fail."""

from types import ModuleType

import pytest

from diskmodel.engine import native, simpy_engine
from diskmodel.records import Run
from tests.differential.cases import build
from tests.differential.planted import ROOT, build_kernel, first_witness, witnesses

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("planted")]


@pytest.fixture(scope="module")
def faulty() -> ModuleType:
    return build_kernel(ROOT / "target" / "faults")


@pytest.fixture(scope="module")
def references() -> dict[str, Run]:
    return {name: simpy_engine.run(*build(case)) for name, case in witnesses().items()}


def test_release_plants_nothing() -> None:
    assert not hasattr(native._kernel, "plant")


def test_no_fault_no_difference(faulty: ModuleType, references: dict[str, Run]) -> None:
    assert first_witness(faulty, None, references) is None


def test_every_fault_is_noticed(faulty: ModuleType, references: dict[str, Run]) -> None:
    names = faulty.fault_names()
    assert len(names) >= 50
    seen_by = {name: first_witness(faulty, name, references) for name in names}
    print(seen_by)
    survivors = [name for name, case in seen_by.items() if case is None]
    assert not survivors, f"no case notices {survivors}"
