"""A result as people read it: a table for the terminal and one for a notebook."""

from __future__ import annotations

import html
import io
import math

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from diskmodel.result.latency import Latency
from diskmodel.result.prediction import Prediction
from diskmodel.result.rebuild import RebuildRate
from diskmodel.result.result import Result
from diskmodel.result.show.figures import between, share
from diskmodel.result.show.plot import result_svg
from diskmodel.result.statistics.quantiles import fewest_for
from diskmodel.result.statistics.registry import BY_NAME, PERCENTILES
from diskmodel.units import in_digits


def result_rows(result: Result) -> list[tuple[str, str, str]]:
    """Quantity, value and 95 % interval (or remark) of each line."""
    rows = [("throughput", f"{result.iops.mean:,.1f} IOPS", between(result.iops.low, result.iops.high))]
    rows.append(("", f"{result.bytes_per_s / 1e6:,.2f} MB/s", ""))
    if result.is_stable:
        latency = result.latency
        rows.append(("latency, mean", _ms(latency.mean_ns), between(latency.mean.low, latency.mean.high, 1e6)))
        for name, level in PERCENTILES.items():
            ends = _quantile_ends(latency.ends_ns[name], level)
            rows.append((f"latency, {BY_NAME[name].label}", _ms(latency.reported_ns[name]), ends))
        rows.append(("latency, longest", _ms(latency.max_ns), ""))
        rows += [
            (f"latency of {what}, mean", _ms(part.mean_ns), f"p99 {_ms(part.quantiles_ns['p99'])}")
            for what, part in _subsets(result)
        ]
        rows += _spent(result)
    else:
        rows.append(("latency", "none: overloaded", "the backlog grows without end"))
    if result.prediction is not None:
        rows += prediction_rows(result.prediction)
    rows += _utilization(result)
    rows.append(("back-end I/Os per host I/O", f"{result.back_end_per_host:.3g}", ""))
    if result.rebuild is not None:
        rows.append(_rebuild(result.rebuild))
    if not math.isnan(result.cache_full_s):
        rows.append(("until the write cache is full", f"{result.burst_iops:.1f} IOPS", f"{result.cache_full_s:.1f} s"))
        rows.append(("from then on", f"{result.sustained_iops:.1f} IOPS", ""))
    if result.burst is not None and result.burst.n_requests:
        burst = result.burst
        by = {"host": "the host's memory", "controller": "the controller", "drives": "the drives"}[burst.absorbed_by]
        rows.append(("burst absorbed", f"{burst.n_requests:,} writes", f"{_ms(burst.response_ns)} each, by {by}"))
    if result.hit_ratio:
        rows.append(("cache hits", f"{result.hit_ratio:.1%}", ""))
    runs = f" in {result.n_replications} runs" if result.n_replications > 1 else ""
    rows.append(("requests", f"{result.n_requests:,}", f"{result.n_measured:,} measured{runs}"))
    rows.append(("engine", result.engine, f"simulated in {result.wall_s:.2f} s"))
    return rows


def prediction_rows(prediction: Prediction) -> list[tuple[str, str, str]]:
    """Lines of a result's table: quantity, what stands behind it, interval."""
    mean, p99, iops = (prediction.intervals[name] for name in ("mean", "p99", "iops"))
    overloaded = f", {prediction.n_overloaded} of them overloaded" if prediction.n_overloaded else ""
    return [
        (
            "with the drive's uncertainty:",
            f"{prediction.n_draws} drives drawn{overloaded}",
            f"simulated in {prediction.wall_s:.1f} s",
        ),
        ("  throughput, IOPS", "", between(iops.low, iops.high)),
        ("  latency, mean, ms", "", between(mean.low, mean.high, 1e6)),
        ("  latency, p99, ms", "", between(p99.low, p99.high, 1e6)),
    ]


def _rebuild(rate: RebuildRate) -> tuple[str, str, str]:
    whole = "ended within the run" if rate.is_finished else f"{in_digits(rate.hours)} h for a whole pass at this rate"
    return (f"{rate.name}, of each disk", f"{rate.bytes_per_s / 1e6:.3g} MB/s", whole)


def _quantile_ends(ends_ns: tuple[float, float], level: float) -> str:
    """The interval, or how many requests it would take."""
    if math.isnan(ends_ns[0]):
        return f"needs {fewest_for(level):,} requests"
    return between(*ends_ns, 1e6)


def result_table(result: Result) -> RenderableType:
    """Return the table, and below it what the reader must know."""
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("quantity", overflow="fold")
    table.add_column("value", justify="right", overflow="fold")
    table.add_column(f"{result.confidence:.0%} interval", overflow="fold")
    for row in result_rows(result):
        table.add_row(*row)
    return Group(table, *(Text(message) for message in result.messages))


def as_text(result: Result) -> str:
    """The table as plain text."""
    stream = io.StringIO()
    Console(file=stream, width=110, color_system=None, force_terminal=False).print(result_table(result))
    return stream.getvalue().rstrip("\n")


def as_html(result: Result) -> str:
    """The table as HTML, with the distribution and where the time went; an overloaded array has neither."""
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in result_rows(result)
    )
    notes = "".join(f"<p>{html.escape(message)}</p>" for message in result.messages)
    head = f"<tr><th>quantity</th><th>value</th><th>{result.confidence:.0%} interval</th></tr>"
    has_latency = result.is_stable and result.n_measured > 0
    drawn = f'<div style="max-width: 56em">{result_svg(result)}</div>' if has_latency else ""
    return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>{drawn}{notes}"


def _subsets(result: Result) -> list[tuple[str, Latency]]:
    subsets = []
    if result.reads.n and result.writes.n:
        subsets += [("reads", result.reads), ("writes", result.writes)]
    if len(result.per_stream) > 1:
        subsets += [(f"stream {name}", latency) for name, latency in result.per_stream.items() if latency.n]
    return subsets


def _spent(result: Result) -> list[tuple[str, str, str]]:
    """What the mean latency consists of: a line for each part."""
    parts = [(f"  {part}", value) for part, value in result.breakdown_ns.items() if value > 0]
    total = sum(value for _, value in parts)
    return [("of the mean:", "", ""), *((part, _ms(value), share(value / total)) for part, value in parts)]


def _utilization(result: Result) -> list[tuple[str, str, str]]:
    """How busy the disks are together, and the busiest of several."""
    mean = result.utilization
    ends = f"{share(mean.low)} … {share(mean.high)}" if math.isfinite(mean.low + mean.high) else "too few requests"
    rows = [("disk utilization", share(result.utilization_ratio), ends)]
    if len(result.per_disk) > 1:
        rows.append(("  of the busiest disk", share(max(use.utilization_ratio for use in result.per_disk)), ""))
    return rows


def _ms(value_ns: float) -> str:
    return "unknown" if math.isnan(value_ns) else f"{in_digits(value_ns / 1e6, 4)} ms"
