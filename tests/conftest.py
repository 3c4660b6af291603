"""What all tests share: where the evidence lies, and that nothing essential is skipped unnoticed."""

import gc
import importlib.util
import os
from pathlib import Path

# Before NumPy is imported anywhere. The matrices of a fit are small: further threads of the linear algebra make nothing
# faster, and wait busily on the cores that the other tests need (eight times the processor time of a fit).
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest

KERNEL = "diskmodel.engine._kernel"
#: Where `make test-real-time` collects.
REAL_TIME = Path(__file__).parent / "mount"


def find_evidence() -> Path:
    """Return the evidence folder, or skip the test; fail it where the evidence is required."""
    named = os.environ.get("DISKMODEL_EVIDENCE")
    if named and Path(named).is_dir():
        return Path(named)
    reason = f"DISKMODEL_EVIDENCE names no folder: {named}" if named else "DISKMODEL_EVIDENCE is not set"
    if os.environ.get("DISKMODEL_REQUIRE_EVIDENCE") == "1":
        pytest.fail(f"{reason}, but DISKMODEL_REQUIRE_EVIDENCE=1", pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def evidence() -> Path:
    """Return the folder of measurements that the model is compared with."""
    return find_evidence()


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("evidence"):
        find_evidence()


def _shared_by(item: pytest.Item) -> str | None:
    """Return the name of what a test shares with others of its module: its fixtures there, and which case of them."""
    if not isinstance(item, pytest.Function):
        return None
    shared = sorted(
        name
        for name, defined in item._fixtureinfo.name2fixturedefs.items()
        if defined[-1].scope == "module" and not name.startswith("_")
    )
    if not shared:
        return None
    indices = item.callspec.indices if hasattr(item, "callspec") else {}
    return "-".join([item.nodeid.partition("::")[0], *(f"{name}{indices[name]}" for name in shared if name in indices)])


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests that share a result of their module in one worker, and begin with what takes long.

    One worker computes the shared result once. A long test that begins last leaves the other workers idle.
    """
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
    for item in items:
        if item.get_closest_marker("real_time") and REAL_TIME not in item.path.parents:
            raise pytest.UsageError(f"{item.nodeid}: tests in real time belong in {REAL_TIME}, or nobody runs them")
        group = _shared_by(item)
        if group and not item.get_closest_marker("xdist_group"):
            item.add_marker(pytest.mark.xdist_group(group))


def pytest_configure() -> None:
    """Look for no garbage while tests are collected: thousands of them stay, and each look takes longer."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Leave what was collected, which lasts to the end, out of each later look for garbage: 0.4 s of a processor."""
    gc.freeze()
    gc.enable()


def pytest_sessionstart(session: pytest.Session) -> None:
    """Where everything must be tested, a missing kernel ends the run instead of skipping what needs it."""
    if os.environ.get("CI") == "true" and importlib.util.find_spec(KERNEL) is None:
        pytest.exit(f"the native kernel {KERNEL} is not built, and CI=true: run `make build`", returncode=3)
