"""The fixed cases fail for every mutant: a deviation of one place or one step anywhere in the kernel."""

from types import ModuleType

import pytest

from diskmodel.engine import native
from tests.differential.mutants import ROOT, build_kernel, first_witness

# one worker builds: builds share the compiled dependencies, and each replaces the library of the one before
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("cargo")]


@pytest.fixture(scope="module")
def kernel() -> ModuleType:
    return build_kernel(ROOT / "target")


def test_the_released_kernel_has_no_mutants() -> None:
    assert not hasattr(native._kernel, "plant")


def test_no_mutant_no_difference(kernel: ModuleType) -> None:
    assert first_witness(kernel, None) is None


def test_every_mutant_is_caught(kernel: ModuleType) -> None:
    names = kernel.fault_names()
    assert len(names) >= 50
    caught_by = {name: first_witness(kernel, name) for name in names}
    print(caught_by)
    survivors = [name for name, case in caught_by.items() if case is None]
    assert not survivors, f"no case catches {survivors}"
