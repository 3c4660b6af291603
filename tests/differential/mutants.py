"""Build the kernel with mutants that can be switched on, and find the cases that catch them."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from diskmodel.engine import native
from diskmodel.errors import KernelError
from tests.differential.compare import between
from tests.differential.witnesses import Witness, witness, witnesses

ROOT = Path(__file__).parents[2]


#: The kernel itself is compiled in a quarter of the time, and runs no long cases here.
UNOPTIMISED = ("--config", "profile.release.package.diskmodel-kernel.opt-level=0")


def compile_kernel(source: Path, target: Path, *features: str) -> None:
    """Compile the kernel of a source tree, not optimised, with the dependencies that `make setup` left in `target`.

    With other features, variables or kinds of library than there cargo would compile all of these again.
    """
    command = ["cargo", "rustc", "--lib", "--release", "--locked", "--quiet", "--package", "diskmodel-kernel"]
    options = ["--features", ",".join(["pyo3/extension-module", *features]), "--crate-type", "cdylib", *UNOPTIMISED]
    variables = {"PYO3_PYTHON": sys.executable, "PYO3_BUILD_EXTENSION_MODULE": "1"}
    environment = {**os.environ, **variables}
    subprocess.run([*command, *options, "--target-dir", str(target)], cwd=source, env=environment, check=True)


def build_kernel(target: Path) -> ModuleType:
    """Return the kernel with the feature `faults`, built in the folder `target` and loaded beside the released one."""
    compile_kernel(ROOT, target, "faults")
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


def first_witness(kernel: ModuleType, mutant: str | None, among: Iterable[str] | None = None) -> str | None:
    """Return the first of the witnesses, or of those named, that catches a mutant; None when none does."""
    kernel.plant(mutant)
    try:
        with in_place(kernel):
            return next((name for name in among or witnesses() if catches(witness(name))), None)
    finally:
        kernel.plant()
