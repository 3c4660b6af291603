"""`diskmodel plan`: how many disks, of which kind, in which level."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from diskmodel.cli.console import print_json, progress, say, show
from diskmodel.cli.inputs import read_workload, refuse_unused
from diskmodel.cli.options import Debug, Device, Format, Json, Level, Plot
from diskmodel.cli.status import check_place, ends_well, honest_no

if TYPE_CHECKING:
    from diskmodel.plan import PlanDescription, PlanResult, Recording
    from diskmodel.workload import Workload


@ends_well
def plan(
    plan: Annotated[Path, typer.Argument(help="Workload, objective and candidates, a TOML file.")],
    drive: Annotated[
        list[str] | None,
        typer.Option(help="Drive to use instead of the plan's: a profile or a catalogue name; may be repeated."),
    ] = None,
    workload: Annotated[
        Path | None,
        typer.Option("--workload", "-w", help="Workload instead of the plan's: TOML, iostat, sar, fio or a trace."),
    ] = None,
    level: Level = None,
    device: Device = None,
    format: Format = None,
    report: Annotated[Path | None, typer.Option(help="Write a report to this file: .html, .md or .csv.")] = None,
    plot: Plot = None,
    crossover: Annotated[
        Path | None,
        typer.Option(help="Plot the fewest disks of each level against the share of writes to this file (PNG or SVG)."),
    ] = None,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain", help="Explain the limiting factor of each candidate and how the rule of thumb differs."
        ),
    ] = False,
    sensitivity: Annotated[
        bool, typer.Option("--sensitivity", help="Also report how the answer changes with its inputs (takes longer).")
    ] = False,
    engine: Annotated[str | None, typer.Option(help="auto, native or simpy, instead of the plan's.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Instead of the plan's.")] = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Find the fewest disks that meet the objective for IOPS, latency and capacity, by simulation.

    Exits with status 3 when none of the candidates meets the objective.
    """
    from diskmodel.plan import Recording, with_drives

    check_place(report, "report", (".html", ".md", ".csv"))
    check_place(plot, "plot", (".png", ".svg"))
    check_place(crossover, "crossover", (".png", ".svg"))
    refuse_unused(workload, level=level, device=device, format=format)
    notes: list[str] = []
    recorded = None
    if workload is not None:
        recorded = read_workload(workload, level=level, device=device, format=format, notes=notes)
    is_recorded = workload is not None and (workload.suffix != ".toml" or format is not None)
    recording = None
    if workload is not None:
        recording = Recording.of(workload, format=format, device=device)
    question = read_plan(plan, drive, engine, seed, recorded, is_recorded=is_recorded, recording=recording)
    if recorded is not None and (note := _scaling_of(question, recorded)):
        notes.append(note)
        say(note)
    result = answer(question, with_sensitivity=sensitivity)
    if as_json:
        print_json({**result.to_dict(), "workload_notes": notes})
    else:
        from diskmodel.plan.show.table import plan_table

        show(plan_table(result), *(explanation(result) if explain else ()))
    write_files(result, report, plot)
    if crossover is not None:
        best = result.best
        write_crossover(result.plan if best is None else with_drives(result.plan, [best.family.drive]), crossover)
    if not result.is_feasible:
        raise honest_no("none of the candidates meets the objective; --explain shows what limits each")


def _scaling_of(plan: PlanDescription, workload: Workload) -> str | None:
    """Say that the plan's IOPS replace the rate of a workload given beside it, where they do."""
    iops, offered = plan.objective.iops, workload.offered_rate_per_s
    if iops is None or workload.queue_depth or abs(iops / offered - 1) <= 0.02:
        return None
    return f"the plan's iops = {iops:.4g} replace the {offered:.4g}/s of workload {workload.name}"


def read_plan(
    path: Path,
    drives: list[str] | None,
    engine: str | None,
    seed: int | None,
    workload: Workload | None = None,
    *,
    is_recorded: bool = False,
    recording: Recording | None = None,
) -> PlanDescription:
    """Return the plan in a file, changed by the options.

    Raises
    ------
    DescriptionError
        With every fault of the file, or of a profile.
    """
    from diskmodel.drive import load_drive
    from diskmodel.plan import PlanDescription

    found = PlanDescription.load(path, workload=workload, is_recorded=is_recorded, recording=recording)
    fields: dict[str, Any] = dict(found)
    if drives:
        fields["candidates"] = {**dict(found.candidates), "drives": tuple(load_drive(name) for name in drives)}
    changed = {key: value for key, value in (("engine", engine), ("seed", seed)) if value is not None}
    if changed:
        fields["search"] = {**dict(found.search), **changed}
    return PlanDescription.parse(fields, str(path)) if drives or changed else found


def answer(plan: PlanDescription, *, with_sensitivity: bool = False) -> PlanResult:
    """Answer a plan, with progress on standard error."""
    from diskmodel.plan import run_plan

    with progress() as bar:
        task = bar.add_task("searching", total=None)

        def show_progress(done: int, total: int, candidate: Any) -> None:
            disks = f"{candidate.disks} disks" if candidate.disks else "not feasible"
            bar.update(task, completed=done, total=total, description=f"{candidate.family}: {disks}")

        return run_plan(plan, progress=show_progress, with_sensitivity=with_sensitivity)


def explanation(result: PlanResult) -> list[str]:
    """Return the limiting factor of each candidate, and why the rule of thumb differs where it does."""
    output = ["Each candidate"]
    for candidate in result.candidates:
        disks = f"{candidate.disks} disks" if candidate.disks else "not feasible"
        output.append(f"  {candidate.family}: {disks}; {candidate.reason}")
        output += [f"    {candidate.replay_note}"] if candidate.replay_note else []
        reasons = candidate.rule_of_thumb_difference
        output += [
            f"    {text}" for text in (reasons[:1] if candidate.disks == candidate.rule_of_thumb_disks else reasons)
        ]
    return output


def write_files(result: PlanResult, report: Path | None, plot: Path | None) -> None:
    """Write the requested report and plot, and say where they are."""
    if report is None and plot is None:
        return
    from diskmodel.plan import latency_curves
    from diskmodel.plan.show.plot import save_latency_plot
    from diskmodel.plan.show.report import write_report

    is_drawn = plot is not None or (report is not None and report.suffix.lower() == ".html")
    curves = latency_curves(_of_one_drive(result)) if is_drawn else ()
    if report is not None:
        write_report(result, report, curves=curves)
        say(f"report: {report}")
    if plot is not None:
        limit = result.plan.objective.latency.p99_ns
        save_latency_plot(curves, plot, limit_ms=None if limit is None else limit / 1e6)
        say(f"plot of latency against load: {plot}")


def write_crossover(plan: PlanDescription, place: Path) -> None:
    """Find, report and plot the share of writes at which another level of the first drive needs fewer disks."""
    from diskmodel.drawing import save_plot
    from diskmodel.plan import cases, find_crossover
    from diskmodel.plan.search.pool import local_pool
    from diskmodel.plan.show.plot import draw_crossover

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
