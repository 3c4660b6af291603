"""Results of one array under several loads, side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial

from rich.box import SIMPLE_HEAD
from rich.table import Table

from diskmodel.result.latency import Latency
from diskmodel.result.result import Result
from diskmodel.result.statistics.doubt import OVERLOADED, beside, doubted
from diskmodel.result.statistics.registry import BY_NAME
from diskmodel.units import in_digits

_NONE = "–"


def loads_table(results: Mapping[str, Result]) -> Table:
    """Return a table with a column for each load, and the latency of each stream that some of them have.

    Parameters
    ----------
    results : mapping of str to Result
        By the name of the load. Its name is also that of its stream where it has only one, so that a stream can be
        compared with the same one beside others.
    """
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("", overflow="fold")
    for name in results:
        table.add_column(name, justify="right", overflow="fold")
    for name, cells in loads_rows(results):
        table.add_row(name, *cells)
    return table


def loads_rows(results: Mapping[str, Result]) -> list[tuple[str, list[str]]]:
    """Return the rows of the table: a name, and a cell for each load."""
    found = list(results.values())
    name_of = partial(doubted, is_known=any(result.prediction for result in found))
    chances = [result.prediction.overload_chance if result.prediction else 0.0 for result in found]
    rows = (
        [("chance of an overload", [f"{in_digits(100 * chance, 2)} %" for chance in chances])] if any(chances) else []
    )
    rows += [
        (name_of("IOPS"), [beside(in_digits(result.run_iops.value), result.iops.in_one_of_ten) for result in found]),
        ("MB/s", [in_digits(result.bytes_per_s / 1e6) for result in found]),
        (name_of("mean ms"), [_ms(result, result.latency, "mean") for result in found]),
        (name_of("p99 ms"), [_ms(result, result.latency, "p99") for result in found]),
    ]
    streams = [streams_of(name, result) for name, result in results.items()]
    named = dict.fromkeys(stream for own in streams for stream in own)
    if len(named) > 1:
        for stream in named:
            for statistic in ("mean", "p99"):
                cells = [_ms(result, own.get(stream), statistic) for result, own in zip(found, streams, strict=True)]
                rows.append((name_of(f"{stream}: {BY_NAME[statistic].label} ms"), cells))
    rows.append(("disk utilization", [f"{result.utilization_ratio:.0%}" for result in found]))
    return rows


def streams_of(name: str, result: Result) -> Mapping[str, Latency]:
    """Return the latency of each stream by name; a single one has the name of its load."""
    return result.per_stream if len(result.per_stream) > 1 else {name: result.latency}


def _ms(result: Result, latency: Latency | None, statistic: str) -> str:
    if latency is None:
        return _NONE
    if not result.is_stable:
        return OVERLOADED
    figure = latency.figure(statistic)
    return _NONE if math.isnan(figure) else beside(in_digits(figure.value), figure.in_one_of_ten)
