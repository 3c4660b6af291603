"""How the bundled profiles compare with measurements, in a line each."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

#: Written by `python -m tests.validation.profiles`.
TABLE = Path(__file__).parent / "validated.toml"


def validation_of(name: str) -> str:
    """Return how a bundled profile compares with measurements; empty for a profile of the user's own.

    Examples
    --------
    >>> validation_of("my-disk.toml")
    ''
    """
    return _lines().get(name, "")


@cache
def _lines() -> dict[str, str]:
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))
