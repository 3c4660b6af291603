"""Code of the pages under Node, without a browser."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from diskmodel.lab.site.pages import KERNEL, bundled

#: Reads {"code", "kernel", "input"} and prints what `main(modules, input, kernel)` returns.
_PROGRAM = """
const read = require("fs").readFileSync, { code, main, kernel, input } = JSON.parse(read(0, "utf8"));
const modules = eval(code), bytes = kernel && read(kernel);
const plain = (key, value) => ArrayBuffer.isView(value) ? [...value] : Number.isNaN(value) ? "nan" : value;
eval(`(${main})`)(modules, input, bytes).then(
  (answer) => process.stdout.write(JSON.stringify(answer, plain)),
  (error) => { console.error(error); process.exit(1); });
"""


def find_node() -> str:
    """Node's path, or skip; fail where it is required."""
    return shutil.which("node") or _missing("node is not installed")


def find_kernel() -> Path:
    """The compiled kernel, or skip; fail where it is required."""
    if not KERNEL.is_file():
        _missing(f"{KERNEL} is missing: make wasm")
    return KERNEL


def _missing(reason: str) -> Any:
    if os.environ.get("DISKMODEL_REQUIRE_WASM") == "1":
        pytest.fail(f"{reason}, but DISKMODEL_REQUIRE_WASM=1", pytrace=False)
    pytest.skip(reason)


def in_node(main: str, data: Any, *, entry: str = "worker.js", with_kernel: bool = False) -> Any:
    """Return what an async function `main(modules, input, kernel)` of JavaScript makes of plain data.

    `modules` has the exports of a module of the lab's page and of all that it imports, by file; NaN becomes "nan".
    """
    node = find_node()
    kernel = str(find_kernel()) if with_kernel else None
    sent = json.dumps({"code": bundled(entry), "main": main, "kernel": kernel, "input": data})
    done = subprocess.run([node, "-e", _PROGRAM], input=sent, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)
