"""The lock files name the hashes of every package, installing insists on them, and a failed look-up says so."""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
LOCKS = sorted((ROOT / "requirements").glob("*.txt"))


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.stem)
def test_every_package_has_a_version_and_hashes(lock: Path) -> None:
    text = re.sub(r" \\\n\s+", " ", lock.read_text(encoding="utf-8"))
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert len(lines) > 30
    for line in lines:
        assert re.fullmatch(r"[\w.-]+==\S+( ; .+?)?( --hash=sha256:[0-9a-f]{64})+", line), line


def test_make_installs_with_hashes_only() -> None:
    installs = re.findall(
        r"^\t\$\(PIP\) install .*-r .*$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert len(installs) == 4
    # without --no-deps, the pip of Python 3.11 looks for newer versions of packages with extras, and refuses them
    assert all("--no-deps --require-hashes" in line for line in installs), installs


def test_actions_are_fixed_by_commit() -> None:
    """A tag of somebody else's action can be moved; a commit cannot."""
    workflows = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    used = [use for path in workflows for use in re.findall(r"uses: (.+)", path.read_text(encoding="utf-8"))]
    assert used
    for use in used:
        assert re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", use), use


@pytest.mark.parametrize("output", ["ConnectionError: Max retries exceeded", "error: couldn't fetch advisory database"])
def test_a_look_up_without_its_database_fails_and_says_so(output: str) -> None:
    advisories = _advisories()
    command = [sys.executable, "-c", f"import sys; print({output!r}); sys.exit(1)"]
    assert advisories.verdict("Python", command).startswith("Python: NOT LOOKED UP")
    assert advisories.verdict("Python", [sys.executable, "-c", "pass"]) == "Python: no known vulnerability"
    found = [sys.executable, "-c", "import sys; print('PYSEC-1'); sys.exit(1)"]
    assert advisories.verdict("Python", found) == "Python: FOUND, see above"


def _advisories() -> ModuleType:
    spec = importlib.util.spec_from_file_location("advisories", ROOT / "requirements" / "advisories.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _required(name: str) -> ModuleType:
    """Load a script of requirements/, which find each other there."""
    sys.path.insert(0, str(ROOT / "requirements"))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.pop(0)


def test_the_licences_in_the_wheel_are_those_of_all_that_is_linked() -> None:
    crates = _required("rust").linked()
    third_party = _required("third_party")
    assert third_party.PAGE.read_text(encoding="utf-8") == third_party.page(crates), "run requirements/third_party.py"
    locked = {
        (item["name"], item["version"]): "source" in item
        for item in tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))["package"]
    }
    assert all(locked[crate.name, crate.version] for crate in crates)
    assert {"pyo3", "numpy", "libc", "clap", "io-uring"} <= {crate.name for crate in crates}
    assert not {"syn", "pyo3-macros", "autocfg"} & {crate.name for crate in crates}
