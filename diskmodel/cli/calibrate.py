"""`diskmodel calibrate`: fit a drive to measurements."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from diskmodel.cli.measure import parse_bytes
from diskmodel.cli.shared.console import print_json, progress, say, show
from diskmodel.cli.shared.evidence import TRACED, read_trace_evidence
from diskmodel.cli.shared.options import Debug, Json, RequestRange, Seed
from diskmodel.cli.shared.status import check_place, ends_well, no_answer
from diskmodel.cli.shared.time_limit import limited
from diskmodel.doing import doing
from diskmodel.errors import DescriptionError, Fault, InputError
from diskmodel.output import STDOUT, write_text

if TYPE_CHECKING:
    from rich.table import Table

    from calibrate.calibration import Calibration
    from diskmodel.array import Array
    from diskmodel.drive import Drive

#: Warnings printed; a long list would hide the result, and --json has them all.
MAX_WARNINGS = 3


@ends_well
@limited("fit to a part of the evidence: --requests A:B of a trace")
def calibrate(
    evidence: Annotated[
        list[Path],
        typer.Argument(
            metavar="EVIDENCE…",
            help="Measurements, results of fio (JSON, terse, text) or DiskSpd (text, XML), or a trace; recognized by "
            "content.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="TOML file to write the drive's profile to.")],
    requests: RequestRange = None,
    capacity: Annotated[
        str | None,
        typer.Option(help="Capacity of the drive from its data sheet; default: what the evidence shows or covers."),
    ] = None,
    drive: Annotated[
        str | None,
        typer.Option(
            help="Hard disk of the same kind, from the catalogue or a file: a fit to fio starts from it, and a "
            "measurement that only read takes its bus and write cache."
        ),
    ] = None,
    array: Annotated[
        Path | None,
        typer.Option(
            help="Array that the evidence was measured on; the drive inside it is fitted, from the one there."
        ),
    ] = None,
    array_out: Annotated[
        Path | None,
        typer.Option(help="TOML file to write that array with the fitted drive to; default: beside --out."),
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
    described = None if array is None else _array(array)
    array_out = _place_of_array(out, array_out, array)
    check_place(array_out, "array_out", (".toml",))
    capacity_bytes = None if capacity is None else parse_bytes("capacity", capacity)
    if capacity_bytes is not None and capacity_bytes <= 0:
        raise DescriptionError(Fault("capacity", capacity, "must be above 0", "give that of the drive's data sheet"))
    start = None if drive is None else _start(drive)
    found = fitted_to(evidence, requests, seed, capacity_bytes, start, described)
    printed, fitted, residuals = found.to_dict(), found.drive, list(found.report.get("residuals", ()))
    fitted.save(out)
    if array_out is not None and found.array is not None:
        write_text(array_out, array_toml(found.array, os.path.relpath(out, array_out.parent)), "array_out")
    if report is not None:
        from calibrate.report import report_html

        write_text(report, report_html(printed, residuals, title=f"Calibration of {fitted.name}"), "report")
    if as_json:
        print_json(printed)
    else:
        show(*lines(printed), table_of(printed["parameters"]))
        if any("iops_error_ratio" in row for row in residuals):
            show(conditions_table(residuals, printed["held_out"].get("mixed_read_write")))
    say(f"profile: {out}")
    if array_out is not None:
        say(f"array: {array_out}")
    if not printed["converged"]:
        raise no_answer(f"the fit did not converge: {printed['message']}")


def _start(name: str) -> Drive:
    from diskmodel.drive import load_drive

    return load_drive(name)


def _array(path: Path) -> Array:
    from diskmodel.array import Array

    return Array.load(path)


def _place_of_array(out: Path, array_out: Path | None, array: Path | None) -> Path | None:
    """Return where the array with the fitted drive is written; None where there is no array, or no file beside it.

    Raises
    ------
    DescriptionError
        When a place is given without an array.
    """
    if array is None:
        if array_out is not None:
            fix = "name the array that was measured with --array, or leave it out"
            raise DescriptionError(Fault("array_out", str(array_out), "needs an array", fix))
        return None
    if array_out is None and str(out) == STDOUT:
        return None
    return out.with_name(f"{out.stem}-array.toml") if array_out is None else array_out


def array_toml(array: Array, drive: str) -> str:
    """Return the text of an array's file that names the file of its drive; fields with their defaults are left out."""
    from diskmodel.description import toml_text

    fields = array.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    return toml_text(fields | {"drive": drive})


def fit(evidence: list[Path], requests: str | None, seed: int) -> tuple[dict[str, Any], Drive]:
    """Return what `--json` prints of a calibration, and the drive.

    Raises
    ------
    InputError
        When a file is not evidence, or contains too little of it.
    """
    found = fitted_to(evidence, requests, seed)
    return found.to_dict(), found.drive


def fitted_to(
    evidence: list[Path],
    requests: str | None,
    seed: int,
    capacity_bytes: int | None = None,
    start: Drive | None = None,
    array: Array | None = None,
) -> Calibration:
    """Return the calibration from evidence of any kind.

    Raises
    ------
    InputError
        When a file is not evidence, or contains too little of it; when a trace is said to be of an array.
    """
    with progress() as bar, doing("fitting"):
        bar.add_task("fitting", total=None)
        trace = read_trace_evidence(evidence, requests)
        if trace is None:
            from calibrate.fit import calibrate as run

            return run(evidence, seed=seed, capacity_bytes=capacity_bytes, start=start, array=array)
        from calibrate.provenance import provenance
        from calibrate.trace import calibrate_trace

        if array is not None:
            rule = "is a trace, which is fitted to a drive alone"
            fix = "use fio results or a measurement of the array: random reads at depth 1 and at deeper ones"
            raise InputError(Fault("evidence", str(evidence[0]), rule, fix))
        if start is not None:
            raise InputError(Fault("drive", start.name, "is not used by a fit to a trace", "leave it out"))
        sheet = {} if capacity_bytes is None else {"blocks": capacity_bytes // 512}
        origin = provenance(evidence, [TRACED], None, seed) | {"requests": requests or "all"}
        return calibrate_trace(trace, sheet=sheet, seed=seed, name=evidence[0].stem, provenance=origin)


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
    medians = [f"mean response {mixed['median_mean_error_ratio']:.1%}{repeatability}"]
    for key, what in (("iops", "rate"), ("p99", "p99"), ("demerit", "demerit")):
        value = mixed.get(f"median_{key}_ratio", mixed.get(f"median_{key}_error_ratio"))
        medians += [] if value is None else [f"{what} {value:.1%}"]
    return [
        f"mixed reads and writes, held out ({mixed['n_conditions']} conditions), median errors: {', '.join(medians)}"
    ]


def conditions_table(residuals: Sequence[dict[str, Any]], mixed: dict[str, Any] | None) -> Table:
    """Return a table of rates and percentiles, measured and predicted; mixes of reads and writes were held out."""
    from diskmodel.cli.shared.screen import plain_table

    table = plain_table()
    table.add_column("condition", overflow="fold")
    for heading in ("measured", "predicted", "rate", "mean", "p99"):
        table.add_column(heading, justify="right", no_wrap=True)
    held = [] if mixed is None else mixed["conditions"]
    for row in (*residuals, *held):
        rates = (f"{row[key]:,.4g}/s" for key in ("measured_iops", "predicted_iops"))
        ratios = (row[f"{key}error_ratio"] for key in ("iops_", ""))
        p99 = f"{row['p99_error_ratio']:+.0%}" if "p99_error_ratio" in row else ""
        note = " (held out)" if row in held else ""
        table.add_row(f"{row['what']}{note}", *rates, *(f"{ratio:+.0%}" for ratio in ratios), p99)
    return table


def table_of(parameters: dict[str, Any]) -> Table:
    """Return a table of the parameters with standard errors; those that the evidence cannot determine are marked."""
    from calibrate.parameter_text import label, remark, shown
    from diskmodel.cli.shared.screen import plain_table

    table = plain_table()
    table.add_column("parameter", no_wrap=True)
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("± error", justify="right", no_wrap=True)
    table.add_column("unit", no_wrap=True)
    table.add_column("", overflow="fold")
    for name, row in parameters.items():
        table.add_row(label(name), *shown(row), remark(row), style="" if row["identified"] else "dim")
    return table
