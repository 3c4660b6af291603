"""Build the kernel with mutants that can be switched on, and find the cases that catch them."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from diskmodel.engine import native
from diskmodel.errors import KernelError
from diskmodel.records import Requests, Run
from tests.differential.cases import CORPUS, N_FIXED, Case, build, random_case
from tests.differential.compare import between

ROOT = Path(__file__).parents[2]


def compile_kernel(source: Path, target: Path, *options: str) -> None:
    """Compile the kernel of a source tree, with the dependencies that the folder `target` has compiled already."""
    command = ["cargo", "build", "--release", "--locked", "--quiet", "--package", "diskmodel-kernel", *options]
    variables = {"PYO3_PYTHON": sys.executable, "PYO3_BUILD_EXTENSION_MODULE": "1"}
    environment = {**os.environ, **variables}
    subprocess.run([*command, "--target-dir", str(target)], cwd=source, env=environment, check=True)


def build_kernel(target: Path) -> ModuleType:
    """Return the kernel with the feature `faults`, built in the folder `target` and loaded beside the released one."""
    compile_kernel(ROOT, target, "--features", "faults")
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


def catches(requests: Requests, reference: Run, scenario: object) -> bool:
    """Return whether the kernel in place differs from the reference on a case; an error and a panic count."""
    try:
        outcome = native.run(scenario, requests)  # type: ignore[arg-type]
    except KernelError:  # a panic, or a standstill
        return True
    return between(requests, reference, outcome) is not None


def witnesses() -> dict[str, Case]:
    """Return the cases that have to catch every mutant: the kept ones and the fixed list."""
    kept = {path.stem: json.loads(path.read_text())["case"] for path in CORPUS}
    return kept | {f"random_case({seed})": random_case(seed) for seed in range(N_FIXED)}


def first_witness(kernel: ModuleType, mutant: str | None, references: dict[str, Run]) -> str | None:
    """Return the first of the witnesses that catches a mutant, or None when none does."""
    cases = witnesses()
    kernel.plant(mutant)
    try:
        with in_place(kernel):
            for name, reference in references.items():
                scenario, requests = build(cases[name])
                if catches(requests, reference, scenario):
                    return name
        return None
    finally:
        kernel.plant()
