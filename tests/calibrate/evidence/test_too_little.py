"""What is said of evidence that has too little for a fit."""

from __future__ import annotations

import pytest

from calibrate.fit import calibrate
from diskmodel.errors import InputError
from tests.unit.formats.files import DATA

_MIX = (
    "random requests, 70 % of them reads, of 8192 bytes at queue depth 16, "
    "sequential reads of 65536 bytes at queue depth 4"
)


@pytest.mark.parametrize(
    ("names", "has"),
    [(["mix-fio-3.33.txt"], _MIX), (["terse4.txt", "terse5.txt"], "none of a known size and queue depth")],
)
def test_the_files_and_what_they_have_are_named(names: list[str], has: str) -> None:
    with pytest.raises(InputError) as raised:
        calibrate([DATA / name for name in names])
    (fault,) = raised.value.faults
    paths = [str(DATA / name) for name in names]
    assert fault.value == (paths if len(paths) > 1 else paths[0])
    assert fault.rule == f"has too few reads: 2 queue depths or sizes are needed, and it has {has}"
    assert "evidence=0" not in str(raised.value)
