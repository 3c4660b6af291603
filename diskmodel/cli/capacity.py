"""`diskmodel capacity`: what one array can carry."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from diskmodel.cli.shared.console import print_json, say, show
from diskmodel.cli.shared.inputs import LoadOptions, check_room, one_or_several, read_array, read_workloads, with_usual
from diskmodel.cli.shared.object_stores import set_under_uploads, simulated_waits_ms, uploads_per_s, wait_words
from diskmodel.cli.shared.options import (
    ArrayText,
    Asked,
    Debug,
    Device,
    Engine,
    Explain,
    Format,
    Json,
    OnlyRunNoise,
    OtherDrive,
    Percentile,
    Plot,
    Seed,
    Uploads,
    WorkloadFiles,
    asks,
)
from diskmodel.cli.shared.status import check_place, ends_well
from diskmodel.cli.shared.time_limit import limited
from diskmodel.errors import DescriptionError, Fault
from diskmodel.options import ARRAY, KIND_OF_LOAD, SEARCH_GROUP, USUAL_LOAD

if TYPE_CHECKING:
    from diskmodel.plan import Capacity

#: The load of a question about a pool of OpenZFS that names none.
USUAL_OF_POOLS = {**USUAL_LOAD, "--reads": "100%"}


@ends_well
@limited("lower --requests", is_question=True)
@asks(stream=KIND_OF_LOAD, changes=ARRAY)
def capacity(
    array: ArrayText,
    *,
    workload: WorkloadFiles = None,
    stream: Asked,
    uploads: Uploads = None,
    drive: OtherDrive = None,
    changes: Asked,
    percentile: Percentile = None,
    device: Device = None,
    format: Format = None,
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
    """Find what one array can carry: the knee of its latency, its highest stable rate, and what a failed disk changes.

    The rate of a workload file does not matter: it is scaled. Without one, requests of 8 KiB are assumed, 70% of them
    reads, at random over the whole array; only reads of a pool of OpenZFS.
    """
    from diskmodel.engine import DRAWS
    from diskmodel.plan import find_capacity
    from diskmodel.workload import on_used

    check_place(plot, "plot", (".png", ".svg"))
    described = read_array(array, drive, changes)
    given = dict(stream)
    notes: list[str] = []
    options = LoadOptions(None, None, given, percentile, device, format)
    about_set = ""
    if uploads is not None:
        described, load_of_drive, about_set = set_under_uploads(
            described, uploads, stream, has_other_load=bool(workload)
        )
    else:
        check_room(options, [described])
    if not workload and uploads is None:
        usual = USUAL_LOAD if described.layout.kind.has_formula_of_writes else USUAL_OF_POOLS
        stated = with_usual(options.of_stream(), notes, usual)
        given |= {"reads": stated["--reads"], "block": stated["--block"], "iops": "1"}
    if uploads is not None:
        loads = [load_of_drive.model_copy(update={"name": "uploads of " + load_of_drive.name.partition(" of ")[2]})]
    else:
        loads = on_used(read_workloads(workload, replace(options, stream=given), notes), [described.used_ratio])
    if not workload and uploads is None:
        loads = [one.model_copy(update={"name": one.name.replace(", 1/s", "", 1)}) for one in loads]
    if plot is not None and len(loads) > 1:
        raise DescriptionError(Fault("plot", str(plot), "shows one workload", "give one, or leave --plot out"))
    found = [
        find_capacity(
            described,
            load,
            seed=seed,
            n_requests=requests,
            engine=engine,
            n_draws=0 if only_run_noise else DRAWS,
        )
        for load in loads
    ]
    of_uploads = [] if uploads is None else [_uploads(each, seed) for each in found]
    if as_json:
        answers = [each.to_dict() for each in found]
        for answer, own in zip(answers, of_uploads, strict=False):
            answer["uploads"] = own
        print_json(one_or_several(answers, workload_notes=notes))
    else:
        from diskmodel.cli.shared.assumed import assumed_of
        from diskmodel.plan import capacity_table

        for each in found:
            at = each.workload.scaled(each.knee.offered / each.workload.offered_rate_per_s)
            assumed = assumed_of([("", each.array, each.knee.outcome)], at, seed, at="at the knee")
            show(
                *(_in_uploads(own, about_set) for own in of_uploads),
                capacity_table(each, assumed, is_explained=explain),
            )
    if plot is not None:
        from diskmodel.plan import save_latency_plot

        save_latency_plot([(described.name or array, found[0].curve)], plot)
        say(f"plot of latency against load: {plot}")


def _uploads(found: Capacity, seed: int) -> dict[str, Any]:
    """Return what a set carries in uploads, and how long one waits at the knee, as JSON has it."""
    each_per_s = found.workload.offered_rate_per_s / uploads_per_s(found.workload)
    at = found.workload.scaled(found.knee.offered / found.workload.offered_rate_per_s)
    return {
        "knee_per_s": found.knee.offered / each_per_s,
        "most_per_s": found.most_per_s.value / each_per_s,
        "upload_ms": simulated_waits_ms(found.array, at, seed),
    }


def _in_uploads(found: dict[str, Any], about_set: str) -> str:
    from diskmodel.units import in_digits

    knee, most = in_digits(found["knee_per_s"]), in_digits(found["most_per_s"])
    waits = wait_words(found["upload_ms"])
    return f"The set takes {knee} uploads/s at the knee and {most} at most. At the knee {waits}; {about_set}."
