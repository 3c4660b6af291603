"""Where a calibrated profile comes from: evidence by digest, program, date, kernel."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from diskmodel.input import open_input

#: Entry of a profile that leaves out the host that it was measured on: the host's time for a request, ns.
HOST_APART = "host_ns"
#: Bytes read at once; affects speed only.
_CHUNK = 1 << 20


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    sha = hashlib.sha256()
    with open_input(path) as file:
        while chunk := file.read(_CHUNK):
            sha.update(chunk)
    return sha.hexdigest()


def provenance(paths: Sequence[Path], kinds: Sequence[str], kernel: str | None, seed: int) -> dict[str, Any]:
    """Return the `provenance` of a profile; `kernel` is that of the measured host, or None for this one."""
    try:
        program = version("diskmodel")
    except PackageNotFoundError:
        program = "unknown"
    return {
        "program": f"diskmodel {program}",
        "date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "host_kernel": kernel or f"{platform.system()} {platform.release()}",
        "seed": seed,
        "evidence": [
            {"file": path.name, "kind": kind, "sha256": digest(path)} for path, kind in zip(paths, kinds, strict=True)
        ],
    }
