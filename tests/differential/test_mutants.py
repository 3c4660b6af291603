"""The fixed cases fail for every mutant: a deviation of one place or one step anywhere in the kernel."""

from itertools import dropwhile
from types import ModuleType

import pytest

from diskmodel.engine import native
from diskmodel.engine.reference import simpy_engine
from diskmodel.engine.reference.clock import Port
from tests.differential.compare import first_difference
from tests.differential.mutants.building import build_kernel, first_witness, in_place, station_of
from tests.differential.mutants.patching import ROOT, listed, names
from tests.differential.witnesses import witness, witnesses

# one worker builds: builds share the compiled dependencies, and each replaces the library of the one before
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("cargo")]


@pytest.fixture(scope="module")
def kernel() -> ModuleType:
    return build_kernel(ROOT / "target")


def test_the_released_kernel_has_no_mutants() -> None:
    assert not hasattr(native._kernel, "plant")


@pytest.fixture(scope="module")
def caught_by(kernel: ModuleType) -> dict[str, str | None]:
    """The first case that catches each mutant."""
    return {name: first_witness(kernel, name) for name in names(listed())}


def test_every_mutant_is_caught(caught_by: dict[str, str | None]) -> None:
    assert len(caught_by) >= 50
    survivors = [name for name, case in caught_by.items() if case is None]
    assert not survivors, f"no case catches {survivors}"


#: A mutant of each station.
STATIONS = {
    "RetryTime": "drive",
    "BitmapWait": "volume",
    "PoolDelay": "volume",
    "LinkRounding": "controller",
    "GoesOn": "host",
}


@pytest.mark.parametrize(("name", "station"), STATIONS.items())
def test_a_mutant_is_found_at_its_station(
    name: str, station: str, kernel: ModuleType, caught_by: dict[str, str | None]
) -> None:
    """In the first case where it says something else: what only a breakdown shows is said at no port."""
    cases = dropwhile(lambda case: case != caught_by[name], witnesses())
    assert next(filter(None, (station_of(kernel, name, witness(case)) for case in cases))) == station


#: A pool with cache devices, a page cache over places at a disk, and a file system's log.
LOGGED = ("cache-device-beside-a-large-arc", "batch-that-waits-for-a-place", "log-of-xfs-without-a-place")


@pytest.mark.parametrize("name", LOGGED)
def test_both_engines_say_the_same_at_every_port(name: str, kernel: ModuleType) -> None:
    case = witness(name)
    simpy = simpy_engine.ports(case.scenario, case.requests)
    assert set(simpy[:, 1]) == set(Port)
    with in_place(kernel):
        assert first_difference(simpy, native.ports(case.scenario, case.requests)) is None


def test_no_mutant_no_difference(kernel: ModuleType, caught_by: dict[str, str | None]) -> None:
    """What catches a mutant shows none where there is none; of the other cases test_engines.py says so."""
    assert first_witness(kernel, None, among=sorted({case for case in caught_by.values() if case})) is None
