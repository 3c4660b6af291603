"""The answer to a plan on paper: one self-contained HTML file, Markdown, or CSV."""

from __future__ import annotations

import csv
import io
import math
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

import diskmodel
from diskmodel.description import write_atomically
from diskmodel.drive import Flash, Hdd
from diskmodel.errors import DescriptionError, Fault
from diskmodel.plan.answer.outcome import Evaluate
from diskmodel.plan.question.families import array_of, design_workload
from diskmodel.plan.question.short_toml import short_toml
from diskmodel.plan.search.fewest_disks import Candidate
from diskmodel.plan.search.headroom import LoadPoint, load_points
from diskmodel.plan.search.run import PlanResult, evaluator
from diskmodel.plan.show import plot
from diskmodel.units import pretty_bytes

#: Of a candidate whose longest run does not decide.
CLOSE = "(close)"

Curves = Sequence[tuple[str, Sequence[LoadPoint]]]


def latency_curves(result: PlanResult, evaluate: Evaluate | None = None, *, most: int = 4) -> Curves:
    """Latency against load of the answers, the best first and then the best of each other level, up to `most`."""
    plan = result.plan
    decide = evaluate if evaluate is not None else evaluator(plan)
    feasible = sorted((c for c in result.candidates if c.disks is not None), key=lambda c: c.disks or 0)
    if result.best is not None:
        feasible.insert(0, result.best)
    chosen: dict[str, Candidate] = {}
    for candidate in feasible:
        chosen.setdefault(candidate.family.level, candidate)
    workload = design_workload(plan)
    curves = []
    for candidate in list(chosen.values())[:most]:
        assert candidate.disks is not None
        assert candidate.trial is not None
        if candidate.trial.outcome is None:
            continue
        array = array_of(plan, candidate.family, candidate.disks)
        points = load_points(
            array, workload, candidate.trial.outcome, decide, seed=plan.search.seed, n_requests=plan.search.requests
        )
        curves.append((array.name, points))
    return curves


def write_report(result: PlanResult, path: str | Path, *, curves: Curves = ()) -> None:
    """Write a report; the path's ending decides: .html, .md or .csv.

    Raises
    ------
    DescriptionError
        For another ending, or where it cannot be written.
    """
    makers = {".html": lambda: html(result, curves), ".md": lambda: markdown(result), ".csv": lambda: as_csv(result)}
    suffix = Path(path).suffix.lower()
    if suffix not in makers:
        raise DescriptionError(Fault("report", str(path), "is no known kind of report", "end it in .html, .md or .csv"))
    write_atomically(path, makers[suffix]())


def html(result: PlanResult, curves: Curves = ()) -> str:
    """The report as one HTML file without anything outside itself; the same text for the same answer."""
    environment = Environment(
        loader=PackageLoader("diskmodel.plan.show", "."), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    environment.filters["short"] = short
    return environment.get_template("report.html.j2").render(**_content(result), plots=_plots(result, curves))


def markdown(result: PlanResult) -> str:
    """The report as Markdown, without plots."""
    content = _content(result)
    lines = [f"# {content['title']}", "", content["answer"], "", *(f"- {line}" for line in content["because"]), ""]
    lines += ["## Candidates", "", "| " + " | ".join(content["header"]) + " |", "|---" * len(content["header"]) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in content["rows"]]
    lines += ["", content["note"]] if content["note"] else []
    for title, items in content["lists"]:
        lines += ["", f"## {title}", "", *(f"- {item}" for item in items)]
    lines += ["", "## Reproduce", "", "```toml", content["toml"].rstrip(), "```", ""]
    return "\n".join(lines)


def as_csv(result: PlanResult) -> str:
    """The candidates as CSV, one row each, raw figures."""
    columns = (
        "drive", "level", "strip_bytes", "cache_bytes", "groups", "disks", "feasible", "decided", "binds", "iops",
        "utilization_ratio", "usable_bytes", "cost_usd", "rule_of_thumb_disks", "reason",
    )  # fmt: skip
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*columns, "mean_ms", "p50_ms", "p95_ms", "p99_ms", "p999_ms"])
    for candidate in result.candidates:
        data = candidate.to_dict()
        latency = data["latency_ms"]
        row = [data.get(column) for column in columns]
        writer.writerow([*row, *(latency.get(name) for name in ("mean", "p50", "p95", "p99", "p999"))])
    return text.getvalue()


def short(value: float | None, digits: int = 3) -> str:
    """A figure for a table."""
    if value is None or not math.isfinite(value):
        return "–"
    return f"{value:,.0f}" if abs(value) >= 10 ** (digits - 1) else f"{value:.{digits}g}"


def _content(result: PlanResult) -> dict[str, Any]:
    plan = result.plan
    engines = sorted({t.outcome.method for c in result.candidates for t in c.trials if t.outcome})
    return {
        "title": plan.name,
        "answer": answer(result),
        "because": because(result),
        "header": candidate_header(result),
        "rows": [candidate_row(result, candidate) for candidate in result.candidates],
        "note": candidate_note(result),
        "lists": lists(result),
        "toml": short_toml(plan),
        "reproduce": [
            f"diskmodel {diskmodel.__version__}, Python {platform.python_version()}, engine {', '.join(engines)}",
            f"seed {plan.search.seed}; runs of {plan.search.requests:,} to {plan.search.max_requests:,} requests; "
            f"{result.n_runs} runs; intervals of 95 %",
            "save the text below as plan.toml and run: diskmodel plan plan.toml --report report.html",
        ],
    }


def answer(result: PlanResult) -> str:
    """The answer in one sentence."""
    best = result.best
    if best is None or best.trial is None:
        return "No feasible array: nothing among the candidates holds the objective."
    spares = result.plan.candidates.spares
    spare = f" and {spares} hot spare{'s' if spares > 1 else ''}" if spares else ""
    cost = best.trial.statics.cost_usd
    money = f", for {short(cost)} USD" if math.isfinite(cost) else ""
    name = best.family.level.upper().replace("RAID", "RAID ")
    return f"{best.disks} disks{spare} of {best.family.drive.name} in {name}{money}."


def because(result: PlanResult) -> list[str]:
    """Why: every criterion of the best, what binds, and the rule of thumb; or what each candidate lacks."""
    best = result.best
    if best is None:
        return [f"{candidate.family}: {candidate.reason}." for candidate in result.candidates]
    assert best.trial is not None
    said = [f"{criterion}." for criterion in best.trial.criteria]
    said.append(f"What binds is {best.binds}; {best.reason}.")
    return said + [f"{text[:1].upper()}{text[1:]}." for text in best.rule_of_thumb_difference]


def lists(result: PlanResult) -> list[tuple[str, list[str]]]:
    """Titled lists of sentences: what would help, sensitivity, assumptions, profiles."""
    found = []
    if result.relaxations:
        best = result.best
        title = f"What {best.below.disks} disks would need" if best and best.below else "What would help most"
        found.append((title, [
            f"{item.change}{'' if best else f' (at {item.disks} disks)'}: {item.criterion}"
            f"{'; everything holds then' if item.holds else ''}"
            for item in result.relaxations
        ]))  # fmt: skip
    if result.sensitivities:
        found.append(("If an input is not what was thought", [
            f"{item.input}: {item.disks_low or 'not feasible'} disks at {item.low}, "
            f"{item.disks_high or 'not feasible'} at {item.high}"
            for item in result.sensitivities
        ]))  # fmt: skip
    if result.profile_risk is not None:
        found.append(("What the drive's own uncertainty does", [str(result.profile_risk)]))
    found.append(("Assumptions", _assumptions(result)))
    found.append(("Drive profiles", [_profile(drive) for drive in result.plan.candidates.drives]))
    return found


def _assumptions(result: PlanResult) -> list[str]:
    plan = result.plan
    objective, workload = plan.objective, design_workload(plan)
    said = []
    for stream in workload.streams:
        closed = f"{stream.arrival.clients} requests outstanding" if stream.is_closed else ""  # type: ignore[attr-defined]
        rate = closed or f"{stream.expected_rate_per_s:,.0f} requests per second, at their own pace"
        said.append(
            f"stream {stream.name}: {stream.read_ratio:.0%} reads of {stream.mean_size_bytes / 1024:.3g} KiB on "
            f"average, {rate}"
        )
    if objective.load_factor != 1:
        said.append(
            f"load grows {objective.growth_ratio:.0%} a year for {objective.years:g} years, times a peak of "
            f"{objective.peak_factor:g}: {objective.load_factor:.2f} times today's"
        )
    if objective.capacity_bytes:
        said.append(f"{objective.capacity_bytes / 1e12:.3g} TB of data, at most {objective.fill_limit_ratio:.0%} full")
    said += [
        "a workload without a span of its own uses the whole array; nothing is gained by leaving its inner part empty",
        "what cannot be decided within the longest run counts as not met",
        "rebuild hours and data loss are by formula, with independent failures",
    ]
    return said


def _profile(drive: Hdd | Flash) -> str:
    notes = f". {drive.notes}" if drive.notes else ""
    return f"{drive.name}: {drive.source or 'no source given'}; {_checked(drive)}{notes}"


def _checked(drive: Hdd | Flash) -> str:
    """How far a profile was held against measurements."""
    held = drive.provenance.get("held_out")
    if isinstance(held, dict) and "mean_error_ratio" in held:
        demerit = f", demerit {held['demerit_ratio']:.1%}" if "demerit_ratio" in held else ""
        return f"on {held.get('what', 'what was kept back')} its mean is {held['mean_error_ratio']:+.1%} off{demerit}"
    if "evidence" in drive.provenance:
        return "nothing was kept back to judge the fit by"
    return "not calibrated against a measured drive"


def _is_priced(result: PlanResult) -> bool:
    return any(c.trial and math.isfinite(c.trial.statics.cost_usd) for c in result.candidates)


def candidate_header(result: PlanResult) -> list[str]:
    """Names of the columns of `candidate_row`; those that are the same for all candidates are left out."""
    names = ["drive", "level", "disks", "rule of thumb", "binds", "IOPS", "mean ms", "p99 ms", "busy", "usable"]
    varied = _varied(result)
    names[2:2] = [name for name, _ in varied]
    return names + (["cost USD"] if _is_priced(result) else [])


def _varied(result: PlanResult) -> list[tuple[str, str]]:
    """Title and field of what differs between families beside drive and level."""
    fields = (("strip", "strip_bytes"), ("cache", "cache_bytes"), ("groups", "groups"))
    return [(title, name) for title, name in fields if len({getattr(c.family, name) for c in result.candidates}) > 1]


def candidate_row(result: PlanResult, candidate: Candidate) -> list[str]:
    """One candidate as text, column by column."""
    is_priced = _is_priced(result)
    outcome = candidate.trial.outcome if candidate.trial else None
    figures = outcome.latency_ns.get("", {}) if outcome and outcome.is_stable else {}
    own = [getattr(candidate.family, name) for _, name in _varied(result)]
    row = [
        candidate.family.drive.name,
        candidate.family.level,
        *(pretty_bytes(value) if value >= 512 else str(value) for value in own),
        str(candidate.disks) if candidate.disks else "not feasible",
        str(candidate.rule_of_thumb_disks or "–"),
        candidate.binds + ("" if candidate.is_decided else f" {CLOSE}"),
        short(outcome.iops.value if outcome else None),
        short(figures["mean"].value / 1e6 if "mean" in figures else None),
        _with_interval(figures.get("p99")),
        f"{outcome.utilization_ratio:.0%}" if outcome and math.isfinite(outcome.utilization_ratio) else "–",
        f"{candidate.trial.statics.usable_bytes / 1e12:.3g} TB" if candidate.trial else "–",
    ]
    return row + ([short(candidate.trial.statics.cost_usd if candidate.trial else None)] if is_priced else [])


def candidate_note(result: PlanResult) -> str:
    """What a mark in the rows means; "" where there is none."""
    if all(candidate.is_decided for candidate in result.candidates):
        return ""
    return f"{CLOSE}: nearer to the limit than the longest run can tell; the safe side was taken."


def _with_interval(figure: Any) -> str:
    if figure is None:
        return "–"
    half = (figure.high - figure.low) / 2
    return f"{figure.value / 1e6:.3g}" + (f" ± {half / 1e6:.2g}" if math.isfinite(half) else "")


def _plots(result: PlanResult, curves: Curves) -> list[tuple[str, Markup]]:
    limit = result.plan.objective.latency.p99_ns
    limit_ms = None if limit is None else limit / 1e6
    drawn = []
    if curves:
        drawn.append(("Latency against load", plot.svg_of(lambda axes: plot.draw_latency(axes, curves, limit_ms))))
    height = 1.2 + 0.45 * len(result.candidates)
    drawn.append(("Disks needed", plot.svg_of(lambda axes: plot.draw_disks(axes, result), height=height)))
    drawn += [("99th percentile by disks", drawing) for drawing in plot.trials_svg(result)]
    if result.sensitivities:
        drawn.append(("Sensitivity", plot.svg_of(lambda axes: plot.draw_sensitivity(axes, result), height=3.0)))
    if result.plan.objective.years > 0:
        drawn.append(("Growth", plot.svg_of(lambda axes: plot.draw_growth(axes, result))))
    if len(result.front) > 1:
        title = "Cost against latency" if result.front[0].is_cost else "Disks against latency"
        drawn.append((title, plot.svg_of(lambda axes: plot.draw_front(axes, result))))
    return [(title, Markup(svg)) for title, svg in drawn]
