"""A result as people read it: a table for the terminal and one for a notebook."""

from __future__ import annotations

import math

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from diskmodel.errors import html_text
from diskmodel.result.commits import COMMITS
from diskmodel.result.devices import OWN_DEVICES
from diskmodel.result.prediction import RUN, UTILIZATION, Prediction
from diskmodel.result.rebuild import RebuildRate
from diskmodel.result.result import Result
from diskmodel.result.show.figures import between, four_digits, share
from diskmodel.result.statistics.doubt import COLUMN, OVERLOADED, bad_end, in_one_of_ten, overload_words
from diskmodel.result.statistics.quantiles import fewest_for
from diskmodel.result.statistics.registry import BY_NAME, PERCENTILES
from diskmodel.units import in_digits

#: Part of the interval's width from which a source is named.
_NAMED = 0.05


def result_rows(result: Result) -> list[tuple[str, str, str]]:
    """Quantity, value, and figure of the bad one of ten (or remark) of each line.

    Of a run about which nothing else is unknown, or alone asked for, the ends of its interval are in their place.
    """
    prediction = result.prediction
    rows = _commits(result)
    rows.append(("throughput", f"{_rate(result.run_iops.value)} IOPS", _doubt(result, "iops")))
    rows.append(("", f"{result.bytes_per_s / 1e6:,.2f} MB/s", ""))
    if result.is_stable:
        latency = result.latency
        rows.append(("latency, mean", _ms(latency.mean_ns), _doubt(result, "mean")))
        for name in PERCENTILES:
            rows.append((f"latency, {BY_NAME[name].label}", _ms(latency.reported_ns[name]), _doubt(result, name)))
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
    if not math.isnan(counted := result.counted_per_io):
        rows.append(("operations that each I/O counts for", f"{counted:.3g}", "as the provider limits them"))
    if not math.isnan(amplification := result.write_amplification_ratio):
        rows.append(("write amplification", f"{amplification:.3g}", "flash programmed for a write"))
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
    for name, devices in result.own_devices.items():
        busiest = max(devices, key=lambda device: device.utilization_ratio)
        rate = f"{_rate(sum(device.iops for device in devices))} IOPS"
        rows.append((f"{OWN_DEVICES[name]} utilization", f"{busiest.utilization_ratio:.1%}", rate))
    runs = f" in {result.n_replications} runs" if result.n_replications > 1 else ""
    rows.append(("requests", f"{result.n_requests:,}", f"{result.n_measured:,} measured{runs}"))
    rows.append(("engine", result.engine, f"simulated in {result.wall_s:.2f} s"))
    return rows


def _commits(result: Result) -> list[tuple[str, str, str]]:
    """Return what is asked first where a workload has commits: how many a second, and how long one takes."""
    if math.isnan(result.commits_per_s):
        return []
    commits, are_all = result.commits, result.commits.n == result.latency.n
    rows = [("commits", f"{result.commits_per_s:,.1f} /s", _doubt(result, "iops") if are_all else "")]
    if not result.is_stable:
        return rows
    return rows + _of_subset(result, COMMITS) if commits.n else rows


def prediction_rows(prediction: Prediction) -> list[tuple[str, str, str]]:
    """Lines of a result's table: by how much one of ten is worse, where that comes from, and what would narrow it."""
    rows = [("one of ten is slower by", worse_words(prediction.worse_ratio), sources_words(prediction))]
    if not math.isnan(prediction.if_measured_ratio) and math.isfinite(prediction.worse_ratio):
        said = worse_words(prediction.worse_ratio * prediction.if_measured_ratio / prediction.half_width_ratio)
        rows.append(("  if such a drive were measured", said, "`diskmodel measure --quick`, about a minute"))
    return rows


def worse_words(ratio: float) -> str:
    """Return by how much the bad one of ten is worse: "18 %".

    Examples
    --------
    >>> worse_words(0.0312)
    '3.1 %'
    """
    return f"{in_digits(100 * ratio, 2)} %" if math.isfinite(ratio) else OVERLOADED


def width_words(name: str, prediction: Prediction) -> str:
    """Return in a sentence by how much one of ten such systems is worse, and where that comes from."""
    return f"{name}: one of ten is slower by {worse_words(prediction.worse_ratio)}: {sources_words(prediction)}"


def sources_words(prediction: Prediction) -> str:
    """Return where the width of the interval comes from: "order of commands 12, seeks 9, run 0.4", in percent.

    Each figure is by how much one of ten would be worse by this source alone; their squares add up to that of all.
    Sources below a twentieth are left out, except the run.
    """
    whole = prediction.worse_ratio
    if not math.isfinite(whole):
        whole = 1.0
    alone = {name: share**0.5 for name, share in prediction.sources.items()}
    named = [name for name, part in alone.items() if part >= _NAMED or name == RUN]
    return ", ".join(f"{name} {in_digits(100 * whole * alone[name], 2)}" for name in named)


def _rebuild(rate: RebuildRate) -> tuple[str, str, str]:
    whole = "ended within the run" if rate.is_finished else f"{in_digits(rate.hours)} h for a whole pass at this rate"
    return (f"{rate.name}, of each disk", f"{rate.bytes_per_s / 1e6:.3g} MB/s", whole)


def _doubt(result: Result, statistic: str, subset: str = "") -> str:
    """Return the figure of the bad one of ten, or the ends of the run's interval, or how many requests it would take.

    Parameters
    ----------
    statistic : str
    subset : str
        Of the requests, by its name in `Result.subsets`; "": all.
    """
    of = result.subsets[subset] if subset else result.latency
    own = result.run_interval(statistic) if statistic in ("iops", UTILIZATION) else of.run_interval(statistic)
    divisor = 1.0 if statistic in ("iops", UTILIZATION) else 1e6
    middle = result.middle_of(statistic, subset)
    bad = math.nan if middle is None else bad_end(statistic, middle) / divisor
    if math.isnan(own.low if middle is None else bad) and statistic in PERCENTILES:
        return f"needs {fewest_for(PERCENTILES[statistic]):,} requests"
    if middle is None:
        return between(own.low, own.high, divisor)
    if math.isnan(bad):
        return "too few requests"
    return four_digits(bad) if math.isfinite(bad) else OVERLOADED


def headline(result: Result) -> str:
    """Return the answer in one sentence: what is asked of the load, typical and in one of ten, and what may overload.

    The rate is an answer of a closed load alone: an open one says how many requests arrive.
    """
    if not result.is_stable:
        return "Overloaded: the backlog grows without end."
    prediction = result.prediction
    chance = overload_words(prediction.overload_chance) if prediction else ""
    is_often = prediction is not None and not math.isfinite(prediction.middles["mean"].high)
    said = []
    if math.isnan(result.offered_per_s):
        said.append(_typical(result, "iops", f"{in_digits(result.run_iops.value)}/s", 1.0))
    latency = {"mean": result.latency.mean_ns, "p99": result.latency.reported_ns["p99"]}
    for name, value in latency.items():
        if not math.isnan(value):
            typical = f"{BY_NAME[name].label} {in_digits(value / 1e6)} ms"
            said.append(typical if is_often else _typical(result, name, typical, 1e6))
    answer = "; ".join(said)
    if not chance:
        return f"{answer[:1].upper()}{answer[1:]}."
    return f"{chance[:1].upper()}{chance[1:]}; {'as described' if is_often else 'otherwise'} {answer}."


def _typical(result: Result, statistic: str, typical: str, divisor: float) -> str:
    middle = result.middle_of(statistic)
    return typical if middle is None else in_one_of_ten(typical, bad_end(statistic, middle) / divisor)


def result_columns(result: Result) -> tuple[str, str, str]:
    """Return the names of the columns of `result_rows`."""
    own = f"{result.confidence:.0%} interval of the run"
    return "quantity", "value", COLUMN if result.is_stable and result.prediction is not None else own


def result_table(result: Result) -> RenderableType:
    """Return the answer in a sentence, the table, and below it what the reader must know."""
    return Group(answer_table(result), *(Text(message) for message in result.messages))


def answer_table(result: Result) -> RenderableType:
    """Return the answer in a sentence, and the table."""
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    quantity, value, doubt = result_columns(result)
    table.add_column(quantity, overflow="fold")
    table.add_column(value, justify="right", overflow="fold")
    table.add_column(doubt, overflow="fold")
    for row in result_rows(result):
        table.add_row(*row)
    return Group(Text(headline(result), style="bold"), table)


def as_html(result: Result) -> str:
    """The table as HTML, with the distribution and where the time went; an overloaded array has neither."""
    # here, because a terminal needs no Matplotlib, which takes longer to import than a short run takes
    from diskmodel.result.show.plot import result_svg

    body = "".join(
        "<tr>" + "".join(f"<td>{html_text(cell)}</td>" for cell in row) + "</tr>" for row in result_rows(result)
    )
    notes = "".join(f"<p>{html_text(message)}</p>" for message in result.messages)
    head = "".join(f"<th>{html_text(name)}</th>" for name in result_columns(result))
    has_latency = result.is_stable and result.n_measured > 0
    drawn = f'<div style="max-width: 56em">{result_svg(result)}</div>' if has_latency else ""
    said = f"<p><strong>{html_text(headline(result))}</strong></p>"
    return f"{said}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{drawn}{notes}"


def _subsets(result: Result) -> list[str]:
    """Return the names of the subsets that are not all of the requests, without commits, which come first."""
    are_several = len(result.per_stream) > 1
    return [
        name
        for name, latency in result.subsets.items()
        if name != COMMITS and (latency.n < result.latency.n or (are_several and name not in ("reads", "writes")))
    ]


def _of_subset(result: Result, subset: str) -> list[tuple[str, str, str]]:
    """Return mean and p99 of a subset, and those of the bad one of ten."""
    latency = result.subsets[subset]
    return [
        (f"latency of {subset}, mean", _ms(latency.mean_ns), _doubt(result, "mean", subset)),
        (f"latency of {subset}, p99", _ms(latency.reported_ns["p99"]), _doubt(result, "p99", subset)),
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
    middle, run = result.middle_of(UTILIZATION), result.run_utilization
    said = f"{share(run.low)} … {share(run.high)}" if math.isfinite(run.low + run.high) else "too few requests"
    if middle is not None and math.isfinite(middle.high):
        said = share(middle.high)
    rows = [("disk utilization", share(result.utilization_ratio), said)]
    if len(result.per_disk) > 1:
        rows.append(("  of the busiest disk", share(max(use.utilization_ratio for use in result.per_disk)), ""))
    return rows


def _rate(per_s: float) -> str:
    """One decimal, but at least three digits."""
    return f"{per_s:,.1f}" if per_s >= 10 else in_digits(per_s, 3)


def _ms(value_ns: float) -> str:
    return "unknown" if math.isnan(value_ns) else f"{in_digits(value_ns / 1e6, 4)} ms"
