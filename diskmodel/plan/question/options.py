"""A plan from options of one line, with or without a plan file, a preset or an existing array beneath them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from diskmodel.array import Array
from diskmodel.drive import load_drive
from diskmodel.errors import DescriptionError, Fault
from diskmodel.layout import Layout
from diskmodel.layout.levels import KINDS
from diskmodel.options import OF_A_PLAN, SEARCH, parse_options
from diskmodel.plan.question.askers import Asker, in_requests, unit_of
from diskmodel.plan.question.description import PlanDescription
from diskmodel.plan.question.draft import Draft, fields_of
from diskmodel.plan.question.existing_array import SHARED, common_layout, left_out
from diskmodel.plan.question.presets import Preset
from diskmodel.plan.question.presets import preset as preset_called
from diskmodel.plan.question.recording import Recording
from diskmodel.plan.question.server import ServerPlan
from diskmodel.plan.question.usual import (
    DEFAULT_DRIVES,
    DEFAULT_LEVELS,
    DEFAULT_LEVELS_OF_A_LOG,
    usual_commit_latency,
    usual_latency,
    usual_load,
)
from diskmodel.units import binary_bytes, in_digits, pretty_bytes
from diskmodel.workload import Stream, Workload, log_of_commits

_Plan = TypeVar("_Plan", PlanDescription, ServerPlan)

_EXAMPLE = "diskmodel plan --iops 8000 --reads 70% --block 8k --capacity 20TB --p99 20ms"
_COMMITS_EXAMPLE = "diskmodel plan --commits 500/s"
_PRESET_EXAMPLE = "diskmodel plan --from preset:{} --iops 2000 --capacity 20TB"


#: Options that describe a load of their own, which no preset does.
_LOAD = {"reads", "block"}


#: What options of one line say, by their keys; only those that were given.
Asked = Mapping[str, Any]


def plan_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of the options of a plan, by key.

    Raises
    ------
    DescriptionError
        With every fault, by the name of its option.
    """
    return parse_options(given, OF_A_PLAN.values(), {"plan": PlanDescription, "stream": Stream, "asker": Asker})


def plan_from(
    asked: Asked,
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
    asked : mapping
        Values of the options (`plan_options`). They win over everything else, field by field.
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
    unit = unit_of(asked)
    if unit is not None and path is None and preset is None and workload is None and not _LOAD & set(asked):
        preset = preset_called(unit.preset)
    if "iops" in asked and "throughput" in asked:
        rule = "is given together with --iops, and both state the load"
        raise DescriptionError(Fault("--throughput", None, rule, "keep one of them"))
    said = []
    if unit is not None:
        n_cameras = asked.get("cameras", 0)
        asked, note = in_requests(unit, asked)
        said.append(note)
    draft = _start(asked, path, preset, workload, recording, is_recorded=is_recorded)
    draft.notes += said
    if unit is not None and unit.key == "cameras" and preset is not None:
        _put_cameras(draft, n_cameras)
    if array is not None:
        _take_array(draft, array)
    if path is None:
        if "workload" not in draft.tables and ("iops" in asked or "throughput" in asked):
            asked, said = usual_load(asked)
            draft.notes += said
        _check_complete(draft, asked, preset)
    _put_workload(draft, asked)
    _put_rate(draft, asked)
    _put_fields(draft, asked, of_objective=True)
    _put_drives(draft, asked, array)
    if path is None:
        _put_usual_latency(draft, asked)
    _put_levels(draft, asked, array)
    _put_fields(draft, asked, of_objective=False)
    draft.tables.setdefault("name", _name_of(draft, preset))
    plan = _parsed(PlanDescription, draft, asked, path)
    if array is not None:
        replaced = (OF_A_PLAN[key].array for key in asked if OF_A_PLAN[key].array)
        # a size replaces a cache with all of its fields
        tables = (place.removesuffix(".size_bytes") for place in replaced)
        draft.notes += left_out(array, plan, tuple(tables))
    return plan, draft.notes


def server_from(asked: Asked, path: Path) -> tuple[ServerPlan, list[str]]:
    """Return the plan in a file with volumes with options on top, and what was replaced, in a line each.

    Raises
    ------
    DescriptionError
        When an option belongs to one workload, or anything breaks a rule.
    """
    fix = f"change it in a volume of {path}"
    faults = [
        Fault(OF_A_PLAN[key].name, value, "describes one workload, and the plan has volumes", fix)
        for key, value in asked.items()
        if OF_A_PLAN[key].stream or OF_A_PLAN[key].plan.startswith("objective.")
    ]
    if faults:
        raise DescriptionError(faults)
    draft = Draft(dict(ServerPlan.load(path)), str(path))
    _put_drives(draft, asked, None)
    _put_levels(draft, asked, None)
    _put_fields(draft, asked, of_objective=False)
    return _parsed(ServerPlan, draft, asked, path), draft.notes


def _parsed(kind: type[_Plan], draft: Draft, asked: Asked, path: Path | None) -> _Plan:
    """Return the plan of a draft; what breaks a rule is named by the option that set it, if one did."""
    try:
        return kind.parse(draft.tables, "" if path is None else str(path))
    except DescriptionError as error:
        names = {OF_A_PLAN[key].place("plan"): OF_A_PLAN[key].name for key in asked}
        faults = [Fault(names.get(one.field, one.field), one.value, one.rule, one.fix) for one in error.faults]
        is_option = all(one.field in names for one in error.faults)
        raise DescriptionError(faults, "" if is_option else error.source) from None


def _start(
    asked: Asked,
    path: Path | None,
    preset: Preset | None,
    workload: Workload | None,
    recording: Recording | None,
    *,
    is_recorded: bool,
) -> Draft:
    """Return the tables beneath the options."""
    if path is not None:
        # an --iops states which rate is meant, so that it may differ from a recorded one
        found = PlanDescription.load(
            path, workload=workload, is_recorded=is_recorded and "iops" not in asked, recording=recording
        )
        return Draft(dict(found), str(path))
    if preset is None:
        return Draft({} if workload is None else {"workload": workload, "recording": recording}, "the workload")
    tables: dict[str, Any] = {name: dict(table) for name, table in preset.fields.items()}
    if workload is not None:
        tables |= {"workload": workload, "recording": recording}
    tables["notes"] = [
        *(f"preset {preset.name}, source: {source}" for source in preset.sources),
        *(f"preset {preset.name}, assumed: {assumption}" for assumption in preset.assumptions),
    ]
    said = [f"preset {preset.name}: {preset.title}; --explain lists its sources and what it assumes"]
    if "write_cache" in tables.get("controller", {}) and _are_cached_in_memory(asked.get("level")):
        tables["controller"] = {key: value for key, value in tables["controller"].items() if key != "write_cache"}
        said.append("the preset's write cache of a RAID controller is left out: OpenZFS writes to its disks itself")
    return Draft(tables, f"preset {preset.name}", said)


def _are_cached_in_memory(levels: Any) -> bool:
    """Return whether all levels that were asked for have the host's memory as their cache, and no controller's."""
    return bool(levels) and all(level in KINDS and Layout.of_level(level).is_cached_in_memory for level in levels)


def _take_array(draft: Draft, array: Array) -> None:
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


def _check_complete(draft: Draft, asked: Asked, preset: Preset | None) -> None:
    """Refuse a question without a file that lacks an essential, naming all that it lacks."""
    has_workload = "workload" in draft.tables
    recorded = draft.tables.get("workload")
    has_rate = isinstance(recorded, Workload) or "iops" in asked or "throughput" in asked
    required: list[tuple[str, bool]] = []
    if has_commits := _asks_for_commits(draft, asked):
        # a recording has its own rate
        required.append(("--commits", isinstance(recorded, Workload) or "commits" in asked))
    if not has_commits or _asks_for_more(draft, asked):
        required += [
            ("--iops or --throughput", has_rate),
            ("--reads", has_workload or "reads" in asked or not asked.get("sequential")),
        ]
    lacking = [option for option, is_there in required if not is_there]
    if not lacking:
        return
    example = _COMMITS_EXAMPLE if has_commits else _EXAMPLE
    if preset is not None and has_commits:
        example = f"diskmodel plan --from preset:{preset.name} --commits 500/s"
    example = example if preset is None or has_commits else _PRESET_EXAMPLE.format(preset.name)
    verb, pronoun = ("is", "it") if len(lacking) == 1 else ("are", "them")
    rule = f"{verb} missing, and there is no plan file to take {pronoun} from"
    raise DescriptionError(Fault(", ".join(lacking), None, rule, f"write for example: {example}"))


def _asks_for_commits(draft: Draft, asked: Asked) -> bool:
    """Whether the question is about a log of commits, or about requests and one."""
    if any(key in asked for key in ("commits", "commit_p99", "record")):
        return True
    return "workload" in draft.tables and Workload.parse(fields_of(draft.tables["workload"])).is_a_log


def _asks_for_more(draft: Draft, asked: Asked) -> bool:
    """Whether a question about commits is about other requests, too."""
    if "workload" in draft.tables:
        return not Workload.parse(fields_of(draft.tables["workload"])).is_a_log
    return any(key in asked for key in ("iops", "throughput", "reads", "block", "sequential", "capacity", "p99"))


def _put_workload(draft: Draft, asked: Asked) -> None:
    if "workload" not in draft.tables:
        streams = []
        has_log = _asks_for_commits(draft, asked)
        if not has_log or _asks_for_more(draft, asked):
            streams = [
                {
                    "name": "data",
                    "sizes": (asked["block"],),
                    "read_ratio": asked["reads"],
                    "rate_per_s": asked["iops"] if "iops" in asked else asked["throughput"] / asked["block"],
                    "addresses": {"pattern": "sequential" if asked.get("sequential") else "uniform"},
                }
            ]
        if has_log:
            log = log_of_commits(rate_per_s=asked["commits"], record_bytes=asked.get("record"), sync=asked.get("sync"))
            streams.append(log)
            if "record" not in asked:
                draft.notes.append(f"no --record: each commit appends {pretty_bytes(log['record_bytes'])} to the log")
            draft.notes.append(
                f"the log takes {pretty_bytes(log['span_bytes'])}, and is written in whole blocks of 4 KiB, each batch "
                f"followed by {asked.get('sync', 'fdatasync')}"
            )
        elif "sync" in asked:
            streams[0]["sync"] = asked["sync"]
        draft.tables["workload"] = {"streams": streams} if has_log else _without(streams[0], "name")
        return
    if "record" in asked or "sync" in asked:
        _put_syncs(draft, asked)
    of_streams = [key for key in ("reads", "block", "sequential") if key in asked]
    if not of_streams:
        return
    stream = _only_stream(draft, of_streams[0], asked)
    if "sequential" in asked:
        _put_addresses(draft, stream, "sequential" if asked["sequential"] else "uniform")
    if "reads" in asked:
        draft.put(stream, "read_ratio", asked["reads"], "--reads")
    if "block" in asked:
        for other in ("size", "size_bytes"):
            if other in stream:
                stream["sizes"] = (stream.pop(other),)
        draft.put(stream, "sizes", (asked["block"],), "--block")


def _without(fields: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if key != name}


def _put_syncs(draft: Draft, asked: Asked) -> None:
    """Set how the streams with commits are made safe, or of a workload without any its only stream."""
    workload = draft.table("workload")
    streams = [fields_of(stream) for stream in workload.get("streams", ())] or [workload]
    if "streams" in workload:
        workload["streams"] = streams
    logs = [stream for stream in streams if stream.get("kind") == "commits"]
    if "record" in asked:
        if not logs:
            rule = f"is about a log of commits, and the workload of {draft.source} has none"
            raise DescriptionError(Fault("--record", None, rule, "leave it out, or add a stream of kind = 'commits'"))
        for stream in logs:
            stream.pop("record", None)
            draft.put(stream, "record_bytes", asked["record"], "--record")
    if "sync" in asked:
        chosen = [
            stream for stream in streams if stream.get("kind") == "commits" or stream.get("sync", "none") != "none"
        ]
        for stream in chosen or [_only_stream(draft, "sync", asked)]:
            draft.put(stream, "sync", asked["sync"], "--sync")


def _put_addresses(draft: Draft, stream: dict[str, Any], pattern: str) -> None:
    """Set where the requests of a stream go, and note which pattern that replaces."""
    before = stream.get("addresses", "uniform")
    before = before if isinstance(before, str) else fields_of(before).get("pattern")
    if before != pattern:
        stream["addresses"] = {"pattern": pattern}
        option = "--sequential" if pattern == "sequential" else "--no-sequential"
        draft.notes.append(f"{option}: {pattern} places replace {before} ones of {draft.source}")


def _only_stream(draft: Draft, key: str, asked: Asked) -> dict[str, Any]:
    """Return the table of the workload's single stream, which may be the workload itself."""
    workload = draft.table("workload")
    if "streams" not in workload:
        return workload
    streams = [fields_of(stream) for stream in workload["streams"]]
    if len(streams) > 1:
        rule = f"is not clear, because the workload of {draft.source} has {len(streams)} streams"
        names = ", ".join(str(stream.get("name", "")) for stream in streams)
        fix = f"leave it out, or save the plan with --save and change the stream there ({names})"
        raise DescriptionError(Fault(OF_A_PLAN[key].name, asked[key] if key == "reads" else None, rule, fix))
    workload["streams"] = streams
    return streams[0]


def _put_throughput(draft: Draft, asked: Asked) -> float:
    """Return the requests per second of the throughput that was asked for, and note what requests these are."""
    workload = Workload.parse(fields_of(draft.tables["workload"]))
    mean = workload.mean_size_bytes
    iops: float = asked["throughput"] / mean
    note = f"--throughput: {in_digits(iops)} requests per second of {binary_bytes(mean)} on average"
    is_random = all(stream.addresses.pattern == "uniform" for stream in workload.streams)
    if is_random and "sequential" not in asked:
        note += (
            ", at random places; files that are read or written from end to end are another question: "
            "--sequential, or --from preset:backup"
        )
    draft.notes.append(note)
    return iops


def _put_rate(draft: Draft, asked: Asked) -> None:
    if "iops" not in asked and "throughput" not in asked:
        return
    iops = asked["iops"] if "iops" in asked else _put_throughput(draft, asked)
    objective, workload = draft.table("objective"), draft.tables["workload"]
    if isinstance(workload, Workload) and "iops" not in objective and not workload.queue_depth:
        offered = workload.offered_rate_per_s
        if abs(iops / offered - 1) > 0.02:
            draft.notes.append(f"--iops: {iops:,.4g} replaces {offered:,.4g}/s of {workload.name}")
    draft.put(objective, "iops", iops, "--iops")


def _put_drives(draft: Draft, asked: Asked, array: Array | None) -> None:
    candidates = draft.table("candidates")
    if "drive" in asked:
        draft.put(candidates, "drives", tuple(load_drive(name) for name in asked["drive"]), "--drive")
        if array is not None:
            # the part that is used of one drive says nothing about another
            draft.tables["layout"] = draft.tables["layout"].model_copy(update={"member_bytes": None})
            if array.drive_write_cache:
                draft.notes.append("--drive: caches writes in the drives, as --array says; not all drives are run so")
    elif "drives" not in candidates:
        candidates["drives"] = tuple(load_drive(name) for name in DEFAULT_DRIVES)
        draft.notes.append(f"no --drive: one of each class is tried: {', '.join(DEFAULT_DRIVES)}")


def _put_usual_latency(draft: Draft, asked: Asked) -> None:
    """Limit the latency of a question that limits none, and say where its data lie if it has no capacity."""
    objective = draft.table("objective")
    is_a_log = Workload.parse(fields_of(draft.tables["workload"])).is_a_log
    has_limits = _limits(objective)
    if not has_limits and _asks_for_commits(draft, asked):
        objective["commit_latency"], note = usual_commit_latency()
        draft.notes.append(note)
    if not has_limits and not is_a_log:
        drives = draft.table("candidates")["drives"]
        is_flash = all((load_drive(one) if isinstance(one, str) else one).kind == "flash" for one in drives)
        objective["latency"], note = usual_latency(is_flash=is_flash)
        draft.notes.append(note)
    if is_a_log:
        return
    if not {"capacity", "capacity_bytes"} & set(objective):
        draft.notes.append("no --capacity: the data fill the disks, however many they are")


def _put_cameras(draft: Draft, cameras: int) -> None:
    """Let each camera of the preset's recorder write a file of its own."""
    workload = draft.table("workload")
    streams = workload["streams"] = [fields_of(stream) for stream in workload.get("streams", ())]
    for stream in streams:
        addresses = fields_of(stream.get("addresses"))
        if stream.get("read_ratio") == 0 and "n_readers" in addresses:
            before = addresses["n_readers"]
            stream["addresses"] = addresses | {"n_readers": cameras}
            draft.tables["notes"] = [
                note.replace(f"{before} cameras", f"{cameras:,} cameras") for note in draft.tables["notes"]
            ]


def _limits(objective: Mapping[str, Any]) -> bool:
    """Whether an objective limits a latency."""
    return any(objective.get(name) for name in ("latency", "commit_latency", "degraded"))


def _put_levels(draft: Draft, asked: Asked, array: Array | None) -> None:
    candidates = draft.table("candidates")
    if "level" in asked:
        draft.put(candidates, "levels", tuple(dict.fromkeys(asked["level"])), "--level")
    elif "levels" not in candidates:
        own = () if array is None else (array.layout.level,)
        usual: tuple[str, ...] = DEFAULT_LEVELS
        if Workload.parse(fields_of(draft.tables["workload"])).is_a_log:
            usual = DEFAULT_LEVELS_OF_A_LOG
        if array is not None:
            usual = array.layout.usual_levels or usual
        candidates["levels"] = tuple(dict.fromkeys((*own, *usual)))
        draft.notes.append(f"no --level: {', '.join(candidates['levels'])} are tried")


def _put_max_disks(draft: Draft, most: int) -> None:
    candidates = draft.table("candidates")
    draft.put(candidates, "max_disks", most, "--max-disks")
    candidates["min_disks"] = min(candidates.get("min_disks", 1), most)
    if candidates.get("disks"):
        candidates["disks"] = tuple(n for n in candidates["disks"] if n <= most)


def _put_cache(draft: Draft, kind: str, option: str, size_bytes: int) -> None:
    controller = draft.table("controller")
    cache = fields_of(controller.get(kind))
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


#: Fields of the layout of all candidates that sizes and devices to choose from replace, as files may spell them.
_IN_LAYOUT = {
    "record_bytes": ("record_bytes", "record"),
    "log_devices": ("log",),
    "special_devices": ("special",),
    "cache_devices": ("cache",),
}


def _put_of_pools(draft: Draft, option: str, name: str, values: tuple[Any, ...]) -> None:
    """Set what is tried of pools, in place of what all candidates have in common."""
    layout = draft.table("layout")
    replaced = [layout.pop(spelling, None) for spelling in _IN_LAYOUT[name]]
    if any(value is not None for value in replaced):
        origin = f" of {draft.source}" if draft.source else ""
        draft.notes.append(f"{option}: replaces the {_IN_LAYOUT[name][-1]}{origin}")
    draft.put(draft.table("candidates"), name, values, option)


#: Options that do more than to set a field, which need the workload or the array, in `_put_workload`, `_put_rate`,
#: `_put_drives` and `_put_levels`; and those that need only their value.
_WITH_OTHERS = ("iops", "throughput", "reads", "block", "sequential", "record", "sync", "drive", "level")
_ALONE: dict[str, Callable[[Draft, Any], None]] = {
    "max_disks": _put_max_disks,
    "write_cache": lambda draft, size: _put_cache(draft, "write_cache", "--write-cache", size),
    "read_cache": lambda draft, size: _put_cache(draft, "read_cache", "--read-cache", size),
    "record_size": lambda draft, sizes: _put_of_pools(draft, "--record-size", "record_bytes", sizes),
    "log_device": lambda draft, names: _put_of_pools(draft, "--log-device", "log_devices", names),
    "special_device": lambda draft, names: _put_of_pools(draft, "--special-device", "special_devices", names),
    "cache_device": lambda draft, names: _put_of_pools(draft, "--cache-device", "cache_devices", names),
}


def _put_fields(draft: Draft, asked: Asked, *, of_objective: bool) -> None:
    """Set the fields of all other options where they are declared to be: those of the objective, or all others.

    What says how the answer is looked for changes no question, so that no note names it.
    """
    others = [OF_A_PLAN[key] for key in asked if key not in _WITH_OTHERS]
    for option in sorted(others, key=lambda option: option.plan.count(".")):
        *tables, name = option.plan.split(".")
        if (tables[:1] == ["objective"]) != of_objective:
            continue
        value = asked[option.key]
        if option.key in _ALONE:
            _ALONE[option.key](draft, value)
        elif option in SEARCH:
            draft.table(*tables)[name] = value
        else:
            draft.put(draft.table(*tables), name, value, option.name)


def _name_of(draft: Draft, preset: Preset | None) -> str:
    if preset is not None:
        return preset.title
    workload = Workload.parse(fields_of(draft.tables["workload"]))
    iops = draft.table("objective").get("iops")
    if iops is not None and not workload.queue_depth and not workload.has_syncs:
        workload = workload.scaled(iops / workload.offered_rate_per_s)
    said = "; ".join(stream.in_words() for stream in workload.streams)
    if iops is None or not workload.is_in_bytes:
        return said
    return f"{said} ({in_digits(iops * workload.mean_size_bytes / 1e6)} MB/s)"
