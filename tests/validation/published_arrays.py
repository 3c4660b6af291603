"""Every published measurement of a drive or array that was found; run as a script it writes the page on them."""

from __future__ import annotations

import textwrap
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from diskmodel.array import Array
from diskmodel.engine import one_run
from diskmodel.engine.simulate import simulate
from diskmodel.workload import Workload
from tests.validation.published import SINGLE

TABLE = Path(__file__).parent.parent / "data" / "published_arrays.toml"
PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "validation-arrays.md"

#: Requests of a run. The standard errors of rate and mean are below 1 %, that of p99 is some 3 %.
N_REQUESTS = 8_000
#: Seconds that a rebuild is simulated for.
REBUILD_S = 10

#: What is compared, and the unit that follows the number.
UNITS = {"iops": "/s", "mb_s": " MB/s", "mean_ms": " ms", "p99_ms": " ms"}

INTRODUCTION = """# Every published measurement that was found

{n} measurements of real drives and arrays were found, of which diskmodel can predict {n_predicted}. The table at the
end names the others and why not. A drive is described by its data sheet, and where the source does not name it, by one
of its class. So a difference can come from the model, from the drive, or from what the source does not say. Three
drives lend how SATA drives order queued commands, three other measurements one value each (the host's time of a
request, the time of a flush, how many writes a buffer holds), and say so; nothing else is fitted. Arrays of flash
drives have the [host](../reference/semantics-host.md) that every answer assumes. `make arrays` writes this page from
`tests/data/published_arrays.toml`.

![Predicted over measured rates, means and p99, a row for each measurement](validation-arrays.svg)

{summary}
"""


@dataclass(frozen=True)
class Figure:
    """One measured figure and what the model predicts."""

    what: str
    quantity: str
    measured: float
    predicted: float

    @property
    def unit(self) -> str:
        """What follows the number."""
        return UNITS[self.quantity]

    @property
    def error_ratio(self) -> float:
        """Predicted over measured, less 1."""
        return self.predicted / self.measured - 1


def rows() -> list[dict[str, Any]]:
    """Return the rows of the table."""
    return list(tomllib.loads(TABLE.read_text(encoding="utf-8"))["row"])


def figures(row: dict[str, Any]) -> list[Figure]:
    """Return the figures of a row that can be predicted."""
    points = [figure for point in row.get("points", ()) for figure in _of_point(row, point)]
    return points + [_of_rebuild(rebuild) for rebuild in row.get("rebuilds", ())]


def scenario(row: dict[str, Any], point: dict[str, Any]) -> tuple[Array, Workload]:
    """Return the array and the load of a point."""
    fields = {key: row[key] for key in ("drive", "queue", "host", "controller") if key in row}
    layout = row.get("layout", SINGLE) | ({"bitmap": point["bitmap"]} if "bitmap" in point else {})
    size, reads = point.get("size", "4 KiB"), point["reads"]
    places = {key: source[key] for source in (row, point) for key in ("span", "offset", "addresses") if key in source}
    workload = Workload.parse({"size": size, "read_ratio": reads, "clients": point["depth"]} | places)
    return Array.parse({"layout": layout} | fields), workload


def _of_point(row: dict[str, Any], point: dict[str, Any]) -> Iterator[Figure]:
    """Rate, mean and p99 of one load."""
    array, workload = scenario(row, point)
    size, reads = point.get("size", "4 KiB"), point["reads"]
    begin = "empty" if "seconds" in point else "steady"
    result = simulate(array, workload, n_requests=point.get("requests", N_REQUESTS), profile_draws=0, start=begin)
    latency_ms = result.to_dict()["latency_ms"]
    predicted = {
        "iops": float(result.iops.mean),
        "mean_ms": float(latency_ms["mean"]),
        "p99_ms": float(latency_ms["p99"]),
        "mb_s": result.bytes_per_s / 1e6,
    }
    if "seconds" in point:
        done_s = result.run.completions.done_ns / 1e9
        assert done_s.max() > point["seconds"]
        predicted["iops"] = float((done_s <= point["seconds"]).sum()) / point["seconds"]
    operation = {0: "writes", 1: "reads"}.get(reads, f"{reads:.0%} reads")
    what = f"{size} {operation}, depth {point['depth']}" + (f", {point['what']}" if "what" in point else "")
    for quantity in UNITS:
        if quantity in point:
            label = {"mean_ms": ", mean", "p99_ms": ", p99"}.get(quantity, "")
            yield Figure(what + label, quantity, point[quantity], predicted[quantity])


def _of_rebuild(rebuild: dict[str, Any]) -> Figure:
    """The rate of a rebuild, a check or a resync of an array that is all but idle."""
    described = {key: rebuild[key] for key in ("action", "page_ns", "used") if key in rebuild}
    layout = rebuild["layout"] | {"rebuild": described | {"done_ratio": rebuild["done"]}}
    if "action" not in rebuild:
        layout |= {"failed": [0], "spares": 1}
    fields = {key: rebuild[key] for key in ("drive", "drive_write_cache") if key in rebuild}
    array, workload = Array.parse({"layout": layout} | fields), Workload.parse({"size": "4 KiB", "rate": "1/s"})
    # nobody may ask for so few requests beside a wide rebuild, but ten a second would slow down a resilver
    with mock.patch.object(one_run, "check_rare"):
        rate = simulate(array, workload, n_requests=REBUILD_S, profile_draws=0).rebuild
    assert rate is not None
    return Figure(rebuild["what"], "mb_s", rebuild["mb_s"], rate.bytes_per_s / 1e6)


def page() -> str:
    """Return the page as Markdown."""
    all_rows = rows()
    predicted = [(row, figures(row)) for row in all_rows if "why_not" not in row]
    text = [INTRODUCTION.format(n=len(all_rows), n_predicted=len(predicted), summary=_summary(predicted))]
    for row, found in predicted:
        title = row["what"][0].upper() + row["what"][1:]
        text += [f"## {title}\n", *_wrapped(row["meaning"]), "", *_wrapped(_about(row)), ""]
        text += ["| | measured | predicted | |", "|---|--:|--:|--:|"]
        text += [
            f"| {figure.what} | {_short(figure.measured)}{figure.unit} | {_short(figure.predicted)}{figure.unit} "
            f"| {figure.error_ratio:+.0%} |"
            for figure in found
        ]
        text.append("")
    text += ["## What cannot be predicted\n", "| measurement | source | why not |", "|---|---|---|"]
    text += [f"| {row['what']} | {row['source']} | {row['why_not']} |" for row in all_rows if "why_not" in row]
    return "\n".join(text) + "\n"


def _summary(predicted: list[tuple[dict[str, Any], list[Figure]]]) -> str:
    """The sizes of the errors, by what was measured."""
    lines = ["| figures | how many | median size of the error | within 20 % |", "|---|--:|--:|--:|"]
    by_kind = {
        "rates": ("iops", "mb_s"),
        "mean latencies": ("mean_ms",),
        "p99 latencies": ("p99_ms",),
    }
    found = [figure for _, of_row in predicted for figure in of_row]
    for name, quantities in by_kind.items():
        sizes = np.array([abs(figure.error_ratio) for figure in found if figure.quantity in quantities])
        lines.append(f"| {name} | {len(sizes)} | {np.median(sizes):.0%} | {np.mean(sizes <= 0.2):.0%} |")
    return "\n".join(lines)


def _about(row: dict[str, Any]) -> str:
    """Where a row comes from, and what stands for its drive."""
    drives = [row["drive"]] if "drive" in row else [rebuild["drive"] for rebuild in row["rebuilds"]]
    how = "the drive itself" if row["drive_is"] == "known" else "of its class"
    names = " and ".join(f"`{name}`" for name in dict.fromkeys(drives))
    return f"*Source: {row['source']} ({row['trust']}). Profile: {names}, {how}.*"


def _wrapped(text: str) -> list[str]:
    """Return lines; the name of a profile is not divided."""
    return textwrap.wrap(text, 120, break_on_hyphens=False)


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
