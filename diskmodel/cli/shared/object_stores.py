"""`--uploads`: the drive that stands for an erasure set under an object store, its load, and how long uploads take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from diskmodel.cli.shared.inputs import LoadOptions, check_room
from diskmodel.errors import DescriptionError, Fault

if TYPE_CHECKING:
    from diskmodel.array import Array
    from diskmodel.result import Result
    from diskmodel.workload import Workload

#: Requests of the run that says how long an upload waits, beside an answer about something else.
_N_REQUESTS = 8_000
#: Options of one stream that uploads go without; the size of an object is that of a request.
_REPLACED = ("iops", "throughput", "reads", "sequential", "commits", "record", "sync")
_FIX = 'write for example "12x seagate-exos-x18, erasure 8+4" --uploads 15/s --block 500k'


def set_under_uploads(
    array: Array, rate: str, stream: Mapping[str, Any], *, has_other_load: bool
) -> tuple[Array, Workload, str]:
    """Return one drive of the set, its workload, and what to say of both.

    Parameters
    ----------
    array : Array
        The set: an erasure code.
    rate : str
        Uploads per second to the set, as the option has it.
    stream : mapping
        Values of the options of one stream.
    has_other_load : bool
        Whether a workload or clients that wait are given, too.

    Raises
    ------
    DescriptionError
        When the array is no erasure code, the size of objects is missing, or another load is stated.
    """
    from diskmodel.array import Array
    from diskmodel.units import pretty_bytes
    from diskmodel.workload import Workload, uploads

    layout = array.layout
    if layout.level != "erasure" or layout.failed:
        rule = f"is about an erasure set that is whole, and this is {array.title}"
        raise DescriptionError(Fault("--uploads", rate, rule, _FIX))
    others = [f"--{name}" for name in _REPLACED if stream.get(name) not in (None, False)]
    if others or has_other_load:
        what = others[0] if others else "--workload, --queue-depth or --replay"
        raise DescriptionError(Fault("--uploads", rate, f"cannot be combined with {what}", f"leave one out; {_FIX}"))
    if not stream.get("block"):
        raise DescriptionError(Fault("--block", None, "is required with --uploads: the size of an object", _FIX))
    asked = {"rate": rate if rate.strip().endswith("s") else f"{rate}/s", "size": stream["block"]}
    if span := stream.get("span") or stream.get("capacity"):
        check_room(LoadOptions(stream=stream), [array])
        asked["span"] = span
    try:
        request = Workload.parse({"read_ratio": 0.0, **asked}).streams[0]
        n_bytes = round(request.mean_size_bytes)
        fields = uploads(request.expected_rate_per_s, n_bytes, layout.data_strips)
        if request.span_bytes is not None:
            # objects' bytes, of which each drive has its part
            fields["span_bytes"] = -(-request.span_bytes // layout.data_strips)
        load = Workload.parse(fields)
    except DescriptionError as error:
        raise DescriptionError([_by_option(fault) for fault in error.faults]) from None
    alone = {"level": "jbod", "disks": 1}
    name = f"one drive of {array.name or array.title}"
    drive = Array.parse({**dict(array), "name": name, "layout": alone}, name)
    n = layout.data_strips + layout.parity_strips
    named = load.model_copy(
        update={"name": f"{request.expected_rate_per_s:g} uploads/s of {pretty_bytes(n_bytes)} to {n} such drives"}
    )
    said = (
        f"all {n} drives of a set do the same for each upload, so that one stands for all; each has its own file "
        f"system (XFS), and an upload is {load.offered_rate_per_s / request.expected_rate_per_s:.0f} requests to it. "
        "An upload waits for its data, then for its metadata, on most of the drives"
    )
    return drive, named, said


def _by_option(fault: Fault) -> Fault:
    """Name the option that a fault of the workload comes from."""
    named = {"rate": "--uploads", "size": "--block", "span": "--span"}
    option = next((name for part, name in named.items() if part in fault.field), fault.field)
    return replace(fault, field=option)


def sets_under_uploads(
    arrays: Sequence[Array], rate: str, stream: Mapping[str, Any], *, has_other_load: bool
) -> tuple[list[Array], Workload, str]:
    """Return the same of several sets: one drive of each, under the load that all have.

    Raises
    ------
    DescriptionError
        As above, and when objects are divided between different numbers of drives, so that these have other loads.
    """
    found = [set_under_uploads(array, rate, stream, has_other_load=has_other_load) for array in arrays]
    if len({array.layout.data_strips for array in arrays}) > 1:
        rule = "makes drives of these sets do different things, since objects are divided into other parts"
        raise DescriptionError(Fault("--uploads", rate, rule, "compare sets with as many data drives, or ask capacity"))
    return [drive for drive, _, _ in found], found[0][1], found[0][2]


def uploads_per_s(load: Workload) -> float:
    """Return the uploads per second that a load of one drive stands for."""
    from diskmodel.workload import METADATA

    return next(stream.expected_rate_per_s for stream in load.streams if stream.name == METADATA)


def waits_ms(result: Result) -> dict[str, float]:
    """Return how long an upload waits for each of its files on one drive, one after the other: means, ms."""
    from diskmodel.workload import AWAITED

    return {name: float(result.per_stream[name].mean) for name in AWAITED if name in result.per_stream}


def simulated_waits_ms(drive: Array, load: Workload, seed: int) -> dict[str, float]:
    """Return the same of a short run; nan where the drive is overloaded."""
    from diskmodel.engine.simulate import simulate

    return waits_ms(simulate(drive, load, n_requests=_N_REQUESTS, profile_draws=0, seed=seed))


def wait_words(found: Mapping[str, float]) -> str:
    """Return these as a clause.

    Examples
    --------
    >>> wait_words({"data": 50.0, "xl.meta": 45.0})
    'an upload waits 95 ms on a drive on average, for data 50 and for xl.meta 45'
    >>> wait_words({"xl.meta": 45.0})
    'an upload waits 45 ms on a drive on average, for xl.meta'
    """
    from diskmodel.units import in_digits

    total = in_digits(sum(found.values()))
    if total == "nan":
        return "uploads wait ever longer"
    parts = [f"for {name} {in_digits(ms)}" for name, ms in found.items()]
    parts = parts if len(parts) > 1 else [f"for {name}" for name in found]
    return f"an upload waits {total} ms on a drive on average, {' and '.join(parts)}"
