"""`diskmodel simulate`: run one array under one workload."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from diskmodel.cli.shared.console import print_json, say, show, show_lines
from diskmodel.cli.shared.heat_map import check_heat_map, save_heat_map
from diskmodel.cli.shared.inputs import (
    LoadOptions,
    check_room,
    one_or_several,
    read_array,
    read_replay,
    read_workloads,
    refuse_wrap,
)
from diskmodel.cli.shared.object_stores import set_under_uploads, wait_words, waits_ms
from diskmodel.cli.shared.options import (
    ArrayText,
    Asked,
    Debug,
    Device,
    Engine,
    Explain,
    Format,
    HeatMap,
    Json,
    OnlyRunNoise,
    OtherDrive,
    Percentile,
    QueueDepth,
    Seed,
    Uploads,
    WorkloadFiles,
    asks,
)
from diskmodel.cli.shared.status import ends_well, no_answer
from diskmodel.cli.shared.time_limit import limited
from diskmodel.errors import DescriptionError, Fault
from diskmodel.options import ARRAY, LOAD, OUTPUT, SEARCH_GROUP, STREAM

if TYPE_CHECKING:
    from diskmodel.array import Array
    from diskmodel.engine import Begin, Fresh, Keep
    from diskmodel.engine import Engine as EngineName
    from diskmodel.explanation.otherwise import Otherwise
    from diskmodel.result import Result
    from diskmodel.result.show import Remark
    from diskmodel.workload import TraceWorkload, Workload


#: Half-width of the interval of the mean that will do where nobody asks for any.
_ENOUGH = 0.1


@ends_well
@limited("lower --requests or raise --precision", is_question=True)
@asks(stream=STREAM, changes=ARRAY)
def simulate(
    array: ArrayText,
    *,
    workload: WorkloadFiles = None,
    stream: Asked,
    uploads: Uploads = None,
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
        float | None,
        typer.Option(
            help="Half-width of the 95 % interval of the mean latency, relative to the mean, that a run has to reach. "
            "Default: it aims at 0.02, and 0.1 will do.",
            rich_help_panel=SEARCH_GROUP,
        ),
    ] = None,
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
    explain: Explain = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Simulate an array under a workload: latency as a distribution, IOPS, utilization, where the time goes.

    Exits with status 3 when the array is overloaded, or when, without --requests, the interval stays wider than
    --precision, or than 0.1 where nobody asks for one.
    """
    from diskmodel.engine import PRECISION
    from diskmodel.engine.simulate import simulate as run
    from diskmodel.explanation.otherwise import otherwise
    from diskmodel.result.show import Remark, few, iostat_text
    from diskmodel.workload import on_used

    check_heat_map(heat_map)
    if heat_map is not None and keep != "all":
        raise DescriptionError(Fault("keep", keep, "keeps no single response for --heat-map", "leave out --keep"))
    described = read_array(array, drive, changes)
    loads: list[Workload | TraceWorkload]
    notes: list[str] = []
    if len(workload or ()) > 1:
        _refuse_beside_several({"replay": replay, "iostat": iostat, "heat-map": heat_map})
    about_set = ""
    if uploads is not None:
        has_other = bool(workload or queue_depth or replay)
        described, load_of_drive, about_set = set_under_uploads(described, uploads, stream, has_other_load=has_other)
        loads = [load_of_drive]
    elif replay is None:
        refuse_wrap(wrap)
        options = LoadOptions(None, queue_depth, stream, percentile, device, format)
        check_room(options, [described])
        loads = [*on_used(read_workloads(workload, options, notes), [described.used_ratio])]
    elif not workload:
        raise DescriptionError(Fault("replay", replay, "needs a trace", "give one with --workload"))
    else:
        load = read_replay(
            workload[0],
            replay,
            queue_depth,
            percentile=percentile,
            device=device,
            format=format,
            wraps=wrap,
            sync=stream["sync"],
        )
        loads = [load]
        requests = requests or len(load.trace)
    results = [
        run(
            described,
            one,
            seed=seed,
            engine=cast("EngineName", engine),
            n_requests=requests,
            precision=PRECISION if precision is None else precision,
            profile_draws=0 if only_run_noise else profile_draws,
            keep=cast("Keep", keep),
            start=cast("Begin", start),
            replications=replications,
        )
        for one in loads
    ]
    fast = [_fresh(described, *case, seed) for case in zip(loads, results, strict=True)]
    title = "" if described.name == array or about_set else f"{described.name or Path(array).stem}: "
    assumed = [otherwise(described, *case, seed=seed) for case in zip(loads, results, strict=True)]
    remarks = [
        Remark(remark.kind, f"{load.name}: {remark.text}" if len(loads) > 1 else remark.text)
        for load, result, others, first in zip(loads, results, assumed, fast, strict=True)
        for remark in (
            *_remarks(described, load, result, others),
            Remark("reading", f"{wait_words(waits_ms(result))}; {about_set}" if about_set else ""),
            Remark("limit", "" if first is None else first.in_words()),
        )
    ]
    if explain:
        remarks += [Remark("limit", text) for text in _working_sets(described, loads, seed)]
    if as_json:
        named = [{"name": one.name} if len(loads) > 1 else {} for one in loads]
        answers = [
            {
                **name,
                **each.to_dict(),
                **({"assumptions": [one.to_dict() for one in others]} if others else {}),
                **({} if first is None else {"fresh": first.to_dict()}),
                **({"upload_ms": waits_ms(each)} if about_set else {}),
            }
            for name, each, others, first in zip(named, results, assumed, fast, strict=True)
        ]
        print_json(one_or_several(answers, workload_notes=notes))
        for line in few(remarks, is_explained=True):
            say(line)
    elif len(loads) > 1:
        from diskmodel.result.show import loads_table

        by_load = {one.name: each for one, each in zip(loads, results, strict=True)}
        show(f"{title}{described.title}", loads_table(by_load), *few(remarks, is_explained=explain))
    else:
        from diskmodel.result.show import answer_table

        said = few(remarks, is_explained=explain)
        show(f"{title}{described.title}; workload {loads[0].name}", answer_table(results[0]), *said)
        if iostat:
            show_lines("iostat -x\n" + iostat_text(results[0].to_dict()["iostat"]))
    if heat_map is not None:
        name = described.name or str(array)
        save_heat_map(f"{name} under {loads[0].name}", [(name, described, results[0])], heat_map)
    if overloaded := [one.name for one, result in zip(loads, results, strict=True) if not result.is_stable]:
        by = f" by {', '.join(overloaded)}" if len(loads) > 1 else ""
        raise no_answer(f"the array is overloaded{by}; lower the load or add disks")
    if requests is None:
        _check_precision(results, _ENOUGH if precision is None else precision)


def _working_sets(described: Array, loads: Sequence[Workload | TraceWorkload], seed: int) -> list[str]:
    """Return up to which working set a cache on SSDs pays, in a sentence for each load; none without such a cache."""
    if not described.drive.cache_bytes:
        return []
    from diskmodel.plan import find_working_sets

    found = [find_working_sets(described, load, seed=seed) for load in loads]
    return [one.sentence() for one in found if one is not None]


def _check_precision(results: Sequence[Result], enough: float) -> None:
    """Refuse results whose mean is known less well than asked from their runs, or not at all."""
    from diskmodel.result import half_width_ratio

    for one in results:
        # of an unknown interval it is nan
        if not one.is_converged and not half_width_ratio(one.run_interval("mean")) <= enough:
            raise no_answer(
                f"the interval is still wider than ±{enough:.3g} of the mean after {one.n_requests:,} requests; "
                "raise --precision, or set --requests"
            )


def _fresh(described: Array, load: Workload | TraceWorkload, result: Result, seed: int) -> Fresh | None:
    """Return how long the drives are faster than in a result; None of a trace, which says how long it takes."""
    from diskmodel.engine.steady.fresh import fresh
    from diskmodel.workload import Workload

    return fresh(described, load, result, seed=seed) if isinstance(load, Workload) else None


def _refuse_beside_several(given: Mapping[str, object]) -> None:
    """Refuse options that are about one load, where there are several."""
    rule, fix = "is about one workload, and there are several", "give one, or leave it out"
    faults = [Fault(f"--{name}", None, rule, fix) for name, value in given.items() if value]
    if faults:
        raise DescriptionError(faults)


def _remarks(
    described: Array, load: Workload | TraceWorkload, result: Result, others: Sequence[Otherwise]
) -> list[Remark]:
    """Return what to know of a result that is not in its table: its messages, what was assumed of it, and more."""
    from diskmodel.drive import wear
    from diskmodel.host import left_out
    from diskmodel.result import OWN_DEVICES, has_syncs, no_reserve
    from diskmodel.result.show import Remark
    from diskmodel.uncertainty import slower_systems

    written = max(use.write_bytes_per_s for use in result.per_disk)
    is_safe = has_syncs(result.requests)
    cached = _drive_cache(described) if written and not is_safe else ""
    # requests of a closed load wait for each other: a busy disk is no lack of reserve
    used = {"disk": result.per_disk} | {OWN_DEVICES[name]: uses for name, uses in result.own_devices.items()}
    ratios = {part: max(use.utilization_ratio for use in uses) for part, uses in used.items()}
    busiest = max(ratios, key=lambda part: ratios[part])
    # a resilver and a scrub use all that the load leaves
    is_filled = result.rebuild is not None and result.rebuild.is_of_pool
    reserve = no_reserve(ratios[busiest], busiest) if result.is_stable and load.is_open and not is_filled else ""
    host = described.behind_host(load).host
    # what an overloaded array does says nothing of how others do
    has_others = result.is_stable and result.prediction is not None
    return [
        *(Remark(_kind(text, described, result), text) for text in result.messages),
        *(Remark("assumed", one.in_words(is_closed=not load.is_open)) for one in others),
        Remark("reserve", reserve),
        Remark("loss", cached),
        Remark("limit", described.drive.about_credits(*described.asked_of_a_drive(load))),
        Remark("wear", wear(described.drive, written)),
        Remark("limit", left_out(host, result.run_iops.value)),
        Remark("systems", slower_systems() if has_others else ""),
    ]


def _kind(message: str, described: Array, result: Result) -> str:
    """Return the kind of a message of a result: of what has no effect, of an overload, of doubts, or of its run."""
    from diskmodel.description import WITHOUT_EFFECT

    if message.startswith(WITHOUT_EFFECT):
        return "unread"
    if not result.is_stable:
        return "cut"
    if message in (*described.doubts, *described.doubts_of_pass):
        return "doubt"
    return "limit" if message in result.run.said else "run"


def _drive_cache(array: Array) -> str:
    """Return that a drive's own cache answers the writes, where nobody said so; "" elsewhere."""
    # of several disks the other case is simulated, too
    is_asked = array.drive_write_cache is not None or array.layout.disks > 1
    if is_asked or not array.drive.is_write_back:
        return ""
    return (
        "writes are done when they are in the drive's own write cache, as single drives are sold, and lost there when "
        "power fails; drive_write_cache = false in the array's file does without it"
    )
