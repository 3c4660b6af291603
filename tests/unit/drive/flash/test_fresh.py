"""How long flash drives are faster than they stay."""

from __future__ import annotations

import pytest

from diskmodel import Array, Workload, simulate
from diskmodel.engine.steady.fresh import Fresh, fresh

WORDS = "2x micron-7450-pro-960 raid1"


def of(words: str, **load: object) -> Fresh | None:
    array, workload = Array(words), Workload.parse({"size": "4 KiB", "read_ratio": 0.0, **load})
    result = simulate(array, workload, n_requests=8000, profile_draws=0)
    return fresh(array, workload, result, seed=0)


def test_a_fresh_drive_writes_its_free_flash_before_it_copies() -> None:
    found = of(WORDS, clients=256)
    assert found is not None
    (phase,) = found.phases
    assert phase.iops > 3 * found.steady_iops
    drive = Array(WORDS).drive
    assert phase.seconds * phase.iops * 4096 == pytest.approx(
        drive.over_provisioning_ratio * drive.capacity_bytes, rel=0.02
    )
    assert found.in_words().startswith("just trimmed and filled in order, the drives are fast: ")
    # with a tenth of the data there is much more of it, and little to copy from then on
    assert of(f"{WORDS}, 10% used", clients=256, span_ratio=0.1) is None


def test_an_overload_is_what_the_drives_carry_at_first() -> None:
    found = of(WORDS, rate_per_s=150_000)
    assert found is not None
    assert found.phases[0].iops == 150_000


@pytest.mark.parametrize(
    ("words", "load"),
    [
        (WORDS, {"rate_per_s": 50_000}),  # what it carries for ever
        ("2x samsung-pm9a3-960 raid1", {"clients": 1}),  # whose writes no batch of copies holds
        (WORDS, {"clients": 64, "read_ratio": 1.0}),
        ("8x generic-15k raid5", {"clients": 64}),
    ],
)
def test_nothing_is_said_where_it_makes_no_difference(words: str, load: dict[str, object]) -> None:
    assert of(words, **load) is None
