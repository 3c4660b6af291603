"""Build the kernel with mutants that can be switched on, and find the cases that catch them."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tomllib
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from diskmodel.engine import native
from diskmodel.engine.reference import simpy_engine
from diskmodel.errors import KernelError
from tests.differential.compare import between, first_difference, station
from tests.differential.mutants.patching import FOLDER, KERNEL, ROOT, listed, names, patched
from tests.differential.witnesses import Witness, witness, witnesses

#: The kernel itself is compiled in a quarter of the time, and runs no long cases here.
UNOPTIMISED = ("--config", "profile.release.package.diskmodel-kernel.opt-level=0")


def crates() -> Iterator[Path]:
    """Yield the files that cargo reads, relative to the project."""
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text())
    yield from (Path("Cargo.toml"), Path("Cargo.lock"))
    for member in manifest["workspace"]["members"]:
        files = (path for ending in ("*.rs", "*.toml") for path in (ROOT / member).rglob(ending))
        yield from (path.relative_to(ROOT) for path in files)


def copy_crates(folder: Path, changed: dict[Path, str] | None = None) -> None:
    """Copy the crates into a folder, with the text of some files changed or added.

    A file that is already there as it should be stays as it is, so that cargo compiles only what changed.
    """
    wanted = {path: (ROOT / path).read_text() for path in crates()} | (changed or {})
    for path, text in wanted.items():
        target = folder / path
        if not target.exists() or target.read_text() != text:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)


def compile_kernel(source: Path, target: Path) -> None:
    """Compile the kernel of a source tree, not optimised, with the dependencies that `make setup` left in `target`.

    With other features, variables or kinds of library than there cargo would compile all of these again. It takes the
    same crate in two places for one, and the kernel of one of them for that of the other unless its own hash differs.
    """
    command = ["cargo", "rustc", "--lib", "--release", "--locked", "--quiet", "--package", "diskmodel-python"]
    options = ["--features", "pyo3/extension-module,ports", "--crate-type", "cdylib", *UNOPTIMISED]
    variables = {"PYO3_PYTHON": sys.executable, "PYO3_BUILD_EXTENSION_MODULE": "1"}
    environment = {**os.environ, **variables}
    own = ["--", "-C", f"metadata={zlib.crc32(str(source).encode()):08x}"]
    subprocess.run([*command, *options, "--target-dir", str(target), *own], cwd=source, env=environment, check=True)


def build_kernel(target: Path) -> ModuleType:
    """Return the kernel with all mutants, built in the folder `target` and loaded beside the released one."""
    changed = {KERNEL / file: text for file, text in patched(ROOT / KERNEL, listed())}
    switch = FOLDER / "mutants.rs"
    copy_crates(target / "mutants", changed | {KERNEL / "src" / switch.name: switch.read_text()})
    compile_kernel(target / "mutants", target)
    # a name of its own: a library that is loaded must not change under the process
    place = target / f"_kernel-{os.getpid()}.abi3.so"
    shutil.copy(target / "release" / "lib_kernel.so", place)
    spec = importlib.util.spec_from_file_location("mutant._kernel", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    place.unlink()
    return module


@contextmanager
def in_place(kernel: ModuleType) -> Iterator[None]:
    """Let the native engine use another kernel."""
    released = native._kernel
    native._kernel = kernel  # type: ignore[misc]
    try:
        yield
    finally:
        native._kernel = released  # type: ignore[misc]


def catches(witness: Witness) -> bool:
    """Return whether the kernel in place differs from the reference on a case; an error and a panic count."""
    try:
        outcome = native.run(witness.scenario, witness.requests)
    except KernelError:  # a panic, or a standstill
        return True
    return between(witness.requests, witness.reference, outcome) is not None


def station_of(kernel: ModuleType, mutant: str, witness: Witness) -> str | None:
    """Return the station at which a mutant first says something else than the reference engine, if it does."""
    kernel.plant(names(listed()).index(mutant))
    try:
        with in_place(kernel):
            said = native.ports(witness.scenario, witness.requests)
    finally:
        kernel.plant()
    difference = first_difference(simpy_engine.ports(witness.scenario, witness.requests), said)
    return difference and station(difference)


def first_witness(kernel: ModuleType, mutant: str | None, among: Iterable[str] | None = None) -> str | None:
    """Return the first of the witnesses, or of those named, that catches a mutant; None when none does."""
    kernel.plant(None if mutant is None else names(listed()).index(mutant))
    try:
        with in_place(kernel):
            return next((name for name in among or witnesses() if catches(witness(name))), None)
    finally:
        kernel.plant()
