"""Response of mirrored arrays of 15,000 rpm drives to an SPC-1-like load; run as a script, writes the page.

The published results of SPC-1 that could be read are a regression over systems and a range, not configurations. So the
arrays are typical ones, and what is compared is the load that a drive adds.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from diskmodel import Array, Hdd, load_drive, simulate
from diskmodel.workload import spc1_like
from diskmodel.workload.programs.spc1 import UNIT_IOPS
from tests.validation.firmware import rpo

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "validation-spc1-like.md"

#: Published: SPC-1 IOPS of systems against their drives, and the range of mirrored systems of 15,000 rpm drives.
SLOPE, INTERCEPT = 186.18, 10_227
RANGE_PER_DRIVE = (200, 450)
#: Mean response that SPC-1 allows, ms.
LIMIT_MS = 30.0

#: Drives of the arrays, and cache for each drive: systems of 2005 to 2010 had some 100 MB to 300 MB for a drive.
DRIVES = (16, 32, 64)
CACHE_MIB_PER_DRIVE = 256
#: Loads of the curve, requests a second for a drive.
LOADS = (25, 50, 100, 150, 200, 225, 250, 275, 300, 325)
#: Requests a drive of a run: about 40 seconds at the limit. In a quarter the lines of the cache have not filled yet.
REQUESTS_PER_DRIVE = 10_000

#: How the drives order queued commands: as the profile, as ideal firmware, and as the measured SATA drives.
ORDERS = {
    "as the profile": None,
    "`sptf`": {"scheduler": "sptf"},
    "with the margin of SATA drives, 2 ms": rpo((2_000_000, 0.05, 2)),
}


def array(n_drives: int, order: str) -> Array:
    """Return mirrored 15,000 rpm drives behind a controller that caches reads and writes."""
    drive = load_drive("generic-15k")
    assert isinstance(drive, Hdd)
    queue = ORDERS[order]
    if queue is not None:
        drive = drive.model_copy(update={"queue": {"depth": drive.queue.depth} | queue})
    half = f"{n_drives * CACHE_MIB_PER_DRIVE // 2} MiB"
    return Array.parse(
        {
            "drive": drive.to_dict(),
            "layout": {"level": "raid10", "disks": n_drives, "strip": "64 KiB"},
            "controller": {"read_cache": {"size": half}, "write_cache": {"size": half}},
        }
    )


@cache
def mean_ms(n_drives: int, n_units: int, order: str) -> float | None:
    """Return the mean response in ms at so many business scaling units; None where the array may not keep up."""
    n = REQUESTS_PER_DRIVE * n_drives
    result = simulate(array(n_drives, order), spc1_like(n_units), n_requests=n, seed=1, profile_draws=0)
    return result.latency.mean_ns / 1e6 if result.is_stable and result.is_stability_known else None


def units(n_drives: int, load: float) -> int:
    """Return the whole business scaling units of a load for each drive."""
    return max(round(n_drives * load / UNIT_IOPS), 1)


def most_units(n_drives: int, order: str) -> int:
    """Return the most business scaling units that an array serves within the limit, by bisection."""

    def meets(n: int) -> bool:
        found = mean_ms(n_drives, n, order)
        return found is not None and found <= LIMIT_MS

    low, high = 1, units(n_drives, 2 * RANGE_PER_DRIVE[1])
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if meets(middle) else (low, middle)
    return low


def slope(limits: dict[int, int]) -> float:
    """Return the requests a second that a drive adds, from the smallest to the largest array."""
    fewest, most = min(limits), max(limits)
    return UNIT_IOPS * (limits[most] - limits[fewest]) / (most - fewest)


INTRODUCTION = """# Mirrored arrays under an SPC-1-like load

SPC-1 is the load by which vendors of disk arrays compared themselves: 60 % writes, 39 % sequential, reads and writes
that return to few places. Its mean response may not exceed 30 ms. `preset:spc1-like` and
`diskmodel.workload.spc1_like` draw such a load; they are not the SPC-1 workload generator, and no figure here is an
SPC-1 result. The mix of reads and writes, random and sequential, is the published one in each cell (29, 32, 11 and
28 %; a test compares).

Published results that could be read are a regression over systems, {slope:.0f} IOPS a drive and {intercept:,} for the
rest, and a range of {low} to {high} IOPS for each drive of mirrored systems of 15,000 rpm. Neither names the systems.
Here, arrays of `generic-15k` in RAID 10 have strips of 64 KiB and {cache} MiB of cache for each drive, half for reads,
half for writes. Nothing is fitted. `python -m tests.validation.spc1_like` writes this page.

## Response against load

{n} drives; load is requests a second for each drive.

"""


def page() -> str:
    """Return the page as Markdown."""
    lines = [
        INTRODUCTION.format(
            slope=SLOPE,
            intercept=INTERCEPT,
            low=RANGE_PER_DRIVE[0],
            high=RANGE_PER_DRIVE[1],
            cache=CACHE_MIB_PER_DRIVE,
            n=DRIVES[1],
        ),
        *_table(
            ["load", *(f"mean, order {order}" for order in ORDERS)],
            (
                [f"{load}", *(_ms(mean_ms(DRIVES[1], units(DRIVES[1], load), order)) for order in ORDERS)]
                for load in LOADS
            ),
        ),
    ]
    limits = {order: {n: most_units(n, order) for n in DRIVES} for order in ORDERS}
    per_drive = {order: [UNIT_IOPS * found[n] / n for n in DRIVES] for order, found in limits.items()}
    lines += [
        "\n## The most that 30 ms allow\n\n",
        *_table(
            ["order", *(f"{n} drives, IOPS for each" for n in DRIVES), "a drive more adds"],
            ([order, *(f"{each:.0f}" for each in per_drive[order]), f"{slope(limits[order]):.0f}"] for order in ORDERS),
        ),
    ]
    low, high = RANGE_PER_DRIVE
    regression = {f"at_{n}": SLOPE + INTERCEPT / n for n in (100, 1000)}
    return "".join(lines) + CONCLUSION.format(slope=SLOPE, low=low, high=high, **regression)


CONCLUSION = """| regression | | | | {slope:.0f} |

The published range for each drive is {low} to {high}. Without a margin, arrays are above it, whether firmware orders
as the profile assumes or ideally; with the margin that SATA drives were measured to have, they are within it, and this
load does not show which of the two [SAS drives](validation-firmware.md) have.

The regression gives {at_100:.0f} IOPS for each of 100 drives and {at_1000:.0f} for each of 1,000; the model, at its
limit, more. Large systems are limited by their controllers and links, too, which are not described here. So the model
is on the high side: it predicts the drives, and a plan for such a system should leave room for the rest.

Runs have 10,000 requests for each drive. In a quarter of them the caches have not settled: arrays seem to serve half
as much then.
"""


def _table(header: list[str], rows: Iterable[list[str]]) -> list[str]:
    lines = [header, ["---", *["--:"] * (len(header) - 1)], *rows]
    return [f"| {' | '.join(line)} |\n" for line in lines]


def _ms(value: float | None) -> str:
    return "the cache fills" if value is None else f"{value:.1f} ms"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
