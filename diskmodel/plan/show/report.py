"""The answer to a plan on paper: one self-contained HTML file, Markdown, or CSV."""

from __future__ import annotations

import csv
import io
import math
import platform
import re
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from diskmodel.drawing import svg_of
from diskmodel.errors import DescriptionError, Fault, in_page, visible
from diskmodel.output import write_text
from diskmodel.plan.answer.candidate import Candidate
from diskmodel.plan.answer.load_curve import Curves
from diskmodel.plan.answer.plan_result import PlanResult
from diskmodel.plan.question.short_toml import short_toml
from diskmodel.plan.show import plot
from diskmodel.plan.show.candidates import (
    candidate_header,
    candidate_note,
    candidate_row,
    duration,
    rebuild_name,
    short,
)
from diskmodel.plan.show.cautions import cautions
from diskmodel.plan.show.words import (
    answer,
    assumed,
    because,
    chance_of,
    explained,
    has_name,
    question_words,
    waterfall_title,
)
from diskmodel.result.show.heat_map import STYLE, heat_map_script, meaning
from diskmodel.result.statistics import STATISTICS, HeatMap, in_one_of_ten
from diskmodel.units import chance_words, nominal_bytes
from diskmodel.version import __version__

#: Name of an array with its heat map; None: the report has none.
NamedHeat = tuple[str, HeatMap] | None

#: Columns that a narrow screen leaves out: what a reader asks next, after how many disks, and what limits them.
_ASIDE = ("rule of thumb", "IOPS", "mean ms", "disk failed", "busy", "usable")


def write_report(result: PlanResult, path: str | Path, *, curves: Curves = (), heat: NamedHeat = None) -> None:
    """Write a report; the path's ending decides: .html, with `curves` and a heat map as `heat_of_best`'s, .md or .csv.

    Raises
    ------
    DescriptionError
        For another ending.
    OutputError
        Where it cannot be written.
    """
    write_by_ending(
        path,
        {
            ".html": lambda: html(result, curves, date.today().isoformat(), heat),
            ".md": lambda: markdown(result),
            ".csv": lambda: as_csv(result),
        },
    )


def write_by_ending(path: str | Path, makers: Mapping[str, Callable[[], str]]) -> None:
    """Write the text that the maker for the path's ending (.html, .md or .csv) returns; errors as `write_report`."""
    suffix = Path(path).suffix.lower()
    if suffix not in makers:
        raise DescriptionError(
            Fault("report", str(path), "must end in .html, .md or .csv", "write for example report.html")
        )
    write_text(path, makers[suffix](), "report")


def html(result: PlanResult, curves: Curves = (), day: str = "", heat: NamedHeat = None) -> str:
    """Return the report as one self-contained HTML file, with its day; the same text for the same answer."""
    content = _content(result)
    content |= {
        "asked": question_words(result.plan),
        "is_named": has_name(result.plan),
        "when": f"{day + ', ' if day else ''}diskmodel {__version__}",
        "best": next((i for i, candidate in enumerate(result.candidates) if candidate is result.best), None),
    }
    return html_of(content, _opening(result, curves), _plots(result, curves), heat)


def html_of(
    content: dict[str, Any], opening: list[Markup], plots: list[tuple[str, Markup]], heat: NamedHeat = None
) -> str:
    """Return the content of a report as HTML, with drawings at the top and with titled ones below the table."""
    environment = Environment(
        loader=PackageLoader("diskmodel.plan.show", "."),
        autoescape=True,
        finalize=in_page,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["short"] = short
    aside = [name for name in content["header"] if name in _ASIDE]
    drawn = None
    if heat is not None:
        drawn = {"name": heat[0], "meaning": meaning([heat]), "style": Markup(STYLE.read_text())}
        drawn["script"] = heat_map_script([heat])
    template = environment.get_template("report.html.j2")
    return template.render(**content, aside=aside, opening=opening, plots=plots, heat=drawn)


def markdown(result: PlanResult) -> str:
    """Return the report as Markdown, without plots."""
    return markdown_of(_content(result))


def markdown_of(content: dict[str, Any]) -> str:
    """Return the content of a report as Markdown."""
    content = _escaped(content)
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", content["toml"])), default=0))
    lines = [f"# {content['title']}", ""]
    lines += [f"**{content['warning']}**", ""] if content.get("warning") else []
    lines += [content["answer"], "", *(f"- {line}" for line in content["because"]), ""]
    lines += [
        f"## {content['heading']}",
        "",
        "| " + " | ".join(content["header"]) + " |",
        "|---" * len(content["header"]) + "|",
    ]
    lines += ["| " + " | ".join(row) + " |" for row in content["rows"]]
    lines += ["", content["note"]] if content["note"] else []
    for title, items in content["lists"]:
        lines += ["", f"## {title}", "", *(f"- {item}" for item in items)]
    # without an answer there is no array to simulate
    toml = content["toml"].rstrip()
    lines += ["", "## Reproduce", "", f"{fence}toml", toml, fence, ""] if toml else [""]
    return "\n".join(lines)


def _escaped(content: dict[str, Any]) -> dict[str, Any]:
    """Return the content with names escaped that Markdown would take for markup; TOML is in a fence."""
    lists_ = [(markdown_text(title), [markdown_text(item) for item in items]) for title, items in content["lists"]]
    return content | {
        "title": markdown_text(content["title"]),
        "warning": markdown_text(content.get("warning", "")),
        "answer": markdown_text(content["answer"]),
        "because": [markdown_text(line) for line in content["because"]],
        "header": [markdown_text(cell) for cell in content["header"]],
        "rows": [[markdown_text(cell) for cell in row] for row in content["rows"]],
        "note": markdown_text(content["note"]),
        "lists": lists_,
    }


def markdown_text(text: str) -> str:
    """Return `text` as Markdown that shows it as it is: on one line, without links, images, code or HTML."""
    text = " ".join(visible(text).split())
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`|\[\]])", r"\\\1", text)


def csv_cell(value: Any) -> Any:
    """Return a cell that a spreadsheet shows as it is.

    Control characters are escaped, and text that begins as a formula does gets an apostrophe before it.
    """
    if not isinstance(value, str):
        return value
    is_formula = value.startswith(("=", "+", "-", "@", "\t", "\r"))
    return f"'{visible(value)}" if is_formula else visible(value)


def as_csv(result: PlanResult) -> str:
    """Return the candidates as CSV, one row each, unrounded."""
    columns = (
        "drive",
        "level",
        "strip_bytes",
        "cache_bytes",
        "record_bytes",
        "log_device",
        "special_device",
        "cache_device",
        "groups",
        "disks",
        "feasible",
        "decided",
        "binds",
        "iops",
        "utilization_ratio",
        "usable_bytes",
        "cost_usd",
        "rule_of_thumb_disks",
        "reason",
    )
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*columns, *(f"{one.name}_ms" for one in STATISTICS)])
    for candidate in result.candidates:
        data = candidate.to_dict()
        latency = data["latency_ms"]
        row = [csv_cell(data.get(column)) for column in columns]
        writer.writerow([*row, *(latency.get(one.name) for one in STATISTICS)])
    return text.getvalue()


def _content(result: PlanResult) -> dict[str, Any]:
    plan = result.plan
    engines = sorted({t.outcome.method for c in result.candidates for t in c.trials if t.outcome})
    return {
        "title": plan.name,
        "answer": answer(result),
        "because": [
            *filter(None, [chance_of(result)]),
            *assumed(result),
            *because(result),
            *map(str, result.caches_instead),
            *cautions(result),
        ],
        "facts": _facts(result),
        "heading": "Candidates",
        "header": candidate_header(result),
        "rows": [candidate_row(result, candidate) for candidate in result.candidates],
        "note": candidate_note(result),
        "lists": explained(result),
        "toml": short_toml(plan),
        "reproduce": [
            f"diskmodel {__version__}, Python {platform.python_version()}, engine {', '.join(engines)}",
            f"seed {plan.search.seed}; runs of {plan.search.requests:,} to {plan.search.max_requests:,} requests; "
            f"{result.n_runs} runs",
            "save the text at the end of this file as plan.toml and run: diskmodel plan plan.toml --report report.html",
        ],
    }


def _facts(result: PlanResult) -> list[tuple[str, str]]:
    """Return what a manager asks first: label and value."""
    best = result.best
    if best is None or best.trial is None:
        return []
    figures = best.trial.statics
    cost = figures.cost_usd
    facts = [("price", f"{short(cost)} USD")] if math.isfinite(cost) else []
    facts += [
        ("usable", nominal_bytes(figures.usable_bytes)),
        ("p99 latency", _p99(best)),
    ]
    if best.safety is not None:
        facts.append((rebuild_name([] if best.array is None else [best.array]), duration(best.safety.rebuild_hours)))
        facts.append(("chance of data loss", chance_words(best.safety.loss_per_year)))
    return facts


def _p99(best: Candidate) -> str:
    """Return the p99 latency of the answer, and that of the bad one of ten where that is known."""
    if best.p99_ms is None:
        return "–"
    bad = math.nan if best.risk is None else best.risk.in_one_of_ten("p99") / 1e6
    return in_one_of_ten(f"{short(best.p99_ms)} ms", bad)


def _opening(result: PlanResult, curves: Curves) -> list[Markup]:
    """Return the drawings beside each other at the top: latency against load, and what a failed disk does."""
    best = result.best
    if best is None:
        return []
    limit = result.plan.objective.latency.p99_ns
    limit_ms = None if limit is None else limit / 1e6
    drawn = []
    name = best.array.name if best.array is not None else ""
    points = next((points for title, points in curves if title == name), None)
    workload = result.plan.design_workload
    if points is not None and workload.is_open and not workload.queue_depth:
        load = workload.offered_rate_per_s
        drawn.append(svg_of(lambda axes: plot.draw_opening(axes, points, limit_ms, load), width=4.6, height=3.4))
    if best.p99_ms is not None:
        drawn.append(svg_of(lambda axes: plot.draw_states(axes, best, limit_ms), width=4.6, height=3.4))
    return [Markup(svg) for svg in drawn]


def _plots(result: PlanResult, curves: Curves) -> list[tuple[str, Markup]]:
    limit = result.plan.objective.latency.p99_ns
    limit_ms = None if limit is None else limit / 1e6
    drawn = []
    best = result.best
    if best is not None and best.waterfall_moves:
        drawn.append(
            (waterfall_title(best), svg_of(lambda axes: plot.draw_waterfall(axes, best.waterfall), height=3.2))
        )
    if curves:
        drawn.append(("Latency against load", svg_of(lambda axes: plot.draw_latency(axes, curves, limit_ms))))
    height = 1.2 + 0.45 * len(result.candidates)
    drawn.append(("Disks needed", svg_of(lambda axes: plot.draw_disks(axes, result), height=height)))
    drawn += [("99th percentile by disks", drawing) for drawing in plot.trials_svg(result)]
    if result.sensitivities:
        drawn.append(("Sensitivity", svg_of(lambda axes: plot.draw_sensitivity(axes, result), height=3.0)))
    if result.plan.objective.years > 0:
        drawn.append(("Growth", svg_of(lambda axes: plot.draw_growth(axes, result))))
    if len(result.front) >= plot.CURVE:
        title = "Cost against latency" if result.front[0].is_cost else "Disks against latency"
        drawn.append((title, svg_of(lambda axes: plot.draw_front(axes, result))))
    return [(title, Markup(svg)) for title, svg in drawn]
