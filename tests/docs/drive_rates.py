"""What each bundled drive does with random reads, for the list of drives.

`python -m tests.docs.drive_rates` writes the file anew, in some minutes.
"""

from __future__ import annotations

import csv
import io
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from diskmodel.array import Array
from diskmodel.drive import catalogue
from diskmodel.engine.simulate import simulate
from diskmodel.workload import Workload

FILE = Path(__file__).parents[2] / "docs" / "reference" / "drive-rates.csv"
DEPTHS = (1, 32)
COLUMNS = ("drive", *(f"iops_{depth}{end}" for depth in DEPTHS for end in ("", "_low", "_high")))
#: Requests of a run: rates are known to about one per cent.
N_REQUESTS = 5_000


def row(name: str) -> list[str]:
    """Return the rates of a drive: reads of 4 KiB a second anywhere on it, with 95 % intervals."""
    cells = [name]
    for depth in DEPTHS:
        load = Workload.parse({"size": "4 KiB", "read_ratio": 1.0, "clients": depth})
        result = simulate(Array.from_words(f"1x {name} single"), load, n_requests=N_REQUESTS)
        cells += [f"{float(f'{value:.3g}'):.10g}" for value in (result.iops.value, result.iops.low, result.iops.high)]
    return cells


def text() -> str:
    """Return the file."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(COLUMNS)
    with ProcessPoolExecutor(2) as pool:
        writer.writerows(pool.map(row, catalogue()))
    return written.getvalue()


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
