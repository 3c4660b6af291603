"""A rebuild that leaves no time for requests ends the run (rule R6)."""

from __future__ import annotations

from types import ModuleType

import pytest

from diskmodel.array import Array
from diskmodel.drive import load_drive
from diskmodel.engine import native
from diskmodel.engine.reference import simpy_engine
from diskmodel.engine.reference.md import rebuild
from diskmodel.engine.scenario import resolve
from diskmodel.errors import DescriptionError
from diskmodel.workload import Workload

_WINDOW_BYTES = 64 << 20


def _run(engine: ModuleType, left_bytes: int, n_requests: int = 20, window_bytes: int = _WINDOW_BYTES) -> int:
    """Return what was rebuilt in a run beside a rebuild with so many bytes left.

    Clients read behind its front: the sweep finds the next step of the rebuild before them, until it ends.
    """
    drive = load_drive("generic-15k")
    array = Array.parse(
        {
            "drive": drive.to_dict(),
            "layout": {
                "level": "raid5",
                "disks": 3,
                "failed": [0],
                "spares": 1,
                "rebuild": {
                    "window_bytes": window_bytes,
                    "done_ratio": 1 - left_bytes / drive.capacity_bytes,
                    "steps_at_once": 4,
                    "speed_min_bytes_per_s": 1e18,
                    "speed_max_bytes_per_s": 1e18,
                },
            },
            "queue": {"scheduler": "look", "drive_depth": 1, "merge": False},
        }
    )
    workload = Workload.parse({"streams": [{"size_bytes": 4096, "clients": 4, "span_ratio": 0.05}]})
    requests = workload.requests(capacity_bytes=array.usable_bytes, n=n_requests, seed=1)
    return int(engine.run(resolve(array, 1), requests).rebuilt_bytes)


@pytest.mark.parametrize("engine", [native, simpy_engine])
def test_requests_that_wait_for_more_than_64_gib_are_an_error(engine: ModuleType) -> None:
    with pytest.raises(DescriptionError, match=r"layout\.rebuild: leaves no time for requests.* 64 GiB .*speed_min"):
        _run(engine, 100 << 30)


@pytest.mark.parametrize("engine", [native, simpy_engine])
def test_requests_that_wait_for_less_are_served_in_the_end(engine: ModuleType) -> None:
    assert _run(engine, 60 << 30) >= 60 << 30


def test_of_small_windows_so_many_steps_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rebuild by 4 KiB took a minute of computing time to be refused."""
    with pytest.raises(DescriptionError, match="or in 4 million steps"):
        _run(native, 20 << 30, n_requests=60, window_bytes=4096)
    monkeypatch.setattr(rebuild, "MAX_STARVING_STEPS", 1 << 12)
    with pytest.raises(DescriptionError, match=r"layout\.rebuild: leaves no time for requests"):
        _run(simpy_engine, 20 << 30, n_requests=60, window_bytes=4096)
