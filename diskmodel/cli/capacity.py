"""`diskmodel capacity`: what one array can carry."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from diskmodel.cli.shared.console import print_json, say, show
from diskmodel.cli.shared.inputs import LoadOptions, check_room, read_array, read_workload, with_usual
from diskmodel.cli.shared.options import (
    ArrayText,
    Asked,
    Debug,
    Device,
    Engine,
    Format,
    Json,
    OnlyRunNoise,
    OtherDrive,
    Percentile,
    Plot,
    Seed,
    WorkloadFile,
    asks,
)
from diskmodel.cli.shared.status import check_place, ends_well
from diskmodel.cli.shared.time_limit import limited
from diskmodel.options import ARRAY, KIND_OF_LOAD, SEARCH_GROUP, USUAL_LOAD

#: The load of a question about a pool of OpenZFS that names none.
USUAL_OF_POOLS = {**USUAL_LOAD, "--reads": "100%"}


@ends_well
@limited("lower --requests")
@asks(stream=KIND_OF_LOAD, changes=ARRAY)
def capacity(
    array: ArrayText,
    *,
    workload: WorkloadFile = None,
    stream: Asked,
    drive: OtherDrive = None,
    changes: Asked,
    percentile: Percentile = None,
    device: Device = None,
    format: Format = None,
    engine: Engine = "auto",
    seed: Seed = 0,
    requests: Annotated[
        int, typer.Option(min=200, help="Requests in each run.", rich_help_panel=SEARCH_GROUP)
    ] = 30_000,
    only_run_noise: OnlyRunNoise = False,
    plot: Plot = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Find what one array can carry: the knee of its latency, its highest stable rate, and what a failed disk changes.

    The rate of a workload file does not matter: it is scaled. Without one, requests of 8 KiB are assumed, 70% of them
    reads, at random over the whole array; only reads of a pool of OpenZFS.
    """
    from diskmodel.engine.truths import DRAWS
    from diskmodel.plan.comparison.capacity import find_capacity

    check_place(plot, "plot", (".png", ".svg"))
    described = read_array(array, drive, changes)
    given = dict(stream)
    notes: list[str] = []
    options = LoadOptions(workload, None, given, percentile, device, format)
    check_room(options, [described])
    if workload is None:
        usual = USUAL_OF_POOLS if described.layout.kind.is_pool else USUAL_LOAD
        stated = with_usual(options.of_stream(), notes, usual)
        given |= {"reads": stated["--reads"], "block": stated["--block"], "iops": "1"}
    load = read_workload(replace(options, stream=given), notes)
    if workload is None:
        load = load.model_copy(update={"name": load.name.rpartition(", ")[0]})
    found = find_capacity(
        described,
        load,
        seed=seed,
        n_requests=requests,
        engine=engine,
        n_draws=0 if only_run_noise else DRAWS,
    )
    if as_json:
        print_json({**found.to_dict(), "workload_notes": notes})
    else:
        from diskmodel.plan.show.capacity import capacity_table

        show(capacity_table(found))
    if plot is not None:
        from diskmodel.plan.show.plot import save_latency_plot

        save_latency_plot([(described.name or array, found.curve)], plot)
        say(f"plot of latency against load: {plot}")
