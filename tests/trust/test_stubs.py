"""The stub of the compiled kernel says what the kernel is."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_stub_and_binary_agree() -> None:
    words = [sys.executable, "-m", "mypy.stubtest", "diskmodel.engine._kernel", "--mypy-config-file", "pyproject.toml"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
