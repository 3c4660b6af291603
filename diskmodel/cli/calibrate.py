"""`diskmodel calibrate`: from evidence to a drive."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from diskmodel.cli.console import print_json, progress, say, show
from diskmodel.cli.evidence import TRACED, read_trace_evidence
from diskmodel.cli.measure import parse_bytes
from diskmodel.cli.options import Debug, Json, RequestRange, Seed
from diskmodel.cli.status import check_place, ends_well, honest_no
from diskmodel.output import write_text

if TYPE_CHECKING:
    from diskmodel.drive import Flash, Hdd

#: Told to people; the measurement has told them all.
MOST_WARNINGS = 3


@ends_well
def calibrate(
    evidence: Annotated[
        list[Path],
        typer.Argument(help="Measurements, fio results (JSON, terse, text), or a trace; recognised by content."),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Where the drive's profile goes, a TOML file.")],
    requests: RequestRange = None,
    capacity: Annotated[
        str | None,
        typer.Option(help="Of the drive, as its sheet prints it; left out: as far as the evidence tells or reaches."),
    ] = None,
    seed: Seed = 0,
    report: Annotated[Path | None, typer.Option(help="Residuals and parameters as an HTML page.")] = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Fit a drive to evidence, keep a part of the evidence back, and tell the error on it.

    Ends with 3 when the model does not describe the evidence; the profile is written all the same.
    """
    check_place(out, "out")
    check_place(report, "report", (".html", ".htm"))
    capacity_bytes = None if capacity is None else parse_bytes("capacity", capacity)
    printed, drive, residuals = fit_with_residuals(evidence, requests, seed, capacity_bytes)
    drive.save(out)
    if report is not None:
        from calibrate.fit.report import report_html

        write_text(report, report_html(printed, residuals, title=f"Calibration of {drive.name}"), "report")
    if as_json:
        print_json(printed)
    else:
        show(*lines(printed), table_of(printed["parameters"]))
    say(f"profile: {out}")
    if not printed["converged"]:
        raise honest_no(f"the fit has not converged: {printed['message']}")


def fit(evidence: list[Path], requests: str | None, seed: int) -> tuple[dict[str, Any], Hdd | Flash]:
    """What `--json` prints of a calibration, and the drive.

    Raises
    ------
    InputError
        When a file is no evidence, or holds too little of it.
    """
    printed, drive, _ = fit_with_residuals(evidence, requests, seed)
    return printed, drive


def fit_with_residuals(
    evidence: list[Path], requests: str | None, seed: int, capacity_bytes: int | None = None
) -> tuple[dict[str, Any], Hdd | Flash, list[dict[str, Any]]]:
    """The same, and the error on each condition."""
    with progress() as bar:
        bar.add_task("fitting", total=None)
        trace = read_trace_evidence(evidence, requests)
        if trace is not None:
            from calibrate.fit.provenance import provenance
            from calibrate.traces.fit import calibrate_trace

            sheet = {} if capacity_bytes is None else {"blocks": capacity_bytes // 512}
            told = provenance(evidence, [TRACED], None, seed) | {"requests": requests or "all"}
            found = calibrate_trace(trace, sheet=sheet, seed=seed, name=evidence[0].stem, provenance=told)
        else:
            from calibrate.fit import calibrate as run

            found = run(evidence, seed=seed, capacity_bytes=capacity_bytes)
        return found.to_dict(), found.drive, list(found.report.get("residuals", ()))


def lines(printed: dict[str, Any]) -> list[str]:
    """What a calibration came to, in words."""
    held = printed["held_out"]
    kind = "hard disk" if printed["kind"] == "hdd" else "flash drive"
    said = [f"{kind}: {printed['message']}"]
    warnings = without_likes(printed.get("warnings", ()))
    said += [f"  warning: {text}" for text in warnings[:MOST_WARNINGS]]
    if len(warnings) > MOST_WARNINGS:
        said.append(f"  warning: … and {len(warnings) - MOST_WARNINGS} more; --json lists them")
    if printed.get("last_stage"):
        from calibrate.joint import told

        said.append(f"  last stage: {told(printed['last_stage'])}")
    said += [f"  {line}" for line in held_out_lines(held)]
    return said


def without_likes(warnings: Sequence[str]) -> list[str]:
    """Warnings of which those that differ in their figures only are told once."""
    alike: dict[str, list[str]] = {}
    for text in warnings:
        alike.setdefault(re.sub(r"\d+(\.\d+)?", "#", text), []).append(text)
    return [f"{same[0]} (and {len(same) - 1} alike)" if len(same) > 1 else same[0] for same in alike.values()]


def held_out_lines(held: dict[str, Any]) -> list[str]:
    """The error on the evidence that was kept back, beside how well the measurement repeats."""
    mixed = _mixed_lines(held.get("mixed_read_write"))
    if held.get("mean_error_ratio") is None:
        return mixed or [f"nothing was kept back: {held.get('why', 'too little evidence')}"]
    what = held.get("what") or f"the last {held['n']:,} requests"
    said = [
        f"kept back: {what}",
        f"  mean response: predicted {held['predicted_mean_ms']:.4g} ms, measured {held['measured_mean_ms']:.4g} ms: "
        f"{held['mean_error_ratio']:+.1%}",
    ]
    if held.get("predicted_iops") is not None:
        said.append(
            f"  IOPS:          predicted {held['predicted_iops']:,.0f}, measured {held['measured_iops']:,.0f}: "
            f"{held['iops_error_ratio']:+.1%}"
        )
    if held.get("demerit_ratio") is not None:
        said.append(f"  distribution:  demerit {held['demerit_ratio']:.1%} of the mean")
    engine = held.get("engine")
    if engine is not None:
        said.append(
            f"  run by the engines: mean {engine['mean_error_ratio']:+.1%}, demerit {engine['demerit_ratio']:.1%}, "
            f"one request {engine['mae_ms']:.3g} ms off (the trace model itself: {held['mae_ms']:.3g} ms)"
        )
    if held.get("repeatability_ratio") is not None:
        itself = held.get("repeatability_demerit_ratio")
        demerit = "" if itself is None else f", their distributions with a demerit of {itself:.1%}"
        said.append(
            f"  the measurement itself: {held['n_repetitions']} repetitions differ by "
            f"{held['repeatability_ratio']:.1%} of their median{demerit}"
        )
    return said + mixed


def _mixed_lines(mixed: dict[str, Any] | None) -> list[str]:
    if mixed is None:
        return []
    own = mixed.get("median_repeatability_ratio")
    beside = "" if own is None else f"; the measurement itself repeats within {own:.1%}"
    return [
        f"mixes of reads and writes, never fitted ({mixed['n_conditions']}): mean response "
        f"{mixed['median_mean_error_ratio']:.1%} off at the median, demerit {mixed['median_demerit_ratio']:.1%}{beside}"
    ]


def table_of(parameters: dict[str, Any]) -> Table:
    """Parameters with standard errors; what the evidence does not determine is said to be so."""
    from calibrate.fit.shown import label, remark, shown

    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("parameter", no_wrap=True)
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("± error", justify="right", no_wrap=True)
    table.add_column("unit", no_wrap=True)
    table.add_column("")
    for name, row in parameters.items():
        table.add_row(label(name), *shown(row), remark(row), style="" if row["identified"] else "dim")
    return table
