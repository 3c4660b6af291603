"""What each profile of the catalogue rests on, and how it compares with measurements; run as a script, writes both.

It writes the page, and the line for each profile that `diskmodel drives NAME` shows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from diskmodel.drive import Drive, Hdd, catalogue
from diskmodel.drive.validated import TABLE, TOO_FAST
from tests.unit.drive.test_catalogue_sheets import FLASH, OUTER_MB, RANDOM_READS, writes_taken
from tests.validation import published, published_arrays
from tests.validation.flash.steady import SHEETS

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "validation-profiles.md"

INTRODUCTION = """# What each profile rests on

A profile is as good as its sources. *Printed* are figures that a data sheet or manual gives, *quoted* those that
somebody else quotes from one, *assumed* those that nobody gives. The order of queued commands is never printed: [how
firmware orders](validation-firmware.md) lists what each kind stands for. The last column counts rates and mean
latencies that were published, in [reviews and manuals](validation-published.md) and as [whole
series](validation-arrays.md), with the median size of the error; where it is 20 % or more and most errors are on one
side, it says whether the model is too fast. Those pages say why the large ones are large. Figures of its sheet are
rates that the data sheet prints, and that a simulation reproduces.

`diskmodel drives NAME` shows the last column, and each name leads to the page of that profile, with the measurements.
`python -m tests.validation.profiles` writes this page.

| profile | printed | quoted | assumed | order of commands | compared with measurements |
|---|--:|--:|--:|---|---|
"""


def errors() -> Mapping[str, dict[bool, list[float]]]:
    """Return errors of published rates by profile: of the drive itself (True), of its class (False).

    A mean latency counts as the rate at which a client waits for it, so that a positive error is a model
    that is too fast.
    """
    found: dict[str, dict[bool, list[float]]] = defaultdict(lambda: {True: [], False: []})
    for row in published_arrays.rows():
        if "why_not" not in row and "drive" in row:
            found[row["drive"]][row["drive_is"] == "known"] += [
                1 / (1 + figure.error_ratio) - 1 if figure.quantity == "mean_ms" else figure.error_ratio
                for figure in published_arrays.figures(row)
                if figure.quantity != "p99_ms"
            ]
    for case in published.cases():
        if case.get("figure", "iops") in ("iops", "mean_ms") and isinstance(case["drive"], str):
            ratio = published.simulated(case) / case["measured"]
            found[case["drive"]][True].append((1 / ratio if case.get("figure") == "mean_ms" else ratio) - 1)
    return found


def sheet_figures(name: str) -> int:
    """Return how many operations and rates of its data sheet tests compare with a simulation."""
    n_flash = 0
    if name in FLASH:
        n_flash = sum(value is not None for value in FLASH[name][1:]) - (writes_taken(name) < 1)
    elif name in SHEETS:
        n_flash = 3
    return n_flash + (name in OUTER_MB) + (name in RANDOM_READS)


def line(name: str, found: Mapping[bool, list[float]]) -> str:
    """Return in a few words how a profile compares."""
    parts = []
    for is_known, values in found.items():
        if not values:
            continue
        sizes = np.abs(values)
        of_what = "" if is_known or name.startswith("generic-") else " of drives of its class"
        what = f"{len(sizes)} published figures{of_what}, median error"
        if len(sizes) == 1:
            what = f"one published figure{of_what.replace('drives', 'a drive')}, error"
        parts.append(f"{what} {np.median(sizes):.0%}{side(values)}")
    if n := sheet_figures(name):
        parts.append(f"{n} figure{'s' if n > 1 else ''} of its sheet reproduced")
    return "; ".join(parts) or "no published measurement to compare with"


def side(values: list[float]) -> str:
    """Return on which side of the measurements large errors are; "" where they are small or on both."""
    n_fast = sum(value > 0 for value in values)
    if np.median(np.abs(values)) < 0.195 or 2 * n_fast == len(values):
        return ""
    return TOO_FAST if 2 * n_fast > len(values) else " (the model is too slow)"


def order(drive: Drive) -> str:
    """Return where the order of queued commands comes from."""
    if not isinstance(drive, Hdd) or drive.queue.depth == 1:
        return ""
    return f"assumed, `{drive.queue.assumed_from}`" if drive.queue.assumed_from else f"`{drive.queue.scheduler}`"


def main() -> None:
    """Write the page and the table that the command reads."""
    found = errors()
    lines = {name: line(name, found.get(name, {})) for name in catalogue()}
    rows = []
    for name, drive in catalogue().items():
        counts = [len(drive.provenance.get(key, ())) or "" for key in ("printed", "quoted", "assumed")]
        cells = [f"`{name}`", *counts, order(drive), lines[name]]
        rows.append(f"| {' | '.join(map(str, cells))} |\n")
    PAGE.write_text(INTRODUCTION + "".join(rows), encoding="utf-8")
    head = "# How each profile compares with measurements; `python -m tests.validation.profiles` writes it.\n"
    TABLE.write_text(head + "".join(f'"{name}" = "{text}"\n' for name, text in lines.items()), encoding="utf-8")


if __name__ == "__main__":
    main()
