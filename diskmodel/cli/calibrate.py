"""`diskmodel calibrate`: fit a drive to measurements."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from diskmodel.cli.measure import parse_bytes
from diskmodel.cli.shared.console import print_json, progress, say, show
from diskmodel.cli.shared.evidence import TRACED, read_trace_evidence
from diskmodel.cli.shared.options import Debug, Json, RequestRange, Seed
from diskmodel.cli.shared.status import check_place, ends_well, honest_no
from diskmodel.output import write_text

if TYPE_CHECKING:
    from diskmodel.drive import Drive

#: Warnings printed; a long list would hide the result, and --json has them all.
MAX_WARNINGS = 3


@ends_well
def calibrate(
    evidence: Annotated[
        list[Path],
        typer.Argument(help="Measurements, fio results (JSON, terse, text), or a trace; recognized by content."),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="TOML file to write the drive's profile to.")],
    requests: RequestRange = None,
    capacity: Annotated[
        str | None,
        typer.Option(help="Capacity of the drive from its data sheet; default: what the evidence shows or covers."),
    ] = None,
    drive: Annotated[
        str | None,
        typer.Option(help="Hard disk of the same kind, from the catalogue or a file, that a fit to fio starts from."),
    ] = None,
    seed: Seed = 0,
    report: Annotated[Path | None, typer.Option(help="Write residuals and parameters to this HTML file.")] = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Fit a drive to evidence, and report the prediction error on a part that was held out of the fit.

    Exits with status 3 when the fit does not converge; the profile is written nevertheless.
    """
    check_place(out, "out")
    check_place(report, "report", (".html", ".htm"))
    capacity_bytes = None if capacity is None else parse_bytes("capacity", capacity)
    start = None if drive is None else _start(drive)
    printed, fitted, residuals = fit_with_residuals(evidence, requests, seed, capacity_bytes, start)
    fitted.save(out)
    if report is not None:
        from calibrate.report import report_html

        write_text(report, report_html(printed, residuals, title=f"Calibration of {fitted.name}"), "report")
    if as_json:
        print_json(printed)
    else:
        show(*lines(printed), table_of(printed["parameters"]))
    say(f"profile: {out}")
    if not printed["converged"]:
        raise honest_no(f"the fit did not converge: {printed['message']}")


def _start(name: str) -> Drive:
    from diskmodel.drive import load_drive

    return load_drive(name)


def fit(evidence: list[Path], requests: str | None, seed: int) -> tuple[dict[str, Any], Drive]:
    """Return what `--json` prints of a calibration, and the drive.

    Raises
    ------
    InputError
        When a file is not evidence, or contains too little of it.
    """
    printed, drive, _ = fit_with_residuals(evidence, requests, seed)
    return printed, drive


def fit_with_residuals(
    evidence: list[Path],
    requests: str | None,
    seed: int,
    capacity_bytes: int | None = None,
    start: Drive | None = None,
) -> tuple[dict[str, Any], Drive, list[dict[str, Any]]]:
    """The same, and the error on each condition."""
    with progress() as bar:
        bar.add_task("fitting", total=None)
        trace = read_trace_evidence(evidence, requests)
        if trace is not None:
            from calibrate.provenance import provenance
            from calibrate.trace.fit import calibrate_trace

            sheet = {} if capacity_bytes is None else {"blocks": capacity_bytes // 512}
            origin = provenance(evidence, [TRACED], None, seed) | {"requests": requests or "all"}
            found = calibrate_trace(trace, sheet=sheet, seed=seed, name=evidence[0].stem, provenance=origin)
        else:
            from calibrate.fit import calibrate as run

            found = run(evidence, seed=seed, capacity_bytes=capacity_bytes, start=start)
        return found.to_dict(), found.drive, list(found.report.get("residuals", ()))


def lines(printed: dict[str, Any]) -> list[str]:
    """Return the outcome of a calibration in words."""
    held = printed["held_out"]
    kinds = {"hdd": "hard disk", "flash": "flash drive", "virtual": "virtual disk"}
    output = [f"{kinds[printed['kind']]}: {printed['message']}"]
    warnings = without_likes(printed.get("warnings", ()))
    output += [f"  warning: {text}" for text in warnings[:MAX_WARNINGS]]
    if len(warnings) > MAX_WARNINGS:
        output.append(f"  warning: … and {len(warnings) - MAX_WARNINGS} more; --json lists them all")
    if printed.get("last_stage"):
        from calibrate.joint_fit import last_stage_text

        output.append(f"  last stage: {last_stage_text(printed['last_stage'])}")
    output += [f"  {line}" for line in held_out_lines(held)]
    return output


def without_likes(warnings: Sequence[str]) -> list[str]:
    """Return the warnings with those that differ only in their figures merged into one."""
    alike: dict[str, list[str]] = {}
    for text in warnings:
        alike.setdefault(re.sub(r"\d+(\.\d+)?", "#", text), []).append(text)
    return [f"{same[0]} (and {len(same) - 1} similar)" if len(same) > 1 else same[0] for same in alike.values()]


def held_out_lines(held: dict[str, Any]) -> list[str]:
    """Return the error on the held-out data, with the repeatability of the measurement for comparison."""
    mixed = _mixed_lines(held.get("mixed_read_write"))
    if held.get("mean_error_ratio") is None:
        return mixed or [f"no held-out data: {held.get('why', 'too little evidence')}"]
    what = held.get("what") or f"the last {held['n']:,} requests"
    output = [
        f"held-out data: {what}",
        f"  mean response: predicted {held['predicted_mean_ms']:.4g} ms, measured {held['measured_mean_ms']:.4g} ms: "
        f"{held['mean_error_ratio']:+.1%}",
    ]
    if held.get("predicted_iops") is not None:
        output.append(
            f"  IOPS:          predicted {held['predicted_iops']:,.0f}, measured {held['measured_iops']:,.0f}: "
            f"{held['iops_error_ratio']:+.1%}"
        )
    if held.get("demerit_ratio") is not None:
        output.append(f"  distribution:  demerit {held['demerit_ratio']:.1%} of the mean")
    engine = held.get("engine")
    if engine is not None:
        output.append(
            f"  in the engines: mean {engine['mean_error_ratio']:+.1%}, demerit {engine['demerit_ratio']:.1%}, "
            f"mean absolute error {engine['mae_ms']:.3g} ms (the trace model: {held['mae_ms']:.3g} ms)"
        )
    if held.get("repeatability_ratio") is not None:
        itself = held.get("repeatability_demerit_ratio")
        demerit = "" if itself is None else f", demerit {itself:.1%}"
        output.append(
            f"  repeatability: {held['n_repetitions']} repetitions differ by {held['repeatability_ratio']:.1%} of "
            f"their median{demerit}"
        )
    return output + mixed


def _mixed_lines(mixed: dict[str, Any] | None) -> list[str]:
    if mixed is None:
        return []
    own = mixed.get("median_repeatability_ratio")
    repeatability = "" if own is None else f" (repeatability {own:.1%})"
    return [
        f"mixed reads and writes, held out ({mixed['n_conditions']} conditions), median errors: mean response "
        f"{mixed['median_mean_error_ratio']:.1%}{repeatability}, demerit {mixed['median_demerit_ratio']:.1%}"
    ]


def table_of(parameters: dict[str, Any]) -> Table:
    """Return a table of the parameters with standard errors; those that the evidence cannot determine are marked."""
    from calibrate.parameter_text import label, remark, shown

    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("parameter", no_wrap=True)
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("± error", justify="right", no_wrap=True)
    table.add_column("unit", no_wrap=True)
    table.add_column("")
    for name, row in parameters.items():
        table.add_row(label(name), *shown(row), remark(row), style="" if row["identified"] else "dim")
    return table
