"""What all tests share: where the evidence lies, and that nothing essential is skipped unnoticed."""

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


#: What takes longest in a whole run, and has its like among the tests that stay in it; `make test-long` runs it.
TAKES_LONG = frozenset(
    {
        "tests/calibrate/flash/test_dies_coverage.py::test_intervals_cover_as_often_as_they_say",
        "tests/calibrate/hdd/test_joint.py::test_a_stage_that_is_off_is_corrected[settle_off-settle]",
        "tests/calibrate/virtual_disk/test_prediction_coverage.py::test_intervals_cover_as_often_as_they_say[0.03]",
        "tests/calibrate/virtual_disk/test_prediction_coverage.py::test_intervals_cover_as_often_as_they_say[0.1]",
        "tests/trust/test_injected_faults.py::test_all_python_writers",
        "tests/trust/test_work.py::test_no_scene_takes_more_work_than_the_table",
        "tests/unit/lab/test_any_settings.py::test_is_answered",
        "tests/validation/fits/test_fio_depths.py::test_all_reads_decide_where_single_ones_leave_several_speeds",
        "tests/validation/fits/test_fio_depths.py::test_the_page_has_what_the_fit_predicts[Samsung F1 1 TB]",
        "tests/validation/synthesis/test_synthesis.py::test_latency_of_a_fitted_workload[ssd-postmark-aligned2]",
        "tests/validation/test_firmware.py::test_the_page_is_what_the_script_writes",
        "tests/validation/test_published_arrays.py::test_the_page_is_what_the_script_writes",
        *(
            "tests/docs/test_pages.py::test_commands_of_a_page_succeed_and_print_what_the_page_shows"
            f"[docs/how-to/{page}.md]"
            for page in ("calibrate-inside-an-array", "plan-several-volumes", "size-from-iostat", "sizing-cases")
        ),
    }
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests that share a result of their module in one worker, and begin with what takes long.

    One worker computes the shared result once. A long test that begins last leaves the other workers idle.
    """
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
    for item in items:
        if item.nodeid in TAKES_LONG:
            item.add_marker(pytest.mark.long)
        if item.get_closest_marker("real_time") and REAL_TIME not in item.path.parents:
            raise pytest.UsageError(f"{item.nodeid}: tests in real time belong in {REAL_TIME}, or nobody runs them")
        group = _shared_by(item)
        if group and not item.get_closest_marker("xdist_group"):
            item.add_marker(pytest.mark.xdist_group(group))


def pytest_sessionstart(session: pytest.Session) -> None:
    """Where everything must be tested, a missing kernel ends the run instead of skipping what needs it."""
    if os.environ.get("CI") == "true" and importlib.util.find_spec(KERNEL) is None:
        pytest.exit(f"the native kernel {KERNEL} is not built, and CI=true: run `make build`", returncode=3)
