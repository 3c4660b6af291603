"""How the bundled profiles compare with measurements, in a line each."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

from diskmodel.drive.catalogue import catalogue
from diskmodel.drive.profile import Profile

#: End of what is said of measurements that were slower than the model.
TOO_FAST = " (the model is too fast)"
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


def measured_slower(drive: Profile) -> str:
    """Return how much slower than its bundled profile a drive was measured; "" where it was not.

    Measurements of other drives of its class do not count.

    Examples
    --------
    >>> from diskmodel.drive import load_drive
    >>> measured_slower(load_drive("seagate-st2000dm006"))
    '2 published figures, median error 31%'
    >>> measured_slower(load_drive("generic-15k"))
    ''
    """
    for name, line in _lines().items():
        for part in line.split("; "):
            if part.endswith(TOO_FAST) and "of its class" not in part and drive == catalogue()[name]:
                return part.removesuffix(TOO_FAST)
    return ""


@cache
def _lines() -> dict[str, str]:
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))
