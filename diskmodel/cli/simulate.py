"""`diskmodel simulate`: run one array under one workload."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from diskmodel.cli.shared.console import print_json, say, show, show_lines
from diskmodel.cli.shared.heat_map import check_heat_map, save_heat_map
from diskmodel.cli.shared.inputs import LoadOptions, check_room, read_array, read_replay, read_workload, refuse_wrap
from diskmodel.cli.shared.options import (
    ArrayText,
    Asked,
    Debug,
    Device,
    Engine,
    Format,
    HeatMap,
    Json,
    OnlyRunNoise,
    OtherDrive,
    Percentile,
    QueueDepth,
    Seed,
    WorkloadFile,
    asks,
)
from diskmodel.cli.shared.status import ends_well, no_answer
from diskmodel.cli.shared.time_limit import limited
from diskmodel.errors import DescriptionError, Fault
from diskmodel.options import ARRAY, LOAD, OUTPUT, SEARCH_GROUP, STREAM

if TYPE_CHECKING:
    from diskmodel.array import Array
    from diskmodel.engine.run import Engine as EngineName
    from diskmodel.engine.simulate import Keep
    from diskmodel.engine.steady.shared import Begin
    from diskmodel.workload import TraceWorkload, Workload


@ends_well
@limited("lower --requests or raise --precision")
@asks(stream=STREAM, changes=ARRAY)
def simulate(
    array: ArrayText,
    *,
    workload: WorkloadFile = None,
    stream: Asked,
    drive: OtherDrive = None,
    changes: Asked,
    queue_depth: QueueDepth = None,
    replay: Annotated[
        str | None,
        typer.Option(
            help="Replay the trace itself: original (at its own times), sped up by a factor (2x), or closed (with "
            "--queue-depth requests outstanding, default 1).",
            rich_help_panel=LOAD,
        ),
    ] = None,
    wrap: Annotated[
        bool,
        typer.Option(
            "--wrap",
            help="Wrap addresses of a replayed trace that lie beyond the end of the array.",
            rich_help_panel=LOAD,
        ),
    ] = False,
    percentile: Percentile = None,
    device: Device = None,
    format: Format = None,
    engine: Engine = "auto",
    seed: Seed = 0,
    requests: Annotated[
        int | None,
        typer.Option(
            help="Requests to simulate; default: as many as --precision needs, or the whole trace.",
            rich_help_panel=SEARCH_GROUP,
        ),
    ] = None,
    precision: Annotated[
        float,
        typer.Option(
            help="Target half-width of the 95 % interval of the mean latency, relative to the mean.",
            rich_help_panel=SEARCH_GROUP,
        ),
    ] = 0.02,
    profile_draws: Annotated[
        int | None,
        typer.Option(
            help="Draws of everything that is not known (drive, controller, host, model), one more run for each: "
            "default 16.",
            rich_help_panel=SEARCH_GROUP,
        ),
    ] = None,
    only_run_noise: OnlyRunNoise = False,
    keep: Annotated[
        str,
        typer.Option(
            help="all, or histogram: memory stays constant, percentiles are accurate to 0.2 %; needs the native "
            "kernel.",
            rich_help_panel=SEARCH_GROUP,
        ),
    ] = "all",
    start: Annotated[
        str,
        typer.Option(
            help="steady: caches and buffers begin as they are after a long time of this workload; empty: with "
            "nothing, as in a burst on an idle array.",
            rich_help_panel=SEARCH_GROUP,
        ),
    ] = "steady",
    replications: Annotated[
        int,
        typer.Option(
            min=1,
            help="Independent runs with seeds from --seed on, on all processors; intervals are from their spread.",
            rich_help_panel=SEARCH_GROUP,
        ),
    ] = 1,
    iostat: Annotated[
        bool,
        typer.Option("--iostat", help="Also print what `iostat -x` would show for each disk.", rich_help_panel=OUTPUT),
    ] = False,
    heat_map: HeatMap = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Simulate an array under a workload: latency as a distribution, IOPS, utilization, where the time goes.

    Exits with status 3 when the array is overloaded, or when, without --requests, the interval stays wider than
    --precision.
    """
    from diskmodel.drive.flash.wear import wear
    from diskmodel.engine.simulate import simulate as run
    from diskmodel.host.limit import left_out
    from diskmodel.result.commits import has_syncs
    from diskmodel.result.reserve import no_reserve
    from diskmodel.result.show.iostat import iostat_text

    check_heat_map(heat_map)
    if heat_map is not None and keep != "all":
        raise DescriptionError(Fault("keep", keep, "keeps no single response for --heat-map", "leave out --keep"))
    described = read_array(array, drive, changes)
    load: Workload | TraceWorkload
    notes: list[str] = []
    if replay is None:
        refuse_wrap(wrap)
        options = LoadOptions(workload, queue_depth, stream, percentile, device, format)
        check_room(options, [described])
        load = read_workload(options, notes)
    elif workload is None:
        raise DescriptionError(Fault("replay", replay, "needs a trace", "give one with --workload"))
    else:
        load = read_replay(
            workload,
            replay,
            queue_depth,
            percentile=percentile,
            device=device,
            format=format,
            wraps=wrap,
            sync=stream["sync"],
        )
        requests = requests or len(load.trace)
    result = run(
        described,
        load,
        seed=seed,
        engine=cast("EngineName", engine),
        n_requests=requests,
        precision=precision,
        profile_draws=0 if only_run_noise else profile_draws,
        keep=cast("Keep", keep),
        start=cast("Begin", start),
        replications=replications,
    )
    if as_json:
        print_json({**result.to_dict(), "workload_notes": notes})
        for message in result.messages:
            say(message)
    else:
        title = "" if described.name == array else f"{described.name or Path(array).stem}: "
        show(f"{title}{described.title}; workload {load.name}", result)
        if iostat:
            show_lines("iostat -x\n" + iostat_text(result.to_dict()["iostat"]))
    if heat_map is not None:
        name = described.name or str(array)
        save_heat_map(f"{name} under {load.name}", [(name, described, result)], heat_map)
    written = max(use.write_bytes_per_s for use in result.per_disk)
    is_safe = has_syncs(result.requests)
    cached = _drive_cache(described) if written and not is_safe else ""
    # requests of a closed load wait for each other: a busy disk is no lack of reserve
    busiest = max(use.utilization_ratio for use in result.per_disk)
    # a resilver and a scrub use all that the load leaves
    is_filled = result.rebuild is not None and result.rebuild.is_of_pool
    reserve = no_reserve(busiest) if result.is_stable and load.is_open and not is_filled else ""
    host = described.behind_host(load).host
    for note in (reserve, cached, wear(described.drive, written), left_out(host, result.iops.mean)):
        if note:
            say(note)
    if not result.is_stable:
        raise no_answer("the array is overloaded; lower the load or add disks")
    if requests is None and not result.is_converged:
        raise no_answer(
            f"the interval is still wider than ±{precision:.3g} of the mean after {result.n_requests:,} requests; "
            "raise --precision, or set --requests"
        )


def _drive_cache(array: Array) -> str:
    """Return that a drive's own cache answers the writes, where nobody said so; "" elsewhere."""
    from diskmodel.drive import Hdd

    is_asked = array.drive_write_cache is not None or not array.has_drive_write_cache
    if is_asked or not isinstance(array.drive, Hdd) or not array.drive.is_write_back:
        return ""
    return (
        "writes are done when they are in the drive's own write cache, as single drives are sold, and lost there when "
        "power fails; drive_write_cache = false in the array's file does without it"
    )
