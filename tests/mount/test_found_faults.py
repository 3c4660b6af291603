"""A fault of a mounted drive is found from what fio measures of it; all are in tests/data/explained-mounts.csv."""

import shutil

import pytest

from tests.mount.mounting import need_fuse
from tests.validation.explanation import mounted


@pytest.mark.long
@pytest.mark.real_time
def test_a_queue_that_is_off_is_found() -> None:
    if shutil.which("fio") is None:
        pytest.skip("fio is not installed")
    need_fuse()
    case = next(case for case in mounted.CASES if case.finds == ("ncq-off",))
    assert mounted.row(case).rank == "1"
