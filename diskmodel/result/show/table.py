"""A result as people read it: a table for the terminal and one for a notebook."""

from __future__ import annotations

import math

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from diskmodel.errors import html_text
from diskmodel.result.commits import COMMITS
from diskmodel.result.prediction import RUN, Prediction
from diskmodel.result.rebuild import RebuildRate
from diskmodel.result.result import Result
from diskmodel.result.show.figures import between, share
from diskmodel.result.statistics.batches import Interval
from diskmodel.result.statistics.quantiles import fewest_for
from diskmodel.result.statistics.registry import BY_NAME, PERCENTILES
from diskmodel.units import in_digits

#: Part of the interval's width from which a source is named.
_NAMED = 0.05


def result_rows(result: Result) -> list[tuple[str, str, str]]:
    """Quantity, value and 95 % interval (or remark) of each line."""
    prediction = result.prediction
    iops = result.interval_of("iops")
    rows = _commits(result)
    rows.append(("throughput", f"{_rate(result.run_iops.value)} IOPS", between(iops.low, iops.high)))
    rows.append(("", f"{result.bytes_per_s / 1e6:,.2f} MB/s", ""))
    if result.is_stable:
        latency = result.latency
        mean = latency.interval_of("mean")
        rows.append(("latency, mean", _ms(latency.mean_ns), between(mean.low, mean.high, 1e6)))
        for name, level in PERCENTILES.items():
            ends = _quantile_ends(latency.interval_of(name), level)
            rows.append((f"latency, {BY_NAME[name].label}", _ms(latency.reported_ns[name]), ends))
        rows.append(("latency, longest", _ms(latency.max_ns), ""))
        for subset in _subsets(result):
            rows += _of_subset(result, subset)
        rows += _spent(result)
    else:
        rows.append(("latency", "none: overloaded", "the backlog grows without end"))
    if prediction is not None:
        rows += prediction_rows(prediction)
    rows += _utilization(result)
    rows.append(("back-end I/Os per host I/O", f"{result.back_end_per_host:.3g}", ""))
    if result.rebuild is not None:
        rows.append(_rebuild(result.rebuild))
    if not math.isnan(result.cache_full_s):
        rows.append(
            ("until the write cache is full", f"{_rate(result.burst_iops)} IOPS", f"{result.cache_full_s:.1f} s")
        )
        rows.append(("from then on", f"{_rate(result.sustained_iops)} IOPS", ""))
    if result.burst is not None and result.burst.n_requests:
        absorbed = result.burst
        by = {"host": "the host's memory", "controller": "the controller", "drives": "the drives"}[absorbed.absorbed_by]
        rows.append(("burst absorbed", f"{absorbed.n_requests:,} writes", f"{_ms(absorbed.response_ns)} each, by {by}"))
    if result.hit_ratio:
        rows.append(("cache hits", f"{result.hit_ratio:.1%}", ""))
    if not math.isnan(result.l2_hit_ratio):
        rows.append(("cache devices' hits", f"{result.l2_hit_ratio:.1%}", "of what the ARC lacked"))
    runs = f" in {result.n_replications} runs" if result.n_replications > 1 else ""
    rows.append(("requests", f"{result.n_requests:,}", f"{result.n_measured:,} measured{runs}"))
    rows.append(("engine", result.engine, f"simulated in {result.wall_s:.2f} s"))
    return rows


def _commits(result: Result) -> list[tuple[str, str, str]]:
    """Return what is asked first where a workload has commits: how many a second, and how long one takes."""
    if math.isnan(result.commits_per_s):
        return []
    commits, are_all = result.commits, result.commits.n == result.latency.n
    rate = result.interval_of("iops") if are_all else None
    rows = [("commits", f"{result.commits_per_s:,.1f} /s", between(rate.low, rate.high) if rate else "")]
    if not result.is_stable:
        return rows
    return rows + _of_subset(result, COMMITS) if commits.n else rows


def prediction_rows(prediction: Prediction) -> list[tuple[str, str, str]]:
    """Lines of a result's table: how wide the interval is, where that comes from, and what would narrow it."""
    what = "throughput" if prediction.main == "iops" else "mean latency"
    overloaded = f"; overloaded in {prediction.n_overloaded} of {prediction.n_draws} draws"
    rows = [
        (
            f"interval of {what}",
            half_width_words(prediction.half_width_ratio),
            sources_words(prediction) + (overloaded if prediction.n_overloaded else ""),
        )
    ]
    if not math.isnan(prediction.if_measured_ratio):
        said = half_width_words(prediction.if_measured_ratio)
        rows.append(("  if such a drive were measured", said, "`diskmodel measure --quick`, about a minute"))
    return rows


def half_width_words(ratio: float) -> str:
    """Return the half-width of an interval in words: "±18 %".

    Examples
    --------
    >>> half_width_words(0.0312)
    '±3.1 %'
    """
    return f"±{in_digits(100 * ratio, 2)} %" if math.isfinite(ratio) else "no upper end"


def width_words(name: str, prediction: Prediction) -> str:
    """Return in a sentence how wide the interval of something is, and where that comes from."""
    what = "throughput" if prediction.main == "iops" else "mean latency"
    return f"{name}: {what} {half_width_words(prediction.half_width_ratio)}: {sources_words(prediction)}"


def sources_words(prediction: Prediction) -> str:
    """Return where the width of the interval comes from: "order of commands 12, seeks 9, run 0.4", in percent.

    Each figure is the half-width that the interval would have by this source alone; their squares add up to that of
    all. Sources below a twentieth of the width are left out, except the run.
    """
    whole = prediction.half_width_ratio
    if not math.isfinite(whole):
        whole = 1.0
    alone = {name: share**0.5 for name, share in prediction.sources.items()}
    named = [name for name, part in alone.items() if part >= _NAMED or name == RUN]
    return ", ".join(f"{name} {in_digits(100 * whole * alone[name], 2)}" for name in named)


def _rebuild(rate: RebuildRate) -> tuple[str, str, str]:
    whole = "ended within the run" if rate.is_finished else f"{in_digits(rate.hours)} h for a whole pass at this rate"
    return (f"{rate.name}, of each disk", f"{rate.bytes_per_s / 1e6:.3g} MB/s", whole)


def _quantile_ends(interval: Interval, level: float) -> str:
    """The interval, or how many requests it would take."""
    if math.isnan(interval.low):
        return f"needs {fewest_for(level):,} requests"
    return between(interval.low, interval.high, 1e6)


def result_table(result: Result) -> RenderableType:
    """Return the table, and below it what the reader must know."""
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("quantity", overflow="fold")
    table.add_column("value", justify="right", overflow="fold")
    table.add_column(f"{result.confidence:.0%} interval", overflow="fold")
    for row in result_rows(result):
        table.add_row(*row)
    return Group(table, *(Text(message) for message in result.messages))


def as_html(result: Result) -> str:
    """The table as HTML, with the distribution and where the time went; an overloaded array has neither."""
    # here, because a terminal needs no Matplotlib, which takes longer to import than a short run takes
    from diskmodel.result.show.plot import result_svg

    body = "".join(
        "<tr>" + "".join(f"<td>{html_text(cell)}</td>" for cell in row) + "</tr>" for row in result_rows(result)
    )
    notes = "".join(f"<p>{html_text(message)}</p>" for message in result.messages)
    head = f"<tr><th>quantity</th><th>value</th><th>{result.confidence:.0%} interval</th></tr>"
    has_latency = result.is_stable and result.n_measured > 0
    drawn = f'<div style="max-width: 56em">{result_svg(result)}</div>' if has_latency else ""
    return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>{drawn}{notes}"


def _subsets(result: Result) -> list[str]:
    """Return the names of the subsets that are not all of the requests, without commits, which come first."""
    are_several = len(result.per_stream) > 1
    return [
        name
        for name, latency in result.subsets.items()
        if name != COMMITS and (latency.n < result.latency.n or (are_several and name not in ("reads", "writes")))
    ]


def _of_subset(result: Result, subset: str) -> list[tuple[str, str, str]]:
    """Return mean and p99 of a subset, with intervals that include what is not known."""
    latency = result.subsets[subset]
    mean, p99 = (latency.interval_of(name) for name in ("mean", "p99"))
    return [
        (f"latency of {subset}, mean", _ms(latency.mean_ns), between(mean.low, mean.high, 1e6)),
        (
            f"latency of {subset}, p99",
            _ms(latency.reported_ns["p99"]),
            _quantile_ends(p99, PERCENTILES["p99"]),
        ),
    ]


def _spent(result: Result) -> list[tuple[str, str, str]]:
    """What the mean latency consists of: a line for each part."""
    parts = [(f"  {part}", value) for part, value in result.breakdown_ns.items() if value > 0]
    if not parts:  # the host's memory answers all of it
        return []
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


def _rate(per_s: float) -> str:
    """One decimal, but at least three digits."""
    return f"{per_s:,.1f}" if per_s >= 10 else in_digits(per_s, 3)


def _ms(value_ns: float) -> str:
    return "unknown" if math.isnan(value_ns) else f"{in_digits(value_ns / 1e6, 4)} ms"
