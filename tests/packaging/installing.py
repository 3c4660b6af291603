"""Build the distributions from a copy of the source tree and install them into empty environments, offline."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
NOT_SOURCE = shutil.ignore_patterns(
    *(".git", ".venv*", "target", "build", "dist", "site", "out"),
    *("*.egg-info", "__pycache__", ".*_cache", ".hypothesis", "*.so"),
)


def run(*command: str | Path, cwd: Path, **variables: str) -> str:
    """Return what the command wrote to standard output; an AssertionError shows it on failure."""
    environment = {**os.environ, **variables}
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=environment, capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, f"{command} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def copy_source(to: Path) -> Path:
    """Copy what belongs to the project, and plant what an earlier build of a since deleted module leaves behind."""
    shutil.copytree(ROOT, to, ignore=NOT_SOURCE)
    platform_folder = f"lib.linux-{os.uname().machine}-cpython-{sys.version_info.major}{sys.version_info.minor}"
    for folder in ("lib", platform_folder):
        stale = to / "build" / folder / "diskmodel" / "deleted_long_ago.py"
        stale.parent.mkdir(parents=True)
        stale.write_text("raise ImportError('stale')\n")
    return to


def closure(names: list[str]) -> dict[str, Distribution]:
    """Return the installed distributions that these requirements need, with all that those need in turn."""
    found: dict[str, Distribution] = {}
    pending = [Requirement(name) for name in names]
    while pending:
        expected = pending.pop()
        if expected.name in found or (expected.marker and not expected.marker.evaluate({"extra": ""})):
            continue
        found[expected.name] = distribution(expected.name)
        pending += [Requirement(line) for line in found[expected.name].requires or ()]
    return found


def link(names: list[str], folder: Path) -> Path:
    """Fill a folder with links to just these distributions and their dependencies, as an index would deliver them."""
    folder.mkdir()
    for found in closure(names).values():
        for top in {file.parts[0] for file in found.files or () if file.parts[0] not in ("..", "__pycache__")}:
            target = Path(str(found.locate_file(top)))
            if target.exists() and not (folder / top).exists():
                (folder / top).symlink_to(target)
    return folder


@dataclass(frozen=True)
class Environment:
    """An environment that holds one installed distribution and the dependencies which that one declares."""

    folder: Path

    @property
    def bin(self) -> Path:
        return self.folder / "bin"

    def python(self, code: str) -> str:
        return run(self.bin / "python", "-I", "-c", code, cwd=self.folder)


def build_wheel(sdist: Path, folder: Path) -> Path:
    """Build the wheel from an sdist by pip into a new folder, with nothing but the build backend that it declares.

    Not optimised: what it holds is tested, not how fast that is, and to compile it takes a quarter as long.
    """
    builder = new_environment(folder.with_name(f"{folder.name}-builder"))
    backend = link(["setuptools", "setuptools-rust", "wheel"], folder.with_name(f"{folder.name}-backend"))
    run(
        *pip_in(builder, "wheel"),
        *("--no-deps", "--no-build-isolation", "--wheel-dir", folder, sdist),
        cwd=folder.parent,
        PYTHONPATH=str(backend),
        CARGO_TARGET_DIR=str(ROOT / "target"),
        CARGO_PROFILE_RELEASE_OPT_LEVEL="0",
        CARGO_PROFILE_RELEASE_LTO="off",
        # the interpreter that the environment is made of; under another name PyO3 would be compiled again
        PYO3_PYTHON=sys.executable,
    )
    (wheel,) = folder.glob("*.whl")
    return wheel


def install(wheel: Path, folder: Path) -> Environment:
    """Install a wheel into a new environment by pip, without an index."""
    environment = new_environment(folder)
    run(*pip_in(environment, "install"), "--no-deps", wheel, cwd=folder)
    declared = environment.python("import importlib.metadata as m; print('\\n'.join(m.requires('diskmodel')))")
    dependencies = link(declared.splitlines(), folder.with_name(f"{folder.name}-dependencies"))
    purelib = environment.python("import sysconfig; print(sysconfig.get_path('purelib'))").strip()
    (Path(purelib) / "dependencies.pth").write_text(f"{dependencies}\n")
    return environment


def new_environment(folder: Path) -> Environment:
    """Return a new, empty environment."""
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder.parent)
    return Environment(folder)


def pip_in(environment: Environment, command: str) -> tuple[str | Path, ...]:
    """Return the beginning of a command of pip for an environment, without an index."""
    return (sys.executable, "-m", "pip", "--python", environment.bin / "python", command, "--quiet", "--no-index")
