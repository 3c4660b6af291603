"""`diskmodel explain`: why an array is slower, or faster, than it should be."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from diskmodel.cli.shared.console import print_json, progress, say, show_lines
from diskmodel.cli.shared.inputs import read_array
from diskmodel.cli.shared.options import Asked, Debug, Device, Json, OtherDrive, Seed, asks
from diskmodel.cli.shared.status import check_place, ends_well
from diskmodel.cli.shared.time_limit import limited
from diskmodel.engine.ledger import EXPLANATION_S
from diskmodel.errors import DescriptionError, Fault
from diskmodel.options import ARRAY, LOAD


@ends_well
@limited("name fewer results", is_question=True, budget_s=EXPLANATION_S)
@asks(changes=ARRAY)
def explain(
    results: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="RESULT…",
            help="What was measured on the array: results of fio or DiskSpd, iostat -x or sar, a trace with response "
            "times, a measurement by diskmodel; recognized by content. Or say it with --measured.",
        ),
    ] = None,
    *,
    measured: Annotated[
        list[str] | None,
        typer.Option(
            help='What was measured, in words: "300/s, await 76ms, 100% busy", "45 MB/s, 1M, sync writes"; may be '
            "repeated.",
            rich_help_panel=LOAD,
        ),
    ] = None,
    before: Annotated[
        list[Path] | None,
        typer.Option(
            help="The same jobs, or a recording of the same load, when nothing was wrong: another day, another host or "
            "another member of the same make. Narrows what is expected; may be repeated.",
            rich_help_panel=LOAD,
        ),
    ] = None,
    array: Annotated[
        str, typer.Option("--array", "-a", help='The array as it should be: a TOML file, or "8x generic-15k raid5".')
    ],
    drive: OtherDrive = None,
    changes: Asked,
    device: Device = None,
    job: Annotated[
        Path | None,
        typer.Option(help="Also write a fio job file with the measurement that would best separate the causes."),
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Also write a report to this file, .html.")] = None,
    seed: Seed = 0,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Explain why an array is slower or faster than it should be: expected against measured, and the likely causes."""
    from diskmodel.explanation import EXAMPLES, measured_in_words
    from diskmodel.explanation.explain import explain as run

    said = [measured_in_words(text) for text in measured or ()]
    if not results and not said:
        rule, fix = "are missing", "name an output of fio, iostat or a trace, or say it: --measured " + EXAMPLES
        raise DescriptionError(Fault("RESULT", None, rule, fix))
    check_place(report, "report", (".html",))
    check_place(job, "job")
    described = read_array(array, drive, changes)
    with progress() as bar:
        bar.add_task("simulating what is expected, and what may be the cause", total=None)
        found = run([*(results or ()), *said], described, before=before or (), device=device, seed=seed)
    if job is not None and found.next is not None:
        from diskmodel.output import write_text

        write_text(job, found.next.job)
    elif job is not None:
        say(f"{job} is not written: there are no causes to separate")
    if report is not None:
        from diskmodel.explanation import save_report

        save_report(found, report)
    if as_json:
        print_json(found.to_dict())
    else:
        show_lines(str(found))
