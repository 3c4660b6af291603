"""`diskmodel measure`: measure this machine's disk."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from diskmodel.cli.shared.console import print_json, progress, say, show
from diskmodel.cli.shared.options import Debug, Json
from diskmodel.cli.shared.status import check_place, ends_well, no_answer
from diskmodel.errors import DescriptionError, Fault
from diskmodel.limits import MAX_SEED
from diskmodel.output import STDOUT

if TYPE_CHECKING:
    from calibrate.measure import Measurement


@ends_well
def measure(
    target: Annotated[
        Path,
        typer.Argument(
            metavar="TARGET",
            help="Block device or file, which is only read; or a directory or new path for a scratch file.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="JSON file to write the measurement to.")],
    quick: Annotated[bool, typer.Option("--quick", help="About a minute.")] = False,
    thorough: Annotated[bool, typer.Option("--thorough", help="About forty minutes.")] = False,
    seconds: Annotated[float | None, typer.Option(help="Seconds for all experiments together.")] = None,
    size: Annotated[str | None, typer.Option(help='Size of a scratch file, such as "1 GiB".')] = None,
    experiments: Annotated[str | None, typer.Option(help="Only these, separated by commas.")] = None,
    write: Annotated[
        bool, typer.Option("--write", help="Also measure writes: to a scratch file, or see --allow-target.")
    ] = False,
    allow_target: Annotated[
        str | None,
        typer.Option(help="Repeat TARGET here to let --write overwrite an existing target and destroy its data."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue an interrupted measurement in --out.")] = False,
    seed: Annotated[int | None, typer.Option(min=0, max=MAX_SEED, help="Seed of the random addresses.")] = None,
    engine: Annotated[str, typer.Option(help="auto, io_uring or threads.")] = "auto",
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Measure a disk with direct I/O; an existing target is only read. Takes about ten minutes by default.

    The result is evidence for `diskmodel calibrate` and `diskmodel validate`.
    """
    if quick and thorough:
        raise DescriptionError(Fault("thorough", None, "contradicts --quick", "give one of them"))
    if engine not in ("auto", "io_uring", "threads"):
        raise DescriptionError(Fault("engine", engine, "is not a known engine", "use auto, io_uring or threads"))
    if str(out) == STDOUT:
        fix = "name a file, or run diskmodel-bench itself with --out -"
        raise DescriptionError(Fault("out", STDOUT, "is standard output, and the measurement is read back", fix))
    check_place(out, "out", is_claimed=False)
    if out.is_file() and not resume:
        say(f"{out} exists: the result will replace it")
    found = run_measurement(
        target,
        out,
        mode="quick" if quick else "thorough" if thorough else "default",
        seconds=seconds,
        size_bytes=None if size is None else parse_bytes("size", size),
        experiments=tuple(name.strip() for name in (experiments or "").split(",") if name.strip()),
        write=write,
        allow_target=allow_target,
        resume=resume,
        seed=seed,
        engine=engine,
    )
    if as_json:
        print_json(summary(found))
    else:
        show(*measured_lines(found))
    if not found.is_complete:
        raise no_answer("the measurement is incomplete; run it again with --resume to finish it")


def run_measurement(target: Path, out: Path, **options: Any) -> Measurement:
    """Measure, with progress on standard error.

    Raises
    ------
    MeasurementError
        When measuring the target is not allowed or not possible.
    """
    from calibrate.measure import MeasurementProgress
    from calibrate.measure import measure as run

    with progress() as bar:
        task = bar.add_task(f"measuring {target}", total=1.0)

        def show_progress(report: MeasurementProgress) -> None:
            if report.event == "warning":
                say(report.text, "yellow")
            elif report.event in ("experiment", "progress"):
                bar.update(task, description=report.text[:60], completed=report.fraction)

        return run(target, out, on_progress=show_progress, **options)


def parse_bytes(field: str, text: str) -> int:
    from diskmodel.units import _BYTES, parse

    try:
        return int(parse(text, _BYTES))
    except ValueError as error:
        rule, _, fix = str(error).partition("; ")
        raise DescriptionError(Fault(field, text, rule, fix)) from None


def summary(found: Measurement) -> dict[str, Any]:
    """Return what `--json` prints of a measurement; the individual requests are in its file."""
    return {
        "out": str(found.path),
        "complete": found.is_complete,
        "elapsed_s": found.elapsed_s,
        "nature": found.nature,
        "size_bytes": found.size_bytes,
        "findings": dict(found.findings),
        "target": dict(found.target),
        "warnings": list(found.warnings),
        "experiments": [
            {
                "name": item.name,
                "rows": len(item.samples),
                "skipped": item.skipped,
                "partial": item.is_partial,
                "summary": dict(item.summary),
            }
            for item in found.experiments
        ],
    }


def measured_lines(found: Measurement) -> list[str]:
    """Return the outcome of a measurement in words."""
    nature = {"rotating": "a rotating disk", "not_rotating": "not a rotating disk"}.get(
        found.nature, "kind of disk unclear"
    )
    rows = sum(len(item.samples) for item in found.experiments)
    done = [item.name for item in found.experiments if item.skipped is None and not item.is_partial]
    cut = [item.name for item in found.experiments if item.is_partial]
    reasons: dict[str, list[str]] = {}
    for item in found.experiments:
        if item.skipped is not None:
            reasons.setdefault(item.skipped, []).append(item.name)
    skipped = [f"  skipped {', '.join(names)}: {reason}" for reason, names in reasons.items()]
    return [
        f"Measured {rows:,} requests in {found.elapsed_s:.0f} s: {nature}.",
        f"  experiments: {', '.join(done)}",
        *([f"  ended early: {', '.join(cut)}"] if cut else []),
        *skipped,
        f"  written to {found.path}, evidence for `diskmodel calibrate`",
    ]
