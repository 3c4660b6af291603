"""An array of hard disks without a named controller is Linux md's, with Linux's own defaults."""

from __future__ import annotations

import pytest

from diskmodel import Array, Workload, simulate
from diskmodel.errors import DescriptionError
from diskmodel.layout.md.assumed import HUGE_PAGE_RATIO, LARGEST_REQUEST_BYTES
from diskmodel.plan import PlanDescription, run_plan
from tests.validation.md import md_raid
from tests.validation.md.md_raid import DIRECTIONS, Setup, array_of, rows, sequential, setup_of, workload_of

LONG = [row for row in rows() if row["level"].startswith(("RAID10", "RAID0")) and "seq" in row["pattern"]]
ARRAY = {"drive": "generic-10k", "layout": {"level": "raid10", "disks": 8}}
RANDOM = Workload.parse({"size": "8 KiB", "read_ratio": 0.7, "rate": "200/s"})


def by_default(setup: Setup) -> Array:
    """The array of a measured row without what it says of long requests, as `simulate` takes it."""
    data = array_of(setup).to_dict()
    for name in ("largest_request_bytes", "huge_page_ratio"):
        data["layout"].pop(name, None)
    return Array.parse(data | {"drive": data["drive"] | {"exact": None}}).behind_host(workload_of(setup))


@pytest.mark.parametrize("row", LONG, ids=lambda row: f"{row['level']} {row['pattern']} {row['queue_depth']}")
def test_long_requests_are_as_fast_as_md_s(row: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """To mirrors in order they would be 36 to 170 % too fast; cut to stripes without copies, a sixth as fast."""
    setup = setup_of(row)
    monkeypatch.setattr(md_raid, "array_of", by_default)
    figures, _, _ = sequential.__wrapped__(setup)
    assert figures[DIRECTIONS[row["dir"]]].iops == pytest.approx(float(row["iops"]), rel=0.05)


def test_what_the_array_s_file_says_stays() -> None:
    load = Workload.parse({"size": "1 MiB", "clients": 4, "addresses": {"pattern": "sequential"}})
    found = Array.parse(ARRAY).behind_host(load).layout
    assert (found.largest_request_bytes, found.huge_page_ratio) == (LARGEST_REQUEST_BYTES, HUGE_PAGE_RATIO)
    given = Array.parse({**ARRAY, "layout": ARRAY["layout"] | {"largest_request": "1 GiB"}})
    behind = Array.parse({**ARRAY, "controller": "perc-h330"})
    assert given.behind_host(load) is given
    assert behind.behind_host(load) is behind
    plain = Array.parse(ARRAY)
    assert plain.behind_host(RANDOM) is plain


def test_the_answer_says_that_long_requests_are_cut() -> None:
    load = Workload.parse({"size": "1 MiB", "clients": 1, "addresses": {"pattern": "sequential"}})
    messages = simulate(Array.parse(ARRAY), load, n_requests=500, profile_draws=0).messages
    assert any("as Linux md cuts them" in text and "layout.largest_request" in text for text in messages)
    assert not any("Linux md cuts" in text for text in simulate(Array.parse(ARRAY), RANDOM, n_requests=500).messages)


def test_linux_md_by_name_has_the_bitmap_of_mdadm() -> None:
    named = Array.parse({**ARRAY, "controller": "linux-md"})
    assert named.behind_host(RANDOM).layout.bitmap is not None
    assert Array.parse(ARRAY).behind_host(RANDOM).layout.bitmap is None
    small = Array.parse({**ARRAY, "layout": ARRAY["layout"] | {"member": "20 GB"}, "controller": "linux-md"})
    assert small.behind_host(RANDOM).layout.bitmap is None  # mdadm makes none below 100 GB
    with_one, without = (
        simulate(array, RANDOM, n_requests=6000, profile_draws=0).latency.mean_ns
        for array in (named, Array.parse(ARRAY))
    )
    assert with_one > 1.5 * without
    flash = Array("samsung-pm893-960", "raid5", 4, controller="linux-md")
    assert flash.behind_host(RANDOM).layout.bitmap is not None
    with pytest.raises(DescriptionError, match="linux_md: has neither caches"):
        Array.parse({**ARRAY, "controller": {"linux_md": True, "volume_depth": 5}})


def test_a_plan_says_that_its_answer_fails_with_a_bitmap() -> None:
    question = {
        "workload": {"size": "8 KiB", "read_ratio": 0.7, "rate": "100/s"},
        "objective": {"iops": 100, "latency": {"p99": "40 ms"}},
        "candidates": {"drives": ["generic-10k"], "levels": ["raid10"], "max_disks": 8},
    }
    assumed = [item.assumed for item in run_plan(PlanDescription.parse(question), by_chance=False).assumptions]
    assert "Linux md on an HBA, no write-intent bitmap" in assumed
    slower = {"iops": 100, "latency": {"p99": "100 ms"}}
    named = run_plan(PlanDescription.parse(question | {"objective": slower, "controller": "linux-md"}), by_chance=False)
    assert "Linux md on an HBA, no write-intent bitmap" not in [item.assumed for item in named.assumptions]
    assert named.best is not None
    assert named.best.array is not None
    assert named.best.array.controller.linux_md
