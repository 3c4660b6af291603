"""What one array can carry, in a terminal and in a notebook."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from diskmodel.drive import wear
from diskmodel.errors import html_text
from diskmodel.plan.answer.capacity import Capacity
from diskmodel.plan.answer.outcome import Outcome, cut_words
from diskmodel.plan.show.candidates import SLOWED_BY_LOAD, duration, fullness_words, rebuild_name, short
from diskmodel.plan.show.cautions import starved_beside_the_knee
from diskmodel.result.show import Remark, few
from diskmodel.result.statistics import bad_end, in_one_of_ten
from diskmodel.uncertainty import slower_systems
from diskmodel.units import chance_words, in_digits, nominal_bytes

#: Years from which on how long a drive lasts says nothing more.
_NEVER_YEARS = 100.0


def capacity_table(capacity: Capacity, beside: Sequence[Remark] = (), *, is_explained: bool = False) -> RenderableType:
    """Return the answer in a sentence, the figures, and what they are about; `beside` as of `comparison_table`."""
    table = Table(
        title=capacity.workload.name, title_justify="left", box=SIMPLE_HEAD, pad_edge=False, show_header=False
    )
    table.add_column("")
    table.add_column("", justify="right")
    for name, text in capacity_rows(capacity):
        table.add_row(name, Text(text))
    notes = map(Text, few([*beside, *capacity_remarks(capacity)], is_explained=is_explained))
    return Group(Text(sentence(capacity), style="bold"), table, *notes)


def capacity_html(capacity: Capacity) -> str:
    """Return the same for a notebook."""
    rows = "".join(
        f"<tr><td>{html_text(name)}</td><td>{html_text(text)}</td></tr>" for name, text in capacity_rows(capacity)
    )
    notes = "".join(f"<li>{html_text(line)}</li>" for line in few(capacity_remarks(capacity), is_explained=True))
    return f"<p><strong>{html_text(sentence(capacity))}</strong></p><table>{rows}</table><ul>{notes}</ul>"


def sentence(capacity: Capacity) -> str:
    """Return what the array carries in one sentence."""
    name = capacity.array.name or f"{capacity.array.layout.disks} × {capacity.array.drive.name}"
    knee, most = capacity.knee, capacity.most_per_s
    return (
        f"{name} carries {in_digits(knee.offered)} requests a second{_in_mb(capacity, knee.offered)} with a p99 of "
        f"{_ms(knee.outcome, 'p99')}, and {in_digits(most.value)}{_in_mb(capacity, most.value)} at most"
        f"{in_one_of_ten('', _bad_per_s(capacity))}."
    )


def _bad_per_s(capacity: Capacity) -> float:
    """Return the highest rate of the bad one of ten, requests per second; nan where only the runs are known."""
    return math.nan if capacity.most_middle_per_s is None else bad_end("iops", capacity.most_middle_per_s)


def _mb(capacity: Capacity, per_s: float) -> float:
    """Return so many requests a second in MB/s."""
    return per_s * capacity.workload.mean_size_bytes / 1e6


def _in_mb(capacity: Capacity, per_s: float) -> str:
    """Return the same in parentheses, of a load that people count in bytes; "" of others."""
    return f" ({in_digits(_mb(capacity, per_s))} MB/s)" if capacity.workload.is_in_bytes else ""


def capacity_rows(capacity: Capacity) -> list[tuple[str, str]]:
    """Return the names and texts of the figures."""
    knee, highest, most = capacity.knee, capacity.highest, capacity.most_per_s
    rows = [
        ("usable capacity", nominal_bytes(capacity.array.usable_bytes)),
        ("IOPS at the knee", in_digits(knee.offered)),
        ("mean, p99 there", f"{_ms(knee.outcome, 'mean')}, {_ms(knee.outcome, 'p99')}"),
        ("highest IOPS", in_one_of_ten(in_digits(most.value), _bad_per_s(capacity))),
        ("mean, p99 there", f"{_ms(highest.outcome, 'mean')}, {_ms(highest.outcome, 'p99')}"),
        ("limited by", capacity.limit),
    ]
    if not math.isnan(capacity.wear_years):
        rows.append(("drives worn out at the knee after", _years(capacity.wear_years)))
    if capacity.workload.is_in_bytes:
        value, bad = in_digits(_mb(capacity, most.value)), _mb(capacity, _bad_per_s(capacity))
        rows.insert(2, ("MB/s at the knee", in_digits(_mb(capacity, knee.offered))))
        rows.insert(5, ("highest MB/s", in_one_of_ten(value, bad)))
    if capacity.degraded is not None:
        part = capacity.array.drive.part
        rows.append((f"p99 at the knee, one {part} failed", _ms(capacity.degraded, "p99")))
    if capacity.rebuilding is not None:
        name = rebuild_name([capacity.array])
        rows += [
            ("p99 at the knee, rebuilding", _ms(capacity.rebuilding, "p99")),
            (f"{name} beside the knee", duration(capacity.rebuild_hours)),
            (f"{name.split()[0]} of an idle array", duration(capacity.idle_rebuild_hours)),
        ]
    if not math.isnan(capacity.scrub_hours):
        rows.append(("scrub beside the knee", duration(capacity.scrub_hours)))
    if capacity.array.unknown_resilver:
        rows += [(rebuild_name([capacity.array]), "not predicted"), ("chance of data loss", "not known")]
    elif not math.isnan(capacity.loss_per_year):
        rows.append(("chance of data loss", chance_words(capacity.loss_per_year)))
        if capacity.loss_per_year > SLOWED_BY_LOAD * capacity.idle_loss_per_year:
            rows.append(("with rebuilds of an idle array", chance_words(capacity.idle_loss_per_year)))
    rows.append(("IOPS by rule of thumb", short(capacity.rule_of_thumb_per_s)))
    if capacity.working_sets is not None:
        rows += capacity.working_sets.table_rows()
    return rows


def capacity_remarks(capacity: Capacity) -> list[Remark]:
    """Return what the figures mean, and what was assumed."""
    cache = capacity.array.controller.write_cache
    knee = (
        "Up to the knee latency grows slower than throughput, beyond it faster; plan for the knee, not for the highest "
    )
    said = [Remark("reading", f"{knee}rate."), Remark("run", f"In the runs {_seen(capacity)}.")]
    if math.isnan(capacity.wear_years):
        said.append(Remark("wear", wear(capacity.array.drive, capacity.knee.outcome.most_written_bytes_per_s)))
    if capacity.rebuilding is not None:
        said.append(Remark("loss", starved_beside_the_knee(capacity)))
        said.append(Remark("assumed", fullness_words([capacity.array])))
    cut = cut_words([*(point.outcome for point in capacity.curve), capacity.degraded, capacity.rebuilding])
    if cut:
        said.append(Remark("cut", f"{cut[:1].upper()}{cut[1:]}; --requests asks for more."))
    said += [Remark("doubt", f"{doubt[:1].upper()}{doubt[1:]}.") for doubt in capacity.array.doubts]
    with_host = capacity.array.behind_host(capacity.workload)
    said += [
        Remark("unread", f"{text[:1].upper()}{text[1:]}.")
        for text in with_host.unread_messages(capacity.array, capacity.workload)
    ]
    if credits := capacity.array.drive.about_credits(math.inf, math.inf):
        said.append(Remark("limit", f"{credits[:1].upper()}{credits[1:]}."))
    if knee_says := capacity.knee.outcome.said:
        said.append(Remark("limit", f"At the knee {knee_says}."))
    if capacity.fresh is not None:
        said.append(Remark("limit", f"With all disks busy: {capacity.fresh.in_words()}."))
    drive = capacity.array.drive
    may_have = drive.may_have_controller and not (drive.stands_alone or capacity.array.layout.is_cached_in_memory)
    if cache is None and may_have:
        said.append(Remark("assumed", "No write cache of a controller is assumed; --write-cache 1GiB simulates one."))
    if capacity.most_middle_per_s is not None:
        said.append(Remark("systems", slower_systems()))
    return said


def _seen(capacity: Capacity) -> str:
    highest = f"{in_digits(capacity.highest.offered, 4)}/s was stable"
    if math.isnan(capacity.overload_per_s):
        return highest
    return f"{highest} and {in_digits(capacity.overload_per_s, 4)}/s an overload"


def _years(years: float) -> str:
    """Return years until drives are worn out, which none is from a century on."""
    return f"{in_digits(years)} years" if years < _NEVER_YEARS else "more than 100 years"


def _ms(outcome: Outcome | None, statistic: str) -> str:
    figure = outcome.latency_of(statistic) if outcome is not None else None
    if outcome is None or figure is None:
        return "–"
    return f"{in_digits(figure.value / 1e6)} ms" if outcome.is_stable else "overloaded"
