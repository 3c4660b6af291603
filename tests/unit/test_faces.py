"""Names of packages that load when they are first used."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "code",
    [
        # what modules make is not looked through by the next search for garbage, which is for what is new
        "from diskmodel import Array; assert gc.isenabled() and gc.get_count()[0] < 700 and not gc.get_freeze_count()",
        # what somebody has set aside stays there, but for what nobody has any more
        "gc.freeze(); n = gc.get_freeze_count(); from diskmodel import Array; assert gc.get_freeze_count() > n - 99",
        # and a search that is off stays off
        "gc.disable(); from diskmodel import Array; assert not gc.isenabled()",
    ],
)
def test_searches_for_garbage_are_as_before_when_names_have_loaded(code: str) -> None:
    subprocess.run([sys.executable, "-c", f"import gc; {code}"], check=True)
