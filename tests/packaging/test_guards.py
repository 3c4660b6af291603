"""The guards of conftest.py: what is essential is not skipped unnoticed."""

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

CONFTEST = Path(__file__).parents[1] / "conftest.py"
NEEDS_EVIDENCE = """
import pytest

def test_by_fixture(evidence):
    assert evidence.is_dir()

@pytest.mark.evidence
def test_by_marker():
    pass
"""


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    for name in ("CI", "DISKMODEL_EVIDENCE", "DISKMODEL_REQUIRE_EVIDENCE"):
        monkeypatch.delenv(name, raising=False)
    pytester.makeini("[pytest]\nmarkers = evidence: needs the evidence\n")
    pytester.makeconftest(CONFTEST.read_text())
    pytester.makepyfile(NEEDS_EVIDENCE)
    return pytester


def test_evidence_unset_skips(project: pytest.Pytester) -> None:
    project.runpytest().assert_outcomes(skipped=2)


def test_evidence_required_but_unset_fails(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISKMODEL_REQUIRE_EVIDENCE", "1")
    project.runpytest().assert_outcomes(errors=2)


def test_evidence_required_but_absent_fails(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISKMODEL_REQUIRE_EVIDENCE", "1")
    monkeypatch.setenv("DISKMODEL_EVIDENCE", str(project.path / "nowhere"))
    project.runpytest().assert_outcomes(errors=2)


def test_evidence_present_runs(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISKMODEL_REQUIRE_EVIDENCE", "1")
    monkeypatch.setenv("DISKMODEL_EVIDENCE", str(project.path))
    project.runpytest().assert_outcomes(passed=2)


def test_missing_kernel_ends_the_run_in_ci(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    project.makeconftest(CONFTEST.read_text().replace("diskmodel.engine._kernel", "diskmodel.engine._absent"))
    monkeypatch.setenv("CI", "true")
    result = project.runpytest()
    assert result.ret == 3
    result.stdout.fnmatch_lines(["*_absent is not built*"])


def test_missing_kernel_is_tolerated_elsewhere(project: pytest.Pytester) -> None:
    project.makeconftest(CONFTEST.read_text().replace("diskmodel.engine._kernel", "diskmodel.engine._absent"))
    assert project.runpytest().ret == 0
