"""`diskmodel compare`: arrays side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from diskmodel.cli.shared.console import print_json, say, show
from diskmodel.cli.shared.inputs import LoadOptions, check_room, one_or_several, read_arrays, read_workloads
from diskmodel.cli.shared.numbers import ratios
from diskmodel.cli.shared.object_stores import sets_under_uploads, simulated_waits_ms, wait_words
from diskmodel.cli.shared.options import (
    ArrayTexts,
    Asked,
    Debug,
    Device,
    Engine,
    Explain,
    Format,
    Json,
    OnlyRunNoise,
    OtherDrives,
    Percentile,
    Plot,
    QueueDepth,
    Seed,
    Uploads,
    WorkloadFiles,
    asks,
)
from diskmodel.cli.shared.status import check_place, ends_well, no_answer
from diskmodel.cli.shared.time_limit import limited
from diskmodel.errors import DescriptionError, Fault
from diskmodel.options import ARRAYS, OBJECTIVE, SEARCH_GROUP, STREAM


def read_limit_ms(p99: str) -> float:
    """Return a limit like "20 ms" in milliseconds.

    Raises
    ------
    DescriptionError
        When it is not a time.
    """
    from diskmodel.plan import LatencyLimits

    try:
        limit_ns = LatencyLimits.parse({"p99": p99}).p99_ns
    except DescriptionError as error:
        raise DescriptionError([replace(fault, field="--p99") for fault in error.faults]) from None
    assert limit_ns is not None
    return limit_ns / 1e6


@ends_well
@limited("lower --requests", is_question=True)
@asks(stream=STREAM, changes=ARRAYS)
def compare(
    arrays: ArrayTexts,
    *,
    workload: WorkloadFiles = None,
    stream: Asked,
    uploads: Uploads = None,
    drive: OtherDrives = None,
    changes: Asked,
    queue_depth: QueueDepth = None,
    percentile: Percentile = None,
    device: Device = None,
    format: Format = None,
    growth: Annotated[
        str | None,
        typer.Option(
            help="Growth of the load per year, 25% or 0.25, to report headroom in months.", rich_help_panel=OBJECTIVE
        ),
    ] = None,
    p99: Annotated[
        str | None,
        typer.Option(
            help='Limit of p99 latency ("20 ms") up to which headroom is measured, not the knee.',
            rich_help_panel=OBJECTIVE,
        ),
    ] = None,
    engine: Engine = "auto",
    seed: Seed = 0,
    requests: Annotated[
        int | None,
        typer.Option(min=200, help="Requests in each run; 30000 at most without it.", rich_help_panel=SEARCH_GROUP),
    ] = None,
    only_run_noise: OnlyRunNoise = False,
    plot: Plot = None,
    explain: Explain = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Compare arrays under one workload, or see one: healthy, with a disk failed, from light load to beyond the knee.

    Exits with status 3 when none of the arrays sustains the load.
    """
    from diskmodel.engine import DRAWS
    from diskmodel.plan import compare as run
    from diskmodel.workload import on_used

    check_place(plot, "plot", (".png", ".svg"))
    described = read_arrays(arrays, drive, changes)
    load = LoadOptions(None, queue_depth, stream, percentile, device, format)
    notes: list[str] = []
    about_set = ""
    if uploads is not None:
        has_other = bool(workload or queue_depth)
        described, load_of_drive, about_set = sets_under_uploads(described, uploads, stream, has_other_load=has_other)
        loads = [load_of_drive]
    else:
        check_room(load, described)
        loads = on_used(read_workloads(workload, load, notes), [array.used_ratio for array in described])
    if plot is not None and len(loads) > 1:
        raise DescriptionError(Fault("plot", str(plot), "shows one workload", "give one, or leave --plot out"))
    found = [
        run(
            described,
            one,
            seed=seed,
            n_requests=requests,
            growth_ratio=None if growth is None else ratios(growth=growth)[0],
            p99_limit_ms=None if p99 is None else read_limit_ms(p99),
            engine=engine,
            n_draws=0 if only_run_noise else DRAWS,
            with_estimates=as_json,
            with_curves=as_json or explain or plot is not None,
        )
        for one in loads
    ]
    waits = [simulated_waits_ms(array, loads[0], seed) for array in described] if about_set else []
    if as_json:
        data = [each.to_dict() for each in found]
        if waits:
            data[0]["upload_ms"] = waits
        print_json(one_or_several(data, workload_notes=notes))
    else:
        from diskmodel.cli.shared.assumed import assumed_of
        from diskmodel.plan import comparison_table

        for one, each in zip(loads, found, strict=True):
            answers = [(item.name, item.array, item.healthy) for item in each.arrays]
            show(comparison_table(each, assumed_of(answers, one, seed), is_explained=explain))
        if waits:
            show(*(f"{array.name}: {wait_words(own)}" for array, own in zip(described, waits, strict=True)), about_set)
    if plot is not None:
        from diskmodel.plan import curves_of, save_latency_plot

        save_latency_plot(curves_of(found[0].arrays), plot)
        say(f"plot of latency against load: {plot}")
    if not all(any(item.healthy.is_stable for item in each.arrays) for each in found):
        which = "none of the arrays sustains" if len(described) > 1 else "the array does not sustain"
        raise no_answer(f"{which} the load: lower it, or add disks")
