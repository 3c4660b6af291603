"""A plan from options of one line, with or without a plan file, a preset or an existing array beneath them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field

from diskmodel.array import Array
from diskmodel.description import Description
from diskmodel.drive import load_drive
from diskmodel.errors import DescriptionError, Fault
from diskmodel.layout.description import Level
from diskmodel.plan.question.description import PlanDescription
from diskmodel.plan.question.existing_array import SHARED, common_layout, left_out
from diskmodel.plan.question.presets import Preset
from diskmodel.plan.question.recording import Recording
from diskmodel.plan.question.server import ServerPlan
from diskmodel.units import (
    SUFFIXES,
    Bytes,
    BytesPerSecond,
    Length,
    Nanoseconds,
    PerSecond,
    Ratio,
    pretty_bytes,
    pretty_ns,
)
from diskmodel.workload import Workload

#: Candidates of a question that names no drive: one of each class that is on sale, nearline at 7,200 rpm, SAS at
#: 10,000 rpm, and flash.
DEFAULT_DRIVES = ("seagate-exos-x16", "seagate-exos-10e2400-2400", "micron-7450-pro-1920")
#: Candidates of a question that names no level: those that controllers offer for more than two disks.
DEFAULT_LEVELS = ("raid10", "raid5", "raid6")

#: Fields of `PlanOptions` that a plan with volumes has in each volume.
_OF_ONE_WORKLOAD = (
    "iops",
    "throughput_bytes_per_s",
    "read_ratio",
    "size_bytes",
    "sequential",
    "capacity_bytes",
    "p99_ns",
    "fill_limit_ratio",
)

_EXAMPLE = "diskmodel plan --iops 8000 --reads 70% --block 8k --capacity 20TB --p99 20ms"
_PRESET_EXAMPLE = "diskmodel plan --from preset:{} --iops 2000 --capacity 20TB"


def _plain_number(value: object) -> object:
    """A rate without a unit is a number; numbers of an option arrive as text."""
    if isinstance(value, str):
        try:
            return float(value.replace(",", "").replace("_", ""))
        except ValueError:
            return value
    return value


class PlanOptions(Description):
    """What one line says about a plan; everything may be left out.

    Attributes
    ----------
    iops : float or None, per second
    throughput_bytes_per_s : float or None
        Instead of `iops`.
    read_ratio : float or None
    size_bytes : int or None
        Of every request.
    sequential : bool or None
        Whether requests go through the data in order. None: as the workload says; without one, at random places.
    capacity_bytes : int or None
        Data to be stored.
    p99_ns : int or None
    fill_limit_ratio : float or None
    drives : tuple of str
        Names in the catalogue, or profiles.
    levels : tuple of str
    max_disks : int or None
    write_cache_bytes, read_cache_bytes : int or None
        Of the controller; 0: none.
    engine : str or None
    seed : int or None
    """

    iops: Annotated[PerSecond, BeforeValidator(_plain_number)] | None = None
    throughput_bytes_per_s: BytesPerSecond | None = None
    read_ratio: Ratio | None = None
    size_bytes: Length | None = None
    sequential: bool | None = None
    capacity_bytes: Bytes | None = Field(default=None, gt=0)
    p99_ns: Nanoseconds | None = None
    fill_limit_ratio: Ratio | None = None
    drives: tuple[str, ...] = ()
    levels: tuple[Level, ...] = ()
    max_disks: int | None = Field(default=None, ge=1, le=10_000)
    write_cache_bytes: Bytes | None = None
    read_cache_bytes: Bytes | None = None
    engine: str | None = None
    seed: int | None = Field(default=None, ge=0)

    @classmethod
    def parse(cls, data: Mapping[str, Any], source: str = "") -> PlanOptions:
        """Return the options in `data`.

        Raises
        ------
        DescriptionError
            With every fault, by the name of its option.
        """
        try:
            return super().parse(data, source)
        except DescriptionError as error:
            faults = [Fault(_option(f.field), f.value, f.rule, f.fix) for f in error.faults]
            raise DescriptionError(faults, source) from None


#: Options about the requests of a single stream, and their fields.
_OF_STREAMS = {"--reads": "read_ratio", "--block": "size_bytes", "--sequential": "sequential"}

#: Names of options that differ from those of their fields.
_OPTIONS = {
    "read_ratio": "--reads",
    "size_bytes": "--block",
    "drives": "--drive",
    "levels": "--level",
}


def _option(name: str) -> str:
    """Return the option of a field of `PlanOptions`, which may be followed by the place in a list."""
    first = name.partition(".")[0]
    if first in _OPTIONS:
        return _OPTIONS[first]
    short = next((first.removesuffix(end) for end in SUFFIXES if first.endswith(end)), first)
    return "--" + short.replace("_", "-")


@dataclass
class _Draft:
    """A plan that is being put together.

    Attributes
    ----------
    tables : dict
        Fields of the plan, its tables as dicts or descriptions.
    source : str
        Where the tables come from, for notes.
    notes : list of str
        What was replaced, or taken because nothing was said.
    origins : dict of str to str
        Where fields and tables come from that are not from `source`.
    """

    tables: dict[str, Any]
    source: str = ""
    notes: list[str] = field(default_factory=list)
    origins: dict[str, str] = field(default_factory=dict)

    def table(self, *names: str) -> dict[str, Any]:
        """Return a table that can be changed, made from a description where it was one."""
        at = self.tables
        for name in names:
            at[name] = _fields(at.get(name))
            at = at[name]
        return at

    def put(self, table: dict[str, Any], name: str, value: Any, option: str) -> None:
        """Set a field, and note which value it replaces."""
        spellings = [name, *(name.removesuffix(end) for end in SUFFIXES if name.endswith(end))]
        old = [table.pop(spelling) for spelling in spellings if spelling in table]
        table[name] = value
        before, now = (_shown(name, old[0]) if old else "", _shown(name, value))
        if before not in ("", now):
            origin = self.origins.get(name, self.source)
            self.notes.append(f"{option}: {now} replaces {before}{f' of {origin}' if origin else ''}")


def plan_from(
    options: PlanOptions,
    *,
    path: Path | None = None,
    preset: Preset | None = None,
    array: Array | None = None,
    workload: Workload | None = None,
    is_recorded: bool = False,
    recording: Recording | None = None,
) -> tuple[PlanDescription, list[str]]:
    """Return the plan that options describe, and what was replaced or assumed, in a line each.

    Parameters
    ----------
    options : PlanOptions
        Win over everything else, field by field.
    path : Path, optional
        A complete plan file.
    preset : Preset, optional
        Instead of the file.
    array : Array, optional
        An array that exists. Candidates have all of it that their level and size can have; a note names the rest.
    workload : Workload, optional
        Instead of the file's or the preset's.
    is_recorded : bool
        Whether that workload comes from a recording.
    recording : Recording, optional
        The recording that it was made from.

    Raises
    ------
    DescriptionError
        When essentials are missing, or anything breaks a rule.
    """
    if path is not None and preset is not None:
        rule = "cannot start from a plan file and a preset at the same time"
        raise DescriptionError(Fault("--from", f"preset:{preset.name}", rule, f"leave out {path}, or --from"))
    if options.iops is not None and options.throughput_bytes_per_s is not None:
        rule = "is given together with --iops, and both state the load"
        raise DescriptionError(Fault("--throughput", None, rule, "keep one of them"))
    draft = _start(options, path, preset, workload, recording, is_recorded=is_recorded)
    if array is not None:
        _take_array(draft, array)
    if path is None:
        _check_complete(draft, options, preset)
    _put_workload(draft, options)
    _put_objective(draft, options)
    _put_candidates(draft, options, array)
    _put_search(draft, options)
    draft.tables.setdefault("name", _name_of(draft, preset))
    plan = PlanDescription.parse(draft.tables, "" if path is None else str(path))
    if array is not None:
        caches = {"write_cache": options.write_cache_bytes, "read_cache": options.read_cache_bytes}
        replaced = tuple(f"controller.{name}" for name, size in caches.items() if size is not None)
        draft.notes += left_out(array, plan, replaced)
    return plan, draft.notes


def server_from(options: PlanOptions, path: Path) -> tuple[ServerPlan, list[str]]:
    """Return the plan in a file with volumes with options on top, and what was replaced, in a line each.

    Raises
    ------
    DescriptionError
        When an option belongs to one workload, or anything breaks a rule.
    """
    fix = f"change it in a volume of {path}"
    faults = [
        Fault(_option(name), getattr(options, name), "describes one workload, and the plan has volumes", fix)
        for name in _OF_ONE_WORKLOAD
        if getattr(options, name) is not None
    ]
    if faults:
        raise DescriptionError(faults)
    draft = _Draft(dict(ServerPlan.load(path)), str(path))
    _put_candidates(draft, options, None)
    _put_search(draft, options)
    return ServerPlan.parse(draft.tables, str(path)), draft.notes


def _put_search(draft: _Draft, options: PlanOptions) -> None:
    for name in ("engine", "seed"):
        value = getattr(options, name)
        if value is not None:
            draft.table("search")[name] = value


def _start(
    options: PlanOptions,
    path: Path | None,
    preset: Preset | None,
    workload: Workload | None,
    recording: Recording | None,
    *,
    is_recorded: bool,
) -> _Draft:
    """Return the tables beneath the options."""
    if path is not None:
        # an --iops states which rate is meant, so that it may differ from a recorded one
        found = PlanDescription.load(
            path, workload=workload, is_recorded=is_recorded and options.iops is None, recording=recording
        )
        return _Draft(dict(found), str(path))
    if preset is None:
        return _Draft({} if workload is None else {"workload": workload, "recording": recording}, "the workload")
    tables: dict[str, Any] = {name: dict(table) for name, table in preset.fields.items()}
    if workload is not None:
        tables |= {"workload": workload, "recording": recording}
    tables["notes"] = [
        *(f"preset {preset.name}, source: {source}" for source in preset.sources),
        *(f"preset {preset.name}, assumed: {assumption}" for assumption in preset.assumptions),
    ]
    return _Draft(tables, f"preset {preset.name}")


def _take_array(draft: _Draft, array: Array) -> None:
    """Make the candidates of an array that exists."""
    candidates, layout = draft.table("candidates"), array.layout
    draft.put(candidates, "drives", (array.drive,), "--array")
    draft.put(candidates, "strip_bytes", (layout.strip_bytes,), "--array")
    draft.put(candidates, "spares", layout.spares, "--array")
    if layout.n_groups > 1:
        candidates["groups"] = (layout.n_groups,)
    if layout.rebuild is not None:
        # what goes on, on which disk, and how far, is the state of an array and not a description of one
        state = {"action": "recover", "disk": None, "done_ratio": 0.0}
        candidates["rebuild"] = layout.rebuild.model_copy(update=state)
    ours = {name: getattr(array, name) for name in SHARED} | {"layout": common_layout(layout)}
    for name, value in ours.items():
        if name in draft.tables and draft.tables[name] not in (value, PlanDescription.model_fields[name].default):
            draft.notes.append(f"--array: its {name} replaces that of {draft.source}")
        draft.tables[name] = value
    origin = f"array {array.name}" if array.name else "the array"
    draft.origins |= dict.fromkeys(("drives", "strip_bytes", "spares", "size_bytes"), origin)


def _check_complete(draft: _Draft, options: PlanOptions, preset: Preset | None) -> None:
    """Refuse a question without a file that lacks an essential, naming all that it lacks."""
    has_workload = "workload" in draft.tables
    recorded = draft.tables.get("workload")
    has_rate = isinstance(recorded, Workload) or options.iops is not None or options.throughput_bytes_per_s is not None
    has_limit = bool(_fields(draft.tables.get("objective")).get("latency"))
    lacking = [
        option
        for option, is_there in (
            ("--iops or --throughput", has_rate),
            ("--reads", has_workload or options.read_ratio is not None),
            ("--block", has_workload or options.size_bytes is not None),
            ("--capacity", options.capacity_bytes is not None),
            ("--p99", has_limit or options.p99_ns is not None),
        )
        if not is_there
    ]
    if not lacking:
        return
    example = _EXAMPLE if preset is None else _PRESET_EXAMPLE.format(preset.name)
    verb, pronoun = ("is", "it") if len(lacking) == 1 else ("are", "them")
    rule = f"{verb} missing, and there is no plan file to take {pronoun} from"
    raise DescriptionError(Fault(", ".join(lacking), None, rule, f"write for example: {example}"))


def _put_workload(draft: _Draft, options: PlanOptions) -> None:
    if "workload" not in draft.tables:
        rate = options.iops
        if rate is None:
            assert options.throughput_bytes_per_s is not None
            assert options.size_bytes is not None
            rate = options.throughput_bytes_per_s / options.size_bytes
        draft.tables["workload"] = {
            "sizes": (options.size_bytes,),
            "read_ratio": options.read_ratio,
            "rate_per_s": rate,
            "addresses": {"pattern": "sequential" if options.sequential else "uniform"},
        }
        return
    if all(getattr(options, name) is None for name in _OF_STREAMS.values()):
        return
    stream = _only_stream(draft, options)
    if options.sequential is not None:
        _put_addresses(draft, stream, "sequential" if options.sequential else "uniform")
    if options.read_ratio is not None:
        draft.put(stream, "read_ratio", options.read_ratio, "--reads")
    if options.size_bytes is not None:
        for other in ("size", "size_bytes"):
            if other in stream:
                stream["sizes"] = (stream.pop(other),)
        draft.put(stream, "sizes", (options.size_bytes,), "--block")


def _put_addresses(draft: _Draft, stream: dict[str, Any], pattern: str) -> None:
    """Set where the requests of a stream go, and note which pattern that replaces."""
    before = stream.get("addresses", "uniform")
    before = before if isinstance(before, str) else _fields(before).get("pattern")
    if before != pattern:
        stream["addresses"] = {"pattern": pattern}
        option = "--sequential" if pattern == "sequential" else "--no-sequential"
        draft.notes.append(f"{option}: {pattern} places replace {before} ones of {draft.source}")


def _only_stream(draft: _Draft, options: PlanOptions) -> dict[str, Any]:
    """Return the table of the workload's single stream, which may be the workload itself."""
    workload = draft.table("workload")
    if "streams" not in workload:
        return workload
    streams = [_fields(stream) for stream in workload["streams"]]
    if len(streams) > 1:
        option = next(option for option, name in _OF_STREAMS.items() if getattr(options, name) is not None)
        value = options.read_ratio if option == "--reads" else None
        rule = f"is not clear, because the workload of {draft.source} has {len(streams)} streams"
        names = ", ".join(str(stream.get("name", "")) for stream in streams)
        fix = f"leave it out, or save the plan with --save and change the stream there ({names})"
        raise DescriptionError(Fault(option, value, rule, fix))
    workload["streams"] = streams
    return streams[0]


def _put_objective(draft: _Draft, options: PlanOptions) -> None:
    objective = draft.table("objective")
    iops = options.iops
    if options.throughput_bytes_per_s is not None:
        workload = Workload.parse(_fields(draft.tables["workload"]))
        mean = workload.mean_size_bytes
        iops = options.throughput_bytes_per_s / mean
        note = f"--throughput: {iops:,.4g} requests per second of {mean / 1024:,.4g} KiB on average"
        is_random = all(stream.addresses.pattern == "uniform" for stream in workload.streams)
        if is_random and options.sequential is None:
            note += (
                ", at random places; files that are read or written from end to end are another question: "
                "--sequential, or --from preset:backup"
            )
        draft.notes.append(note)
    workload = draft.tables["workload"]
    recorded = workload if isinstance(workload, Workload) and "iops" not in objective else None
    if iops is not None:
        if recorded is not None and not recorded.queue_depth and abs(iops / recorded.offered_rate_per_s - 1) > 0.02:
            draft.notes.append(f"--iops: {iops:,.4g} replaces {recorded.offered_rate_per_s:,.4g}/s of {recorded.name}")
        draft.put(objective, "iops", iops, "--iops")
    for name, value in (("capacity_bytes", options.capacity_bytes), ("fill_limit_ratio", options.fill_limit_ratio)):
        if value is not None:
            draft.put(objective, name, value, _option(name))
    if options.p99_ns is not None:
        draft.put(draft.table("objective", "latency"), "p99_ns", options.p99_ns, "--p99")


def _put_candidates(draft: _Draft, options: PlanOptions, array: Array | None) -> None:
    candidates = draft.table("candidates")
    if options.drives:
        draft.put(candidates, "drives", tuple(load_drive(name) for name in options.drives), "--drive")
        if array is not None:
            # the part that is used of one drive says nothing about another
            draft.tables["layout"] = draft.tables["layout"].model_copy(update={"member_bytes": None})
            if array.drive_write_cache:
                draft.notes.append("--drive: caches writes in the drives, as --array says; not all drives are run so")
    elif "drives" not in candidates:
        candidates["drives"] = tuple(load_drive(name) for name in DEFAULT_DRIVES)
        draft.notes.append(f"no --drive: one of each class is tried: {', '.join(DEFAULT_DRIVES)}")
    if options.levels:
        draft.put(candidates, "levels", tuple(dict.fromkeys(options.levels)), "--level")
    elif "levels" not in candidates:
        own = () if array is None else (array.layout.level,)
        candidates["levels"] = tuple(dict.fromkeys((*own, *DEFAULT_LEVELS)))
        draft.notes.append(f"no --level: {', '.join(candidates['levels'])} are tried")
    if options.max_disks is not None:
        draft.put(candidates, "max_disks", options.max_disks, "--max-disks")
        candidates["min_disks"] = min(candidates.get("min_disks", 1), options.max_disks)
        if candidates.get("disks"):
            candidates["disks"] = tuple(n for n in candidates["disks"] if n <= options.max_disks)
    for kind, size in (("write_cache", options.write_cache_bytes), ("read_cache", options.read_cache_bytes)):
        if size is not None:
            _put_cache(draft, kind, size)


def _put_cache(draft: _Draft, kind: str, size_bytes: int) -> None:
    controller = draft.table("controller")
    option = "--" + kind.replace("_", "-")
    cache = _fields(controller.get(kind))
    if not size_bytes:
        if cache:
            origin = draft.origins.get("size_bytes", draft.source)
            draft.notes.append(f"{option}: the {kind.replace('_', ' ')} of {origin} is left out")
        controller[kind] = None
    else:
        if cache.pop("hit_ratio", None) is not None:
            origin = draft.origins.get("size_bytes", draft.source)
            draft.notes.append(f"{option}: {pretty_bytes(size_bytes)} replaces the hit ratio of {origin}")
        draft.put(cache, "size_bytes", size_bytes, option)
        controller[kind] = cache
    if kind == "read_cache":
        draft.table("candidates").pop("cache_bytes", None)


def _name_of(draft: _Draft, preset: Preset | None) -> str:
    if preset is not None:
        return preset.title
    workload = Workload.parse(_fields(draft.tables["workload"]))
    iops = draft.table("objective").get("iops")
    if iops is not None and not workload.queue_depth:
        workload = workload.scaled(iops / workload.offered_rate_per_s)
    return "; ".join(stream.in_words() for stream in workload.streams)


def _fields(value: Any) -> dict[str, Any]:
    """Return the fields of a description or a table as a dict of their own."""
    return dict(value) if isinstance(value, BaseModel | Mapping) else {}


def _shown(name: str, value: Any) -> str:
    """Return a value as a note gives it."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(_shown(name.replace("sizes", "size_bytes"), item) for item in value)
    if isinstance(value, BaseModel):
        return str(getattr(value, "name", "") or _shown("size_bytes", getattr(value, "size_bytes", "")))
    if isinstance(value, Mapping):
        return _shown("size_bytes", value.get("size_bytes", value.get("size", "")))
    if isinstance(value, int | float):
        if name.endswith("_bytes"):
            return pretty_bytes(int(value))
        if name.endswith("_ns"):
            return pretty_ns(int(value))
        return f"{value:.0%}" if name.endswith("_ratio") else f"{value:,.6g}"
    return "" if value is None else str(value)
