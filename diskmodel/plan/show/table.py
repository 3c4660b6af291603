"""Answers in a terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from diskmodel.array import Array
from diskmodel.drive import wear
from diskmodel.host import left_out
from diskmodel.plan.answer.comparison import Compared, Comparison, Difference
from diskmodel.plan.answer.load_curve import MOST, RATES
from diskmodel.plan.answer.outcome import Outcome, cut_words
from diskmodel.plan.answer.plan_result import PlanResult
from diskmodel.plan.show.candidates import (
    SLOWED_BY_LOAD,
    candidate_header,
    candidate_note,
    candidate_row,
    duration,
    fullness_words,
    rebuild_name,
    short,
)
from diskmodel.plan.show.cautions import CAUTION, caution_remarks, long_rebuilds, unknown_order, waiting
from diskmodel.plan.show.narrow import TableOrList
from diskmodel.plan.show.words import (
    answer,
    as_described,
    because,
    chance_of,
    explained,
    in_order_words,
    lists,
    peak_words,
    unsaid,
)
from diskmodel.plan.trial.statics import idle_rebuild_hours
from diskmodel.result import COMMITS
from diskmodel.result.show import Remark, few, width_words
from diskmodel.result.statistics import BY_NAME, Interval, bad_end, beside, doubted
from diskmodel.uncertainty import slower_systems
from diskmodel.units import chance_words, in_digits, nominal_bytes

#: Half-width of an interval, as a part of the figure, from which both ends are shown: the figure is then far from their
#: middle.
_WIDE = 0.25
#: Mark of a figure of a run that did not reach a steady state.
_UNSETTLED = "*"
_UNSETTLED_NOTE = (
    "*: the run did not reach a steady state, and a longer one may show another figure; simulate more requests "
    "(--requests)"
)
_LEFT = 2
#: How differences of rates are named.
_RATE_NAMES = {"iops": "IOPS", MOST: "highest IOPS"}
#: Columns of the report that a terminal of 80 characters has no room for.
_ON_PAPER_ONLY = ("commits/s", "IOPS", "mean ms", "rebuild", "busy", "usable")


def plan_table(result: PlanResult, beside: Sequence[Remark] = (), *, is_explained: bool = False) -> RenderableType:
    """Return the answer, at most three reasons, remarks, and every candidate in a line.

    `beside` and `is_explained` as of `comparison_table`.
    """
    is_feasible = result.is_feasible
    parts: list[RenderableType] = []
    parts.append(Text(answer(result), style="bold green" if is_feasible else "bold red"))
    parts += [_indented(line) for line in [chance_of(result), *as_described(result), *because(result)] if line]
    assumed = [
        Remark("unless" if item.needs_more else "assumed", line)
        for item, line in zip(result.assumptions, unsaid(result), strict=True)
    ]
    others = [Remark("assumed", str(instead)) for instead in result.caches_instead]
    remarks = [*caution_remarks(result), *assumed, *others, *beside]
    if result.best is not None and result.best.risk is not None:
        remarks.append(Remark("systems", slower_systems()))
    for line in few(remarks, is_explained=is_explained):
        parts.append(Text(line, style="yellow") if line.startswith(CAUTION) else _indented(line))
    header = candidate_header(result)
    shown = [index for index, name in enumerate(header) if name not in _ON_PAPER_ONLY]
    names = ["rule" if header[index] == "rule of thumb" else header[index] for index in shown]
    table = TableOrList(result.plan.name, names, names[:_LEFT])
    for candidate in result.candidates:
        style = "bold" if result.best is not None and candidate is result.best else ""
        row = candidate_row(result, candidate)
        table.rows.append(([row[index] for index in shown], style))
    parts.append(table)
    if note := candidate_note(result):
        parts.append(Text(note))
    for title, items in lists(result):
        if title == "If an input is wrong":  # what was asked for beyond the answer
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


def comparison_table(
    comparison: Comparison, beside: Sequence[Remark] = (), *, is_explained: bool = False
) -> RenderableType:
    """Return the verdict, the arrays side by side, their differences to the first, and what to know of them.

    Parameters
    ----------
    comparison : Comparison
    beside : sequence of Remark
        Others, found elsewhere.
    is_explained : bool
        Whether all remarks are shown.
    """
    table = Table(title=comparison.workload.name, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("", overflow="fold")
    for item in comparison.arrays:
        table.add_column(item.name, justify="right", overflow="fold")
    for name, cells in comparison_rows(comparison):
        table.add_row(name, *cells)
    said = [Text(comparison.verdict, style="bold")] if comparison.verdict else []
    lines = [*paired(comparison), *few([*beside, *comparison_remarks(comparison)], is_explained=is_explained)]
    return Group(*said, table, *map(Text, lines))


def comparison_rows(comparison: Comparison) -> list[tuple[str, list[str]]]:
    """Return the rows of the table, a name and a cell for each array: what is stored, how soon, how much, what then.

    The rate is among them where it is an answer: of a closed workload, and where an array does not sustain it.
    """
    arrays, is_open = comparison.arrays, comparison.workload.is_open
    rows = [("usable capacity", [nominal_bytes(item.array.usable_bytes) for item in arrays])]
    if comparison.workload.has_syncs:
        rows += [
            ("commits/s", [_rate(item.healthy, of_commits=True) for item in arrays]),
            ("ms a commit, mean", [_latency(item.healthy, "mean", COMMITS) for item in arrays]),
            ("ms a commit, p99", [_latency(item.healthy, "p99", COMMITS) for item in arrays]),
            ("ms a commit, p99, one disk failed", [_latency(item.degraded, "p99", COMMITS) for item in arrays]),
        ]
    if not is_open or not all(item.healthy.is_stable for item in arrays):
        rows.append((_doubted("IOPS", arrays), [beside(_rate(item.healthy), _bad(item, "iops")) for item in arrays]))
    rows.append((_doubted("mean ms", arrays), [_of_healthy(item, "mean") for item in arrays]))
    if all(math.isfinite(item.healthy.mean_read_ns + item.healthy.mean_write_ns) for item in arrays):
        rows.append(("mean ms of reads, writes", [_reads_and_writes(item.healthy) for item in arrays]))
    rows.append((_doubted("p99 ms", arrays), [_of_healthy(item, "p99") for item in arrays]))
    if any(item.degraded for item in arrays):
        part = arrays[0].array.drive.part
        rows.append((f"p99 ms, one {part} failed", [_of_failed(item, item.degraded) for item in arrays]))
        if not all(item.array.drive.stands_alone for item in arrays):
            rows.append(("p99 ms, rebuilding", [_of_failed(item, item.rebuilding) for item in arrays]))
            name = rebuild_name(item.array for item in arrays)
            rows.append((name, [duration(item.rebuild_hours) for item in arrays]))
            rows.append(("rebuild, idle array", [duration(idle_rebuild_hours(item.array)) for item in arrays]))
        chances = [chance_words(item.loss_per_year).removesuffix(" a year") for item in arrays]
        rows.append(("chance of loss a year", chances))
        if any(item.loss_per_year > SLOWED_BY_LOAD * item.idle_loss_per_year for item in arrays):
            idle = [chance_words(item.idle_loss_per_year).removesuffix(" a year") for item in arrays]
            rows.append(("the same, idle rebuilds", idle))
    if any(not math.isnan(item.scrub_hours) for item in arrays):
        rows.append(("scrub", [duration(item.scrub_hours) for item in arrays]))
    if is_open:
        rows.append((_doubted_rate("highest IOPS", arrays), [_most(item) for item in arrays]))
        if comparison.workload.is_in_bytes:
            mean = comparison.workload.mean_size_bytes / 1e6
            rows.append((_doubted_rate("highest MB/s", arrays), [_most(item, mean) for item in arrays]))
    limit_ms = arrays[0].headroom.limit_ms
    if limit_ms is not None:
        rows.append((f"headroom to p99 of {limit_ms:g} ms", [f"{item.headroom.ratio:+.0%}" for item in arrays]))
    if any(math.isfinite(item.healthy.burst_requests) for item in arrays):
        rows.append(("burst absorbed, writes", [short(item.healthy.burst_requests) for item in arrays]))
        rows.append(("ms a write in a burst", [short(item.healthy.burst_latency_ms) for item in arrays]))
    if any(item.headroom.months is not None for item in arrays):
        rows.append(("months of growth", [short(item.headroom.months) for item in arrays]))
    if any(item.array.drive.price_usd is not None for item in arrays):
        rows.append(("price, USD", [short(_price(item.array)) for item in arrays]))
    return rows


def _doubted(name: str, arrays: Sequence[Compared]) -> str:
    """Return the name of a row that has the bad one of ten beside the typical value, where that is known."""
    return doubted(name, is_known=any(item.prediction for item in arrays))


def _bad(item: Compared, statistic: str) -> float:
    """Return the figure of the bad one of ten, in the unit of the table; nan where only its run is known."""
    if item.prediction is None or not item.healthy.is_stable:
        return math.nan
    return bad_end(statistic, item.prediction.middles[statistic]) / (1.0 if statistic == "iops" else 1e6)


def _doubted_rate(name: str, arrays: Sequence[Compared]) -> str:
    """Return the name of the row of the highest rate, as `_doubted` does."""
    return doubted(name, is_known=any(item.most_middle_per_s for item in arrays))


def _most(item: Compared, each: float = 1.0) -> str:
    """Return the highest rate, and that of the bad one of ten, in requests or in `each` of one."""
    most, middle = item.most_per_s, item.most_middle_per_s
    if most is None:
        return "–"
    return beside(short(most.value * each), math.nan if middle is None else bad_end("iops", middle) * each)


def _of_healthy(item: Compared, statistic: str) -> str:
    """Return a latency, and that of the bad one of ten, or the interval of the run where no more was asked for."""
    text = _latency(item.healthy, statistic)
    return text if item.prediction is None else beside(text.partition(" ")[0], _bad(item, statistic))


def _of_failed(item: Compared, outcome: Outcome | None) -> str:
    """Return p99 with a disk failed; the interval of its run only where that was asked for."""
    text = _latency(outcome, "p99")
    return text if item.prediction is None else text.partition(" ")[0]


def _reads_and_writes(outcome: Outcome) -> str:
    return f"{in_digits(outcome.mean_read_ns / 1e6)}, {in_digits(outcome.mean_write_ns / 1e6)}"


def _price(array: Array) -> float | None:
    """Return the price of the disks, spares included; None where it is not known."""
    price = array.drive.price_usd
    return None if price is None else price * (array.layout.disks + array.layout.spares)


def comparison_notes(comparison: Comparison) -> list[str]:
    """Return the differences to the first array, and all remarks."""
    return [*paired(comparison), *few(comparison_remarks(comparison), is_explained=True)]


def paired(comparison: Comparison) -> list[str]:
    """Return the differences to the first array."""
    of_pair: dict[str, list[str]] = {}
    stable = {item.name for item in comparison.arrays if item.healthy.is_stable}
    for difference in comparison.differences:
        # what arrays serve of a load that they sustain is what arrives
        if (
            difference.statistic == "iops"
            and comparison.workload.is_open
            and {difference.first, difference.second} <= stable
        ):
            continue
        pair = f"{difference.second} compared with {difference.first}"
        of_pair.setdefault(pair, []).append(_difference(difference))
    return [f"{pair}: {', '.join(found)}" for pair, found in of_pair.items()]


def comparison_remarks(comparison: Comparison) -> list[Remark]:
    """Return what to know of the arrays: what limits them, what is not known, why the rule of thumb differs."""
    predicted = [item for item in comparison.arrays if item.prediction]
    said = [Remark("width", width_words(item.name, item.prediction)) for item in predicted if item.prediction]
    said += [Remark("systems", slower_systems())] if predicted else []
    if any(item.rebuilding for item in comparison.arrays):
        said.append(Remark("assumed", fullness_words(item.array for item in comparison.arrays)))
    said += [Remark("rule", _by_rule_of_thumb(item)) for item in comparison.arrays]
    if any(_UNSETTLED in cell for _, cells in comparison_rows(comparison) for cell in cells):
        said.append(Remark("cut", _UNSETTLED_NOTE))
    cut = cut_words(
        outcome
        for item in comparison.arrays
        for outcome in (item.healthy, item.degraded, item.rebuilding, *(point.outcome for point in item.curve))
    )
    said += [Remark("cut", f"{cut[:1].upper()}{cut[1:]}; --requests asks for more.")] if cut else []
    for item in comparison.arrays:
        host = item.array.behind_host(comparison.workload)
        found = [
            Remark("wear", wear(item.array.drive, item.healthy.most_written_bytes_per_s)),
            Remark("limit", left_out(host.host, item.healthy.iops.value)),
            *(Remark("limit", text) for text in host.said_of_md(item.array)),
            Remark("loss", waiting(item.array, comparison.workload, item.healthy)),
        ]
        said += [Remark(one.kind, f"{item.name}: {one.text}") for one in found if one.text]
    said += [Remark("loss", text) for text in long_rebuilds(comparison.arrays)]
    doubts = [(*item.array.doubts, unknown_order(item.array.drive)) for item in comparison.arrays]
    said += [Remark("doubt", text) for of_array in doubts for text in of_array]
    for item in comparison.arrays:
        unread = item.array.behind_host(comparison.workload).unread_messages(item.array, comparison.workload)
        said += [Remark("unread", f"{item.name}: {text}") for text in unread]
    load = comparison.workload
    return said + [Remark("reading", text) for text in (*peak_words(load.peaks()), *in_order_words(load))]


def _by_rule_of_thumb(item: Compared) -> str:
    """Return the rate to the knee of the latency, or the highest, the one by rule of thumb, and why they differ."""
    knee, most = item.headroom.knee_iops, item.headroom.most_iops
    own = (
        f"{short(most)} IOPS at most" if math.isnan(knee) and most else f"{short(knee)} IOPS at the knee of its latency"
    )
    why = f"; {'; '.join(item.differs)}" if item.differs else ""
    return f"{item.name}: {own}, {short(item.rule_of_thumb_iops)} by rule of thumb{why}"


def _difference(difference: Difference) -> str:
    """Return how the second array differs: in how many draws, and how many times; of runs alone, in percent."""
    statistic = difference.statistic
    what = _RATE_NAMES.get(statistic) or f"{BY_NAME[statistic].label} latency"
    if difference.middle is not None:
        return f"{what} {_paired(difference, difference.middle)}"
    half = (difference.ratio.high - difference.ratio.low) / 2
    interval = f" ± {half:.1%}" if math.isfinite(half) else ""
    unsure = (
        " (not significant)"
        if math.isfinite(half)
        else " (too few requests for an interval; --requests simulates more)"
    )
    sure = "" if difference.is_significant else unsure
    return f"{what} {difference.ratio.value:+.1%}{interval}{sure}"


def _paired(difference: Difference, middle: Interval) -> str:
    """Return in how many draws the second array is better or worse, and how many times in eight of ten of them."""
    is_more = middle.value >= 1
    is_better = is_more == (difference.statistic in RATES)
    n = difference.n_better if is_better else difference.n_draws - difference.n_better
    ends = (middle.low, middle.high) if is_more else (1 / middle.high, 1 / middle.low if middle.low else math.inf)
    low, high = (in_digits(end, 3) for end in ends)
    times = f"{low} times or more" if not math.isfinite(ends[1]) else low if low == high else f"{low} to {high}"
    side = ("more" if is_more else "less") if difference.statistic in RATES else ("longer" if is_more else "shorter")
    sure = "" if difference.is_significant else ", not certain"
    many = "" if times.endswith("more") else " times"
    return f"{side} in {n} of {difference.n_draws} draws, {times}{many}{sure}"


def _rate(outcome: Outcome, *, of_commits: bool = False) -> str:
    return short((outcome.commits_per_s if of_commits else outcome.iops).value) + (
        _mark(outcome) if outcome.is_stable else " (overloaded)"
    )


def _mark(outcome: Outcome | None) -> str:
    """Return the mark of figures of a run that did not reach a steady state; "" elsewhere."""
    return _UNSETTLED if outcome is not None and outcome.is_stable and not outcome.is_settled else ""


def _latency(outcome: Outcome | None, statistic: str, stream: str = "") -> str:
    figure = outcome.latency_of(statistic, stream) if outcome else None
    if outcome is None or figure is None:
        return "–"
    if not outcome.is_stable:
        return "overloaded"
    half = (figure.high - figure.low) / 2e6
    if math.isfinite(half) and half > _WIDE * figure.value / 1e6:
        ends = " … ".join(in_digits(end / 1e6, 2) for end in (figure.low, figure.high))
        return f"{in_digits(figure.value / 1e6)}{_mark(outcome)} ({ends})"
    return in_digits(figure.value / 1e6) + _mark(outcome) + (f" ± {in_digits(half, 2)}" if math.isfinite(half) else "")
