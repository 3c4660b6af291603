"""`diskmodel simulate`: one array under one workload."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from diskmodel.cli.console import print_json, say, show, show_lines
from diskmodel.cli.inputs import read_array, read_replay, read_workload, refuse_wrap
from diskmodel.cli.options import Debug, Device, Engine, Json, Level, QueueDepth, Seed, WorkloadFile
from diskmodel.cli.status import ends_well, honest_no

if TYPE_CHECKING:
    from diskmodel.engine.simulate import Begin, Keep
    from diskmodel.engine.simulate import Engine as EngineName
    from diskmodel.workload import TraceWorkload, Workload


@ends_well
def simulate(
    array: Annotated[Path, typer.Argument(help="Array, a TOML file.")],
    workload: WorkloadFile,
    drive: Annotated[
        str | None, typer.Option(help="Drive instead of the array's: a profile, or a name in the catalogue.")
    ] = None,
    queue_depth: QueueDepth = None,
    replay: Annotated[
        str | None,
        typer.Option(
            help="Replay the trace itself: original (at its own times), so many times as fast (2x), or closed (with "
            "--queue-depth requests outstanding, 1 unless given)."
        ),
    ] = None,
    wrap: Annotated[
        bool, typer.Option("--wrap", help="Of a replayed trace: places beyond the array's end begin at 0 again.")
    ] = False,
    level: Level = None,
    device: Device = None,
    engine: Engine = "auto",
    seed: Seed = 0,
    requests: Annotated[
        int | None, typer.Option(help="Length of the run; without it, as many as --precision needs, or the trace.")
    ] = None,
    precision: Annotated[
        float, typer.Option(help="Half-width of the 95 % interval of the mean latency, as a share of it.")
    ] = 0.02,
    profile_draws: Annotated[
        int | None,
        typer.Option(
            help="Drives drawn from a calibrated profile's uncertainty for the intervals, a further run each: 16 where "
            "the profile tells it, 0 for none."
        ),
    ] = None,
    keep: Annotated[
        str,
        typer.Option(
            help="all, or histogram: memory does not grow with the run, percentiles are right to 0.2 %; needs the "
            "native kernel."
        ),
    ] = "all",
    start: Annotated[
        str,
        typer.Option(
            help="steady: caches and buffers begin as they are after a long time of this workload; empty: with "
            "nothing, as in a burst on an idle array."
        ),
    ] = "steady",
    iostat: Annotated[
        bool, typer.Option("--iostat", help="Add what `iostat -x` would have said of each disk.")
    ] = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Simulate an array under a workload: latency as a distribution, IOPS, utilisation, where the time goes.

    Ends with 3 when the array is overloaded, or when the interval asked for was not reached.
    """
    from diskmodel.engine.simulate import simulate as run
    from diskmodel.result.iostat import iostat_text

    described = read_array(array, drive)
    load: Workload | TraceWorkload
    if replay is None:
        refuse_wrap(wrap)
        load = read_workload(workload, queue_depth, level=level, device=device)
    else:
        load = read_replay(workload, replay, queue_depth, level=level, device=device, wraps=wrap)
        requests = requests or len(load.trace)
    result = run(
        described,
        load,
        seed=seed,
        engine=cast("EngineName", engine),
        n_requests=requests,
        precision=precision,
        profile_draws=profile_draws,
        keep=cast("Keep", keep),
        start=cast("Begin", start),
    )
    if as_json:
        print_json(result.to_dict())
        for message in result.messages:
            say(message)
    else:
        layout = described.layout
        title = described.name or array.stem
        show(f"{title}: {layout.disks} × {described.drive.name}, {layout.level}; workload {load.name}", result)
        if iostat:
            show_lines("iostat -x\n" + iostat_text(result.to_dict()["iostat"]))
    if not result.is_stable:
        raise honest_no("the array is overloaded: the backlog grows without end")
    if requests is None and not result.is_converged:
        raise honest_no(f"the interval is wider than ±{precision:.3g} of the mean after {result.n_requests:,} requests")
