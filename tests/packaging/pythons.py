"""Every Python from 3.11 on that this machine has: the wheel in an empty environment, and tests against it.

    python -m tests.packaging.pythons WHEEL [--python PATH ...]

Interpreters are found on PATH and under ~/.pyenv; the newest of each minor version is taken. Each gets an environment
of its own with the locked runtime dependencies, the wheel and what the selected tests need. The tests run in a folder
without the source tree, so that what they import is the wheel's.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.packaging.installing import ROOT

OLDEST = (3, 11)
#: Beside the runtime's own lock; versions are those of the development lock.
TEST_PACKAGES = ("pytest", "pytest-xdist", "distributed", "hypothesis", "jsonschema", "pyarrow")
#: Seconds each, and over every part of the package: descriptions, both engines, statistics, readers, commands.
SELECTION = (
    "tests/unit/analytic",
    "tests/unit/cli",
    "tests/unit/controller",
    "tests/unit/drive",
    "tests/unit/engine",
    "tests/unit/formats",
    "tests/unit/host",
    "tests/unit/layout",
    "tests/unit/queue",
    "tests/unit/result",
    "tests/unit/workload",
    "tests/engines",
    "tests/property",
    "tests/trust/test_determinism.py",
    "tests/trust/test_error_catalogue.py",
    "tests/fuzz",
)
#: What tests look at beside themselves.
BESIDE = ("tests", "examples", "docs", "benchmarks", "README.md", "pyproject.toml")


def version_of(python: Path) -> tuple[int, int, int] | None:
    """Version of an interpreter; None where it does not run."""
    code = "import sys, venv, ensurepip; print(*sys.version_info[:3])"
    try:
        done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return None
    major, minor, micro = (int(part) for part in done.stdout.split())
    return major, minor, micro


def interpreters() -> dict[tuple[int, int], Path]:
    """The newest interpreter of every supported minor version."""
    folders = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    folders += sorted(Path.home().glob(".pyenv/versions/*/bin"))
    named = {
        path
        for folder in folders
        if folder.is_dir()
        for path in folder.iterdir()
        if re.fullmatch(r"python3\.\d+", path.name)
    }
    versions = {path: version_of(path) for path in sorted(named)}
    found: dict[tuple[int, int], tuple[int, Path]] = {}
    for path, version in versions.items():
        if version and version[:2] >= OLDEST and found.get(version[:2], (-1, path))[0] < version[2]:
            found[version[:2]] = (version[2], path)
    return {minor: path for minor, (_, path) in sorted(found.items())}


PASSED, FAILED, NO_WHEELS = "passed", "FAILED", "not tested: the locked dependencies cannot be installed for it"


def test_with(python: Path, wheel: Path, folder: Path) -> str:
    """Install into `folder`, run the selection there; what came of it."""
    environment = folder / "environment"
    subprocess.run([python, "-m", "venv", environment], check=True)
    inside = environment / "bin" / "python"
    pip = [inside, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    locks = ROOT / "requirements"
    # names without a version, as TEST_PACKAGES are, cannot be installed under constraints with hashes
    versions = [line for line in (locks / "dev.txt").read_text().splitlines() if "==" in line]
    constraints = folder / "constraints.txt"
    constraints.write_text("\n".join(line.removesuffix(" \\") for line in versions))
    for expected in (("-r", locks / "runtime.txt"), ("-c", constraints, *TEST_PACKAGES)):
        if subprocess.run([*pip, "--only-binary", ":all:", *expected], check=False).returncode:
            return NO_WHEELS
    subprocess.run([*pip, "--no-index", "--no-deps", wheel], check=True)
    place = folder / "place"
    place.mkdir()
    for name in BESIDE:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, place / name)
    where = subprocess.run(
        [inside, "-c", "import diskmodel; print(diskmodel.__file__)"],
        cwd=place,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    if not Path(where).is_relative_to(environment):
        raise SystemExit(f"{where} is not the wheel's")
    environ = {**os.environ, "PATH": f"{environment / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    command = [inside, "-m", "pytest", "-q", "-p", "no:cacheprovider", *SELECTION]
    return FAILED if subprocess.run(command, cwd=place, env=environ, check=False).returncode else PASSED


def main() -> int:
    """Test each interpreter and report which ones passed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--python", type=Path, action="append")
    options = parser.parse_args()
    chosen = (
        {(v or (0, 0, 0))[:2]: p for p in options.python for v in [version_of(p)]} if options.python else interpreters()
    )
    outcome = {}
    for version, python in chosen.items():
        name = ".".join(str(part) for part in version)
        print(f"== Python {name}: {python}", flush=True)
        with tempfile.TemporaryDirectory(prefix=f"diskmodel-{name}-") as folder:
            outcome[name] = test_with(python.absolute(), options.wheel.absolute(), Path(folder))
    print(*(f"Python {name}: {came}" for name, came in outcome.items()), sep="\n")
    return int(FAILED in outcome.values() or PASSED not in outcome.values())


if __name__ == "__main__":
    sys.exit(main())
