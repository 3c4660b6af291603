"""The fixed cases fail for every mutant: a deviation of one place or one step anywhere in the kernel."""

from types import ModuleType

import pytest

from diskmodel.engine import native
from diskmodel.engine.reference import simpy_engine
from diskmodel.records import Run
from tests.differential.cases import build
from tests.differential.mutants import ROOT, build_kernel, first_witness, witnesses

# one worker builds: builds share the compiled dependencies, and each replaces the library of the one before
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("cargo")]


@pytest.fixture(scope="module")
def kernel() -> ModuleType:
    return build_kernel(ROOT / "target")


@pytest.fixture(scope="module")
def references() -> dict[str, Run]:
    return {name: simpy_engine.run(*build(case)) for name, case in witnesses().items()}


def test_the_released_kernel_has_no_mutants() -> None:
    assert not hasattr(native._kernel, "plant")


def test_no_mutant_no_difference(kernel: ModuleType, references: dict[str, Run]) -> None:
    assert first_witness(kernel, None, references) is None


def test_every_mutant_is_caught(kernel: ModuleType, references: dict[str, Run]) -> None:
    names = kernel.fault_names()
    assert len(names) >= 50
    caught_by = {name: first_witness(kernel, name, references) for name in names}
    print(caught_by)
    survivors = [name for name, case in caught_by.items() if case is None]
    assert not survivors, f"no case catches {survivors}"
