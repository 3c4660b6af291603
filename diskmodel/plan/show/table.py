"""Answers in a terminal."""

from __future__ import annotations

import math

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from diskmodel.drive.flash.wear import wear
from diskmodel.host.limit import left_out
from diskmodel.plan.answer.comparison import Compared, Comparison, Difference
from diskmodel.plan.answer.outcome import Outcome
from diskmodel.plan.answer.plan_result import PlanResult
from diskmodel.plan.show.candidates import candidate_header, candidate_note, candidate_row, hours_words, short
from diskmodel.plan.show.cautions import cautions, long_rebuilds, unknown_order, waiting
from diskmodel.plan.show.narrow import TableOrList
from diskmodel.plan.show.words import answer, because, explained, in_order_words, lists, peak_words, warning
from diskmodel.result.statistics.registry import BY_NAME
from diskmodel.units import in_digits

_KNEE = "Beyond the knee latency grows faster than throughput; the rule of thumb does not know of queueing."
#: Mark of a figure of a run that did not reach a steady state.
_UNSETTLED = "*"
_UNSETTLED_NOTE = (
    "*: the run did not reach a steady state, and a longer one may show another figure; simulate more requests "
    "(--requests)"
)
_LEFT = 2
#: Columns of the report that a terminal of 80 characters has no room for.
_ON_PAPER_ONLY = ("IOPS", "mean ms", "rebuild h", "busy", "usable")


def plan_table(result: PlanResult) -> RenderableType:
    """Return the answer, at most three reasons, and every candidate in a line."""
    is_feasible = result.is_feasible
    parts: list[RenderableType] = []
    if before := warning(result):
        parts.append(Text(before, style="bold yellow"))
    parts.append(Text(answer(result), style="bold green" if is_feasible else "bold red"))
    parts += [_indented(line) for line in because(result)]
    parts += [Text(line, style="yellow") for line in cautions(result)]
    header = candidate_header(result)
    shown = [index for index, name in enumerate(header) if name not in _ON_PAPER_ONLY]
    names = ["rule" if header[index] == "rule of thumb" else header[index] for index in shown]
    table = TableOrList(result.plan.name, names, names[:_LEFT])
    for candidate in result.candidates:
        style = "bold" if result.best is not None and candidate is result.best else ""
        row = candidate_row(result, candidate)
        # intervals are for paper: eighty characters have room for figures only
        table.rows.append(([row[index].partition(" ± ")[0] for index in shown], style))
    parts.append(table)
    if note := candidate_note(result):
        parts.append(Text(note))
    for title, items in lists(result):
        # what was asked for beyond the answer: the sources of a preset, the sensitivity
        if title in ("The question", "If an input is wrong"):
            parts.append(Text(title, style="bold"))
            parts += [_indented(item) for item in items]
    return Group(*parts)


def explanation(result: PlanResult) -> RenderableType:
    """Return what the answer rests on, under titles."""
    parts: list[RenderableType] = []
    for title, items in explained(result):
        parts.append(Text(f"\n{title}", style="bold"))
        parts += [_indented(item) for item in items]
    return Group(*parts)


def _indented(line: str) -> RenderableType:
    """Return a line whose continuation is indented, too."""
    return Padding(Text(line), (0, 0, 0, _LEFT), expand=False)


def comparison_table(comparison: Comparison) -> RenderableType:
    """Return the arrays side by side, their differences to the first, and why the rule of thumb differs."""
    table = Table(title=comparison.workload.name, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("", overflow="fold")
    for item in comparison.arrays:
        table.add_column(item.name, justify="right", overflow="fold")
    for name, cells in comparison_rows(comparison):
        table.add_row(name, *cells)
    return Group(table, *(Text(line) for line in comparison_notes(comparison)))


def comparison_rows(comparison: Comparison) -> list[tuple[str, list[str]]]:
    """Return the rows of the table: a name and a cell for each array."""
    rows: list[tuple[str, list[str]]] = [
        ("IOPS", [_rate(item.healthy) for item in comparison.arrays]),
        ("mean ms", [_latency(item.healthy, "mean") for item in comparison.arrays]),
        ("p99 ms", [_latency(item.healthy, "p99") for item in comparison.arrays]),
        ("disks busy", [f"{item.healthy.utilization_ratio:.0%}" for item in comparison.arrays]),
        ("p99 ms, one disk failed", [_latency(item.degraded, "p99") for item in comparison.arrays]),
        ("p99 ms, rebuilding", [_latency(item.rebuilding, "p99") for item in comparison.arrays]),
        ("hours of rebuild", [hours_words(item.rebuild_hours) for item in comparison.arrays]),
        ("IOPS at the knee", [short(item.headroom.knee_iops) for item in comparison.arrays]),
        (
            "highest stable IOPS",
            [short(item.headroom.most_iops) + _mark(_highest(item)) for item in comparison.arrays],
        ),
        ("p99 ms at that rate", [_latency(_highest(item), "p99") for item in comparison.arrays]),
        (_headroom_title(comparison), [f"{item.headroom.ratio:+.0%}" for item in comparison.arrays]),
        ("p99 ms with that headroom used", [short(item.headroom.p99_ms) for item in comparison.arrays]),
        ("IOPS by rule of thumb", [short(item.rule_of_thumb_iops) for item in comparison.arrays]),
    ]
    if any(math.isfinite(item.healthy.burst_requests) for item in comparison.arrays):
        rows.append(("burst absorbed, writes", [short(item.healthy.burst_requests) for item in comparison.arrays]))
        rows.append(("ms a write in a burst", [short(item.healthy.burst_latency_ms) for item in comparison.arrays]))
    if any(item.headroom.months is not None for item in comparison.arrays):
        rows.append(("months of growth", [short(item.headroom.months) for item in comparison.arrays]))
    return rows


def _headroom_title(comparison: Comparison) -> str:
    limit_ms = comparison.arrays[0].headroom.limit_ms
    return "headroom to the knee" if limit_ms is None else f"headroom to p99 of {limit_ms:g} ms"


def comparison_notes(comparison: Comparison) -> list[str]:
    """Return the differences to the first array, and why the rule of thumb differs."""
    of_pair: dict[str, list[str]] = {}
    for difference in comparison.differences:
        pair = f"{difference.second} compared with {difference.first}"
        of_pair.setdefault(pair, []).append(_difference(difference))
    said = [f"{pair}: {', '.join(found)}" for pair, found in of_pair.items()]
    said += [f"{item.name}: {'; '.join(item.differs)}" for item in comparison.arrays if item.differs]
    if any(math.isfinite(item.headroom.knee_iops) for item in comparison.arrays):
        said.append(_KNEE)
    if any(_UNSETTLED in cell for _, cells in comparison_rows(comparison) for cell in cells):
        said.append(_UNSETTLED_NOTE)
    for item in comparison.arrays:
        found = (
            wear(item.array.drive, item.healthy.most_written_bytes_per_s),
            left_out(item.array.host, item.healthy.iops.value),
            waiting(item.array, comparison.workload, item.healthy),
        )
        said += [f"{item.name}: {text}" for text in found if text]
    said += long_rebuilds(comparison.arrays)
    doubts = [(*item.array.doubts, unknown_order(item.array.drive)) for item in comparison.arrays]
    said += dict.fromkeys(text for of_array in doubts for text in of_array if text)
    return said + peak_words(comparison.workload.peaks()) + in_order_words(comparison.workload)


def _difference(difference: Difference) -> str:
    half = (difference.ratio.high - difference.ratio.low) / 2
    interval = f" ± {half:.1%}" if math.isfinite(half) else ""
    unsure = " (not significant)" if math.isfinite(half) else " (interval unknown: simulate more requests)"
    sure = "" if difference.is_significant else unsure
    statistic = difference.statistic
    what = "IOPS" if statistic == "iops" else f"{BY_NAME[statistic].label} latency"
    return f"{what} {difference.ratio.value:+.1%}{interval}{sure}"


def _highest(item: Compared) -> Outcome | None:
    """Return the outcome at the highest stable load."""
    stable = [point.outcome for point in item.curve if point.outcome.is_stable]
    return max(stable, key=lambda outcome: outcome.iops.value, default=None)


def _rate(outcome: Outcome) -> str:
    return short(outcome.iops.value) + (_mark(outcome) if outcome.is_stable else " (overloaded)")


def _mark(outcome: Outcome | None) -> str:
    """Return the mark of figures of a run that did not reach a steady state; "" elsewhere."""
    return _UNSETTLED if outcome is not None and outcome.is_stable and not outcome.is_settled else ""


def _latency(outcome: Outcome | None, statistic: str) -> str:
    figure = outcome.latency_of(statistic) if outcome else None
    if outcome is None or figure is None:
        return "–"
    if not outcome.is_stable:
        return "overloaded"
    half = (figure.high - figure.low) / 2e6
    return in_digits(figure.value / 1e6) + _mark(outcome) + (f" ± {in_digits(half, 2)}" if math.isfinite(half) else "")
