"""`diskmodel plan`: how many disks, of which kind, in which level."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from diskmodel.cli.shared.console import print_json, say, show
from diskmodel.cli.shared.inputs import LoadOptions, read_workload, refuse_unused
from diskmodel.cli.shared.options import Asked, Debug, Device, Format, Json, Percentile, Plot, asks
from diskmodel.cli.shared.own_plans import respond
from diskmodel.cli.shared.servers import has_volumes, plan_server
from diskmodel.cli.shared.status import check_place, ends_well, no_answer
from diskmodel.cli.shared.time_limit import limited
from diskmodel.errors import DescriptionError, Fault
from diskmodel.options import CANDIDATES, LOAD, OUTPUT, PRICES, QUESTION, SEARCH, SEARCH_GROUP

if TYPE_CHECKING:
    from diskmodel.plan import Candidate, PlanDescription, PlanResult, Recording
    from diskmodel.result.show import Remark
    from diskmodel.workload import Workload


@ends_well
@limited("name fewer drives and levels; with --memory FILE the same command goes on where it stopped", is_question=True)
@asks(question=QUESTION, prices=PRICES, how=SEARCH)
def plan(
    plan: Annotated[
        Path | None,
        typer.Argument(
            metavar="PLAN", help="Workload, objective and candidates, a TOML file; or ask with options alone."
        ),
    ] = None,
    *,
    question: Asked,
    start: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="preset:NAME", help="Begin with a preset; see --list-presets.", rich_help_panel=LOAD
        ),
    ] = None,
    list_presets: Annotated[
        bool, typer.Option("--list-presets", help="List the presets with their sources.", rich_help_panel=LOAD)
    ] = False,
    array: Annotated[
        Path | None,
        typer.Option(
            help="An array that exists: begin with its drive, controller, host and strip.", rich_help_panel=CANDIDATES
        ),
    ] = None,
    prices: Asked,
    save: Annotated[
        Path | None,
        typer.Option(help="Write the question to this file, a plan that answers the same.", rich_help_panel=OUTPUT),
    ] = None,
    workload: Annotated[
        Path | None,
        typer.Option(
            "--workload",
            "-w",
            help="Workload instead of the plan's: TOML, iostat, sar, fio or a trace.",
            rich_help_panel=LOAD,
        ),
    ] = None,
    percentile: Percentile = None,
    device: Device = None,
    format: Format = None,
    report: Annotated[
        Path | None, typer.Option(help="Write a report to this file: .html, .md or .csv.", rich_help_panel=OUTPUT)
    ] = None,
    plot: Plot = None,
    crossover: Annotated[
        Path | None,
        typer.Option(
            help="Plot the fewest disks of each level against the share of writes to this file (PNG or SVG).",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    waterfall: Annotated[
        Path | None,
        typer.Option(
            help="Plot the steps from the rule of thumb to the answer to this file (PNG or SVG).",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Also report what limits each candidate, the steps from the rule of thumb, and all assumptions.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    sensitivity: Annotated[
        bool,
        typer.Option(
            "--sensitivity",
            help="Also report how the answer changes with its inputs (takes longer).",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    nominal: Annotated[
        bool,
        typer.Option(
            "--nominal", help="Take drives, controllers and hosts to be as described.", rich_help_panel=SEARCH_GROUP
        ),
    ] = False,
    how: Asked,
    memory: Annotated[
        Path | None,
        typer.Option(
            help="Keep every outcome in this file; a search with the same file continues where it stopped.",
            rich_help_panel=SEARCH_GROUP,
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            help="Search on a Dask cluster: the address of its scheduler, for example tcp://10.0.0.5:8786.",
            rich_help_panel=SEARCH_GROUP,
        ),
    ] = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Find the fewest disks that meet the objective for IOPS, latency and capacity, by simulation.

    Ask with a plan file, or in one line: diskmodel plan --iops 8000 --reads 70% --block 8k --capacity 20TB --p99 20ms.
    Options replace what a file, a preset or an array states. A file with volumes asks whether each has an array of its
    own, or all share one. Exits with status 3 when none of the candidates meets the objective.
    """
    from diskmodel.output import check_output
    from diskmodel.plan import Recording, own_plan, with_drives

    if list_presets:
        _list_presets(as_json)
        return
    check_place(report, "report", (".html", ".md", ".csv"))
    check_place(plot, "plot", (".png", ".svg"))
    check_place(crossover, "crossover", (".png", ".svg"))
    check_place(waterfall, "waterfall", (".png", ".svg"))
    check_place(save, "save", (".toml",))
    if memory is not None:
        check_output(memory, "memory")
    refuse_unused(workload, percentile=percentile, device=device, format=format)
    _refuse_percentile(question["level"])
    given = {**question, **how}
    workload_notes: list[str] = []
    recorded = None
    if workload is not None:
        recorded = read_workload(
            LoadOptions(
                workload, stream={"sync": given.pop("sync")}, percentile=percentile, device=device, format=format
            ),
            workload_notes,
            mix="peak",
        )
    is_recorded = workload is not None and (workload.suffix != ".toml" or format is not None)
    recording = None
    if workload is not None:
        recording = Recording.of(workload, format=format, device=device)
    if plan is not None and has_volumes(plan):
        elsewhere = {"--workload": workload, "--from": start, "--array": array}
        drawn = {"--plot": plot, "--crossover": crossover, "--waterfall": waterfall}
        plan_server(
            plan,
            given,
            refused={**elsewhere, **drawn},
            save=save,
            report=report,
            explain=explain,
            with_sensitivity=sensitivity,
            by_chance=not nominal,
            memory=memory,
            cluster=cluster,
            as_json=as_json,
        )
        return
    own = own_plan({**question, **prices})
    asked, notes = ask(
        {**given, **own.stand_in} if own else given,
        plan,
        preset_name=_preset_of(start),
        array=array,
        workload=recorded,
        is_recorded=is_recorded,
        recording=recording,
    )
    if recorded is not None and given["iops"] is None and (note := _scaling_of(asked, recorded)):
        workload_notes.append(note)
        notes = [*notes, note]
    if own:
        refused: dict[str, Any] = {"--plot": plot, "--crossover": crossover, "--waterfall": waterfall}
        refused |= {"--save": save, "--explain": explain, "--sensitivity": sensitivity}
        refused |= {"--memory": memory, "--cluster": cluster, "--nominal": nominal, "--array": array}
        respond(own, asked, notes, given=question, refused=refused, report=report, as_json=as_json)
        return
    for note in notes:
        say(note)
    if save is not None:
        save_plan(asked, save)
        say(f"question: {save}")
    is_short = not (explain or as_json or report or waterfall)
    result = answer(
        asked,
        with_sensitivity=sensitivity,
        with_waterfalls=explain,
        with_details=not is_short,
        by_chance=not nominal,
        memory=memory,
        cluster=cluster,
    )
    if as_json:
        print_json({**result.to_dict(), "workload_notes": workload_notes, "question_notes": notes})
    else:
        from diskmodel.plan import plan_table
        from diskmodel.plan.show.table import explanation

        said = plan_table(result, _assumed(result), is_explained=explain)
        show(said, *([explanation(result)] if explain else ()))
    write_files(result, report, plot)
    if waterfall is not None and result.best is not None:
        _write_waterfall(result.best, waterfall)
    if crossover is not None:
        best = result.best
        write_crossover(result.plan if best is None else with_drives(result.plan, [best.family.drive]), crossover)
    if not result.is_feasible:
        raise no_answer("none of the candidates meets the objective; --explain shows what limits each")


def _assumed(result: PlanResult) -> list[Remark]:
    """Return what was assumed of the drives of the answer, with what they do in the other case."""
    from diskmodel.cli.shared.assumed import assumed_of
    from diskmodel.explanation.otherwise import OF_DRIVES

    best = result.best
    outcome = best.trial.outcome if best is not None and best.trial is not None else None
    if best is None or best.array is None or best.workload is None or outcome is None or not outcome.is_stable:
        return []
    # what the plan says in disks is not said again in milliseconds
    said = {one.name for one in result.assumptions}
    names = [name for name in OF_DRIVES if name not in said]
    return assumed_of([("", best.array, outcome)], best.workload, best.seed or 0, at="the same array", names=names)


def ask(
    given: Mapping[str, Any],
    path: Path | None,
    *,
    preset_name: str | None = None,
    array: Path | None = None,
    workload: Workload | None = None,
    is_recorded: bool = False,
    recording: Recording | None = None,
) -> tuple[PlanDescription, list[str]]:
    """Return the plan that options describe on top of a file, a preset or an array, and the notes about it.

    Parameters
    ----------
    given : mapping
        Values of the options of a plan by key; None where an option was not given.
    path : Path, optional
        A plan file.
    preset_name : str, optional
    array : Path, optional
        File of an array that exists.
    workload, is_recorded, recording
        As for `plan_from`.

    Raises
    ------
    DescriptionError
        With every fault of the options, of a file, or of a profile.
    """
    from diskmodel.array import Array
    from diskmodel.plan import plan_from, plan_options, preset

    return plan_from(
        plan_options(given),
        path=path,
        preset=None if preset_name is None else preset(preset_name),
        array=None if array is None else Array.load(array),
        workload=workload,
        is_recorded=is_recorded,
        recording=recording,
    )


def save_plan(plan: PlanDescription, path: Path) -> None:
    """Write a plan file that asks the same question."""
    from diskmodel.output import write_text
    from diskmodel.plan import short_toml

    write_text(path, f"# Answer it with: diskmodel plan {path.name}\n{short_toml(plan)}", "save")


def _preset_of(start: str | None) -> str | None:
    """Return the name in "preset:NAME"."""
    if start is None:
        return None
    kind, _, name = start.partition(":")
    if kind != "preset" or not name:
        rule, fix = "is not preset:NAME", "write for example preset:vm; --list-presets shows them all"
        if Path(start).exists():
            fix = f"a recording is the workload: --workload {start}"
        raise DescriptionError(Fault("--from", start, rule, fix))
    return name


def _refuse_percentile(levels: list[str] | None) -> None:
    """Refuse a number as the RAID level; it may have been meant as a percentile."""
    for text in levels or ():
        if text.replace(".", "", 1).isdecimal():
            fix = f"write raid{text}, or --percentile {text} for a percentile of a recorded load"
            raise DescriptionError(Fault("--level", text, "is a number, not a RAID level", fix))


def _list_presets(as_json: bool) -> None:
    from diskmodel.plan import preset, preset_names

    found = [preset(name) for name in preset_names()]
    if as_json:
        keys = ("name", "title", "sources", "assumptions")
        print_json({"presets": [{key: getattr(item, key) for key in keys} for item in found]})
        return
    for item in found:
        show(f"{item.name}: {item.title}")
        show(*(f"  source: {source}" for source in item.sources))
        show(*(f"  assumed: {assumption}" for assumption in item.assumptions))


def _scaling_of(plan: PlanDescription, workload: Workload) -> str | None:
    """Say that the plan's IOPS replace the rate of a workload given beside it, where they do."""
    iops, offered = plan.objective.iops, workload.offered_rate_per_s
    if iops is None or workload.queue_depth or abs(iops / offered - 1) <= 0.02:
        return None
    return f"the plan's iops = {iops:.4g} replace the {offered:.4g}/s of workload {workload.name}"


def answer(
    plan: PlanDescription,
    *,
    with_sensitivity: bool = False,
    with_waterfalls: bool = False,
    with_details: bool = True,
    by_chance: bool = True,
    memory: Path | None = None,
    cluster: str | None = None,
) -> PlanResult:
    """Answer a plan; `memory` and `cluster` as for `searching`."""
    from diskmodel.cli.shared.searching import searching
    from diskmodel.plan import run_plan

    with searching(memory, cluster) as options:
        return run_plan(
            plan,
            with_sensitivity=with_sensitivity,
            with_waterfalls=with_waterfalls,
            with_details=with_details,
            by_chance=by_chance,
            **options,
        )


def write_files(result: PlanResult, report: Path | None, plot: Path | None) -> None:
    """Write the requested report and plot, and say where they are."""
    if report is None and plot is None:
        return
    from diskmodel.plan import heat_of_best, latency_curves, save_latency_plot, write_report

    is_page = report is not None and report.suffix.lower() == ".html"
    curves = latency_curves(_of_one_drive(result)) if plot is not None or is_page else ()
    if report is not None:
        write_report(result, report, curves=curves, heat=heat_of_best(result) if is_page else None)
        say(f"report: {report}")
    if plot is not None:
        limit = result.plan.objective.latency.p99_ns
        save_latency_plot(curves, plot, limit_ms=None if limit is None else limit / 1e6)
        say(f"plot of latency against load: {plot}")


def _write_waterfall(best: Candidate, place: Path) -> None:
    from diskmodel.drawing import save_plot
    from diskmodel.plan import draw_waterfall

    if not best.waterfall:
        say("no plot of steps: the plan states no rate that a rule of thumb could count with")
        return
    save_plot(lambda axes: draw_waterfall(axes, best.waterfall), place, "waterfall")
    say(f"plot of the steps from the rule of thumb: {place}")


def write_crossover(plan: PlanDescription, place: Path) -> None:
    """Find, report and plot the share of writes at which another level of the first drive needs fewer disks."""
    from diskmodel.drawing import save_plot
    from diskmodel.plan import cases, draw_crossover, find_crossover, local_pool

    with local_pool(cases(plan)) as pool:
        found = find_crossover(plan, executor=pool)
    for sentence in found.sentences():
        say(f"{found.drive}: {sentence}")
    save_plot(lambda axes: draw_crossover(axes, found), place, "crossover")
    say(f"plot of the fewest disks against the share of writes: {place}")


def _of_one_drive(result: PlanResult) -> PlanResult:
    """Return the candidates with the drive of the best one, so that the curves differ only in the level."""
    if result.best is None:
        return result
    drive = result.best.family.drive
    same = tuple(candidate for candidate in result.candidates if candidate.family.drive == drive)
    return replace(result, candidates=same)
