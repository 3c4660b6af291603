"""`diskmodel validate`: compare a drive's predictions with evidence."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from diskmodel.cli.shared.console import print_json, progress, say, show
from diskmodel.cli.shared.evidence import read_trace_evidence
from diskmodel.cli.shared.options import Debug, Json, RequestRange, Seed
from diskmodel.cli.shared.status import ends_well
from diskmodel.cli.shared.time_limit import limited
from diskmodel.errors import Fault, InputError

if TYPE_CHECKING:
    from rich.table import Table

    from diskmodel.array import Array
    from diskmodel.drive import Drive

_ROWS = (
    ("requests", "n", "{:,}"),
    ("measured mean", "measured_mean_ms", "{:.4g} ms"),
    ("predicted mean", "predicted_mean_ms", "{:.4g} ms"),
    ("error of the mean", "mean_error_ratio", "{:+.1%}"),
    ("demerit", "demerit_ms", "{:.4g} ms"),
    ("demerit, of the mean", "demerit_ratio", "{:.1%}"),
    ("mean absolute error", "mae_ms", "{:.4g} ms"),
    ("correlation", "correlation", "{:.3f}"),
)


@ends_well
@limited("use a part of the evidence: --requests A:B of a trace")
def validate(
    drive: Annotated[
        str, typer.Argument(metavar="DRIVE", help="Drive: a profile, or a name in the catalogue; or an array, a file.")
    ],
    evidence: Annotated[
        list[Path],
        typer.Argument(
            metavar="EVIDENCE…",
            help="Measurements, results of fio (JSON, terse, text) or DiskSpd (text, XML), or a trace; recognized by "
            "content.",
        ),
    ],
    requests: RequestRange = None,
    seed: Seed = 0,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Predict what was measured, and report the error of the prediction."""
    subject = _subject(drive)
    printed = judge(subject, evidence, requests, seed)
    if printed.get("engine_why"):
        say(printed["engine_why"])
    if as_json:
        print_json(printed)
    else:
        show(f"{subject.name or drive} against {', '.join(str(path) for path in evidence)}", _table(printed))
        if "conditions" in printed:
            show(_conditions(printed["conditions"]))


def _subject(name: str) -> Drive | Array:
    """Return the array in a file with a layout, or the drive of that name."""
    from diskmodel.array import Array
    from diskmodel.description import read_toml
    from diskmodel.drive import load_drive

    if os.path.isfile(name) and "layout" in read_toml(name):
        return Array.load(name)
    return load_drive(name)


def judge(drive: Drive | Array, evidence: list[Path], requests: str | None, seed: int) -> dict[str, Any]:
    """Return what `--json` prints of a validation.

    Raises
    ------
    InputError
        When a file is not evidence, or describes another drive; when a trace is compared with an array.
    """
    from diskmodel.array import Array

    with progress() as bar:
        bar.add_task("predicting", total=None)
        trace = read_trace_evidence(evidence, requests)
        if trace is None:
            from calibrate.score import repeat

            return repeat(drive, evidence, seed=seed)
        if isinstance(drive, Array):
            fix = "replay it on the array: diskmodel simulate ARRAY.toml --workload TRACE --replay original"
            raise InputError(Fault("evidence", str(evidence[0]), "is a trace, which validates a drive alone", fix))
        if drive.kind == "hdd" and "trace_model" in drive.provenance:
            from calibrate.trace import validate_traces

            return validate_traces(drive, trace, seed=seed)
        from calibrate.score import replay

        return replay(drive, trace, seed=seed)


def _table(printed: dict[str, Any]) -> Table:
    from diskmodel.cli.shared.screen import plain_table

    parts = [("all", printed), ("reads", printed.get("reads") or {}), ("writes", printed.get("writes") or {})]
    if printed.get("engine"):
        parts.append(("in the engines", printed["engine"]))
    table = plain_table()
    table.add_column("", overflow="fold")
    for name, _ in parts:
        table.add_column(name, justify="right", overflow="fold")
    for label, key, form in _ROWS:
        cells = ["–" if part.get(key) is None else form.format(part[key]) for _, part in parts]
        table.add_row(label, *cells)
    return table


def _conditions(rows: list[dict[str, Any]]) -> Table:
    """Return a table of measured conditions with their predictions and the repeatability of the measurement."""
    from diskmodel.cli.shared.screen import plain_table

    table = plain_table()
    table.add_column("condition", overflow="fold")
    for heading in ("measured ms", "predicted ms", "error", "demerit", "repeatability"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        repeats = "–" if row["repeatability_ratio"] is None else f"{row['repeatability_ratio']:.1%}"
        means = (f"{row[key]:.4g}" for key in ("measured_mean_ms", "predicted_mean_ms"))
        errors = (f"{row['mean_error_ratio']:+.1%}", f"{row['demerit_ratio']:.1%}")
        table.add_row(row["what"], *means, *errors, repeats)
    return table
