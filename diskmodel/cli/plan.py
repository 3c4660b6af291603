"""`diskmodel plan`: how many disks, of which kind, in which level."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from diskmodel.cli.console import print_json, progress, say, show
from diskmodel.cli.inputs import read_workload, refuse_unused
from diskmodel.cli.options import Debug, Device, Json, Level, Plot
from diskmodel.cli.status import check_place, ends_well, honest_no

if TYPE_CHECKING:
    from diskmodel.plan import PlanDescription, PlanResult
    from diskmodel.workload import Workload


@ends_well
def plan(
    plan: Annotated[Path, typer.Argument(help="Workload, objective and candidates, a TOML file.")],
    drive: Annotated[
        list[str] | None,
        typer.Option(help="Drives instead of the plan's, profiles or names in the catalogue; may be repeated."),
    ] = None,
    workload: Annotated[
        Path | None,
        typer.Option("--workload", "-w", help="Workload instead of the plan's: TOML, iostat, sar, fio or a trace."),
    ] = None,
    level: Level = None,
    device: Device = None,
    report: Annotated[Path | None, typer.Option(help="Write a report there: .html, .md or .csv.")] = None,
    plot: Plot = None,
    crossover: Annotated[
        Path | None,
        typer.Option(
            help="Plot there (PNG or SVG) the fewest disks of each level of the answer's drive against writes."
        ),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say of every candidate what binds it and why a calculator differs.")
    ] = False,
    sensitivity: Annotated[
        bool, typer.Option("--sensitivity", help="Also tell how the answer moves with its inputs (takes longer).")
    ] = False,
    engine: Annotated[str | None, typer.Option(help="auto, native or simpy, instead of the plan's.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Instead of the plan's.")] = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Find the fewest disks that hold a workload's IOPS, latency and capacity, by simulation.

    Ends with 3 when no array among the candidates holds the objective.
    """
    from diskmodel.plan.description import with_drives

    check_place(report, "report", (".html", ".md", ".csv"))
    check_place(plot, "plot", (".png", ".svg"))
    check_place(crossover, "crossover", (".png", ".svg"))
    refuse_unused(workload, level=level, device=device)
    recorded = None if workload is None else read_workload(workload, level=level, device=device)
    result = answer(read_plan(plan, drive, engine, seed, recorded), with_sensitivity=sensitivity)
    if as_json:
        print_json(result.to_dict())
    else:
        from diskmodel.plan.table import plan_table

        show(plan_table(result), *(explanation(result) if explain else ()))
    write_files(result, report, plot)
    if crossover is not None:
        best = result.best
        write_crossover(result.plan if best is None else with_drives(result.plan, [best.family.drive]), crossover)
    if not result.is_feasible:
        raise honest_no("no array among the candidates holds the objective")


def read_plan(
    path: Path, drives: list[str] | None, engine: str | None, seed: int | None, workload: Workload | None = None
) -> PlanDescription:
    """The plan in a file with what the options change.

    Raises
    ------
    DescriptionError
        With every fault of the file, or of a profile.
    """
    from diskmodel.drive import load_drive
    from diskmodel.plan import PlanDescription

    found = PlanDescription.load(path, workload=workload)
    fields: dict[str, Any] = dict(found)
    if drives:
        fields["candidates"] = {**dict(found.candidates), "drives": tuple(load_drive(name) for name in drives)}
    changed = {key: value for key, value in (("engine", engine), ("seed", seed)) if value is not None}
    if changed:
        fields["search"] = {**dict(found.search), **changed}
    return PlanDescription.parse(fields, str(path)) if drives or changed else found


def answer(plan: PlanDescription, *, with_sensitivity: bool = False) -> PlanResult:
    """The answer to a plan, with progress on standard error."""
    from diskmodel.plan import run_plan

    with progress() as bar:
        task = bar.add_task("searching", total=None)

        def tell(done: int, total: int, candidate: Any) -> None:
            disks = f"{candidate.disks} disks" if candidate.disks else "not feasible"
            bar.update(task, completed=done, total=total, description=f"{candidate.family}: {disks}")

        return run_plan(plan, progress=tell, with_sensitivity=with_sensitivity)


def explanation(result: PlanResult) -> list[str]:
    """What binds each candidate, and why the rule of thumb says something else where it does."""
    said = ["Each candidate"]
    for candidate in result.candidates:
        disks = f"{candidate.disks} disks" if candidate.disks else "not feasible"
        said.append(f"  {candidate.family}: {disks}; {candidate.reason}")
        reasons = candidate.rule_of_thumb_difference
        said += [
            f"    {text}" for text in (reasons[:1] if candidate.disks == candidate.rule_of_thumb_disks else reasons)
        ]
    return said


def write_files(result: PlanResult, report: Path | None, plot: Path | None) -> None:
    """Write what was asked for beside the answer and say where."""
    if report is None and plot is None:
        return
    from diskmodel.plan.plot import save_latency_plot
    from diskmodel.plan.report import latency_curves, write_report

    is_drawn = plot is not None or (report is not None and report.suffix.lower() == ".html")
    curves = latency_curves(_of_one_drive(result)) if is_drawn else ()
    if report is not None:
        write_report(result, report, curves=curves)
        say(f"report: {report}")
    if plot is not None:
        limit = result.plan.objective.latency.p99_ns
        save_latency_plot(curves, plot, limit_ms=None if limit is None else limit / 1e6)
        say(f"latency against load: {plot}")


def write_crossover(plan: PlanDescription, place: Path) -> None:
    """Find and plot where one level of the plan's first drive begins to need fewer disks than another, and say it."""
    from diskmodel.plan import find_crossover
    from diskmodel.plan.families import families
    from diskmodel.plan.plot import draw_crossover, save_plot
    from diskmodel.plan.run import local_pool

    with local_pool(plan, families(plan)) as pool:
        found = find_crossover(plan, executor=pool)
    for sentence in found.sentences():
        say(f"{found.drive}: {sentence}")
    save_plot(lambda axes: draw_crossover(axes, found), place, "crossover")
    say(f"fewest disks against the share of writes: {place}")


def _of_one_drive(result: PlanResult) -> PlanResult:
    """The candidates with the best one's drive: curves of one drive in several levels are what can be compared."""
    if result.best is None:
        return result
    drive = result.best.family.drive
    same = tuple(candidate for candidate in result.candidates if candidate.family.drive == drive)
    return replace(result, candidates=same)
