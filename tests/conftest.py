"""What all tests share: where the evidence lies, and that nothing essential is skipped unnoticed."""

import importlib.util
import os
from pathlib import Path

# Before NumPy is imported anywhere. The matrices of a fit are small: further threads of the linear algebra make nothing
# faster, and wait busily on the cores that the other tests need (eight times the processor time of a fit).
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest

KERNEL = "diskmodel.engine._kernel"


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


def pytest_sessionstart(session: pytest.Session) -> None:
    """Where everything must be tested, a missing kernel ends the run instead of skipping what needs it."""
    if os.environ.get("CI") == "true" and importlib.util.find_spec(KERNEL) is None:
        pytest.exit(f"the native kernel {KERNEL} is not built, and CI=true: run `make build`", returncode=3)
