"""What commands read: arrays and workloads, with the options that change them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from diskmodel.errors import DescriptionError, Fault, FormatError
from diskmodel.loading import dataclass
from diskmodel.options import (
    ARRAY,
    BLOCK,
    LEVEL,
    STREAM,
    SYNC,
    THROUGHPUT,
    USUAL_LOAD,
    USUAL_STREAM,
    parse_options,
    percent,
    set_field,
)

if TYPE_CHECKING:
    from diskmodel.array import Array
    from diskmodel.workload import TraceWorkload, Workload


def read_array(given: str, drive: str | None = None, changes: Mapping[str, Any] | None = None) -> Array:
    """The array in a file or in words ("8x generic-15k raid5"), with another drive where one is named.

    A file may also be what a program shows of an array: mdstat, storcli, zpool status and their like.

    Parameters
    ----------
    given : str
    drive : str, optional
    changes : mapping, optional
        Values of the options `diskmodel.options.ARRAY`, which replace what the file or the words state.

    Raises
    ------
    DescriptionError
        With every fault of the file or the profile.
    """
    from diskmodel.array import Array
    from diskmodel.drive import load_drive
    from diskmodel.layout import level_name
    from diskmodel.wording import with_level

    is_path = len(given.split()) == 1 and (os.sep in given or bool(Path(given).suffix))
    # in "1x ./my disk.toml" the file is that of a drive
    has_number = re.match(r"\d+ *[x×] ", given, re.ASCII) is not None
    is_file = Path(given).exists() or is_path or (Path(given).suffix == ".toml" and not has_number)
    changes = dict(changes or {})
    if not is_file and (level := changes.pop(LEVEL.key, None)):
        given = with_level(given, level)
    described = _described(Path(given), drive) if is_file else None
    if described is not None:
        array, drive = described, None
    else:
        array = Array.load(given) if is_file else Array.from_words(given)
    if (level := changes.get(LEVEL.key)) and level_name(level) != array.layout.level:
        array = array.model_copy(update={"name": f"{array.name or Path(given).stem}, {level}"})
    if drive is not None:
        other = array.drive.replaced_by(load_drive(drive))
        array = Array.parse({**dict(array), "drive": other}, f"{given} with drive {drive}")
    return with_options(array, changes, given)


def read_arrays(given: Iterable[str], drive: str | None, changes: Mapping[str, Any]) -> list[Array]:
    """Return the arrays in files or words, each with every level that is asked about.

    Raises
    ------
    DescriptionError
        As `read_array`.
    """
    levels = changes.get(LEVEL.key) or [None]
    return [read_array(one, drive, {**changes, LEVEL.key: level}) for one in given for level in levels]


def _described(path: Path, drive: str | None) -> Array | None:
    """Return the array that a program's output shows; None for a description.

    Raises
    ------
    DescriptionError
        When the output does not show the drive, and none is named.
    """
    if path.suffix == ".toml" or not path.is_file():
        return None
    from diskmodel.cli.shared.console import say
    from diskmodel.formats import READERS, read_described, read_head
    from diskmodel.formats.arrays import kind_of
    from diskmodel.formats.pools import kind_of as kind_of_pool

    text = read_head(path).decode("utf-8", errors="replace").replace("\r\n", "\n")
    if kind_of_pool(text) not in READERS and kind_of(text) is None:
        return None
    found = read_described([path], drive=drive)
    if found.array is None:
        fix = f"name it with --drive, or make the array's file: diskmodel array {path} --drive NAME --out array.toml"
        raise DescriptionError(Fault("array", str(path), "does not show the drive", fix))
    for note in found.notes:
        say(f"{path}: {note}")
    return found.array


def with_options(array: Array, changes: Mapping[str, Any], source: str) -> Array:
    """Return an array with the fields that options set.

    Raises
    ------
    DescriptionError
        With every fault, by the name of the option; of the array with the options where they do not fit it.
    """
    from diskmodel.array import Array

    asked = parse_options(changes, ARRAY, {"array": Array})
    if not asked:
        return array
    fields: dict[str, Any] = dict(array)
    for option in ARRAY:
        if option.key in asked:
            set_field(fields, option.array, asked[option.key])
    return Array.parse(fields, f"{source} with {', '.join(o.name for o in ARRAY if o.key in asked)}")


@dataclass(frozen=True)
class LoadOptions:
    """The load as the options of a command state it: a file, or one stream of requests of one size.

    Attributes
    ----------
    path : Path, optional
        A description, or a recording.
    queue_depth : int, optional
        Outstanding requests of closed clients.
    stream : mapping of str to str, bool or None
        Values of the options `diskmodel.options.STREAM`: the one stream, instead of a file.
    percentile, device, format : str, optional
        What of a recording is meant, and how it is read.
    """

    path: Path | None = None
    queue_depth: int | None = None
    stream: Mapping[str, Any] = field(default_factory=dict)
    percentile: str | None = None
    device: str | None = None
    format: str | None = None

    def of_stream(self) -> dict[str, str]:
        """Return the options of the stream that were given, by name; a switch that is on as an empty text."""
        given = {option.name: self.stream.get(option.key) for option in STREAM}
        return {name: "" if value is True else value for name, value in given.items() if value not in (None, False)}

    def workload(self, notes: list[str] | None = None) -> Workload:
        """Return the workload of the stream; what is assumed of it goes to standard error, and into `notes`.

        Raises
        ------
        DescriptionError
            When an option is missing or breaks a rule.
        """
        from diskmodel.workload import Workload

        given, depth = self.of_stream(), self.queue_depth
        if "--commits" in given or "--record" in given:
            return self._commits(given, notes)
        rates = [name for name in ("--iops", THROUGHPUT.name) if name in given]
        if len(rates) + (depth is not None) > 1:
            both = ", ".join([*rates, *(["--queue-depth"] if depth is not None else [])])
            fix = "keep one: a rate, or clients that wait for their answers"
            raise DescriptionError(Fault(both, None, "both state the load", fix))
        if not rates and depth is None:
            fix = (
                "write for example --iops 500 --reads 70% --block 8k, or give a file with --workload; `diskmodel "
                "capacity` finds the rate that an array can carry"
            )
            raise DescriptionError(Fault("--iops or --queue-depth", None, "is required without a workload file", fix))
        given = with_usual(given, notes)
        load: dict[str, Any] = {"clients": depth} if depth is not None else {"rate": _rate_of(given)}
        for name, key in (("--span", "span"), ("--capacity", "span"), ("--sync", "sync")):
            if name in given:
                load[key] = given[name]
        if "--sequential" in given:
            load["addresses"] = {"pattern": "sequential"}
        if "--span" in given and "--capacity" in given:
            fix = "keep one of them"
            raise DescriptionError(Fault("--capacity", given["--capacity"], "says the same as --span", fix))
        try:
            found = Workload.parse({"read_ratio": percent(given["--reads"]), "size": given["--block"], **load})
        except DescriptionError as error:
            raise DescriptionError([self._by_option(fault) for fault in error.faults]) from None
        return found.model_copy(update={"name": found.streams[0].in_words()})

    def _commits(self, given: Mapping[str, str], notes: list[str] | None) -> Workload:
        """Return the workload of a log, alone or beside requests."""
        from diskmodel.workload import Workload, log_of_commits

        depth, beside = self.queue_depth, [name for name in _OF_DATA if name in given]
        rate = given.get("--commits", "")
        log: dict[str, Any] = {"rate": _rate(rate)}
        if not rate and (depth is None or beside):
            fix = "write for example --commits 500/s, or --record 512B --queue-depth 64 alone for clients that wait"
            raise DescriptionError(Fault("--commits", None, "is required for a log of commits", fix))
        if not rate:
            log = {"clients": depth}
        elif depth is not None:
            fix = "keep one: a rate, or clients that wait until their commits are safe"
            raise DescriptionError(Fault("--commits, --queue-depth", None, "both state the load", fix))
        log |= {"record": given.get("--record"), "sync": given.get("--sync")}
        streams: list[dict[str, Any]] = []
        if beside:
            others = ("--commits", "--record", "--sync")
            stream = {option.key: self.stream[option.key] for option in STREAM if option.name in given}
            data = replace(self, stream={key: text for key, text in stream.items() if f"--{key}" not in others})
            streams = [dict(one) | {"name": "data"} for one in data.workload(notes).streams]
        elif span := given.get("--span", given.get("--capacity")):
            log |= {"span": span}
        try:
            found = Workload.parse({"streams": [*streams, log_of_commits(**log)]})
        except DescriptionError as error:
            raise DescriptionError([self._by_option(fault) for fault in error.faults]) from None
        return found.model_copy(update={"name": "; ".join(stream.in_words() for stream in found.streams)})

    def _by_option(self, fault: Fault) -> Fault:
        """Name the option that a fault of the workload comes from."""
        is_log = "--commits" in self.of_stream() and "rate" in fault.field
        named = self.of_stream()
        options = [name for part, names in _OPTIONS.items() if part in fault.field for name in names]
        option = next((name for name in options if name in named), [*options, "--queue-depth"][0])
        option = "--commits" if is_log else option
        return Fault(option, self.of_stream().get(option, fault.value), fault.rule, fault.fix)


#: Options by a part of the workload's field that they set.
_OPTIONS = {
    "read_ratio": ("--reads",),
    "size": ("--block",),
    "span": ("--span", "--capacity"),
    "rate": ("--iops", "--throughput"),
    "record": ("--record",),
    "sync": ("--sync",),
}
#: Options of a stream of requests, beside those of a log of commits.
_OF_DATA = ("--iops", "--throughput", "--reads", "--block", "--sequential")


def with_usual(
    given: Mapping[str, str], notes: list[str] | None = None, usual: Mapping[str, str] = USUAL_LOAD
) -> dict[str, str]:
    """Return the options of a stream by name with what is assumed of those that are missing, and say what that is.

    Raises
    ------
    DescriptionError
        When the requests go in order, and it is not said whether they read or write.
    """
    from diskmodel.cli.shared.console import say

    if "--sequential" in given:
        usual = USUAL_STREAM
        if "--reads" not in given:
            rule, fix = "is required for a load in order", "write --reads 100% for reads, --reads 0% for writes"
            raise DescriptionError(Fault("--reads", None, rule, fix))
    assumed = {name: text for name, text in usual.items() if name not in given}
    if assumed:
        said = " and ".join(f"{name} {text}" for name, text in assumed.items())
        note = f"assumed: {said}; name your own, or give a file with --workload"
        say(note)
        if notes is not None:
            notes.append(note)
    return {**given, **assumed}


def read_workload(
    load: LoadOptions, notes: list[str] | None = None, *, mix: Literal["all", "peak"] = "all"
) -> Workload:
    """Return the workload in a file or recording, with another number of outstanding requests where one is given.

    Without a file, it is the one in the options. What had to be assumed of a recording goes to standard error, and into
    `notes`. `mix` as in `find_workload`.

    Raises
    ------
    DescriptionError
        With every fault of the file, or when an option does not apply to it: a depth without a closed stream, a
        percentile or a device for a description; also when the load is stated twice, or not at all.
    FormatError
        When the file is neither a description nor a known recording.
    """
    from diskmodel.workload import Workload

    path = load.path
    sync = load.stream.get(SYNC.key)
    stated = {name: text for name, text in load.of_stream().items() if path is None or name != SYNC.name}
    if path is not None and stated:
        name, value = next(iter(stated.items()))
        fix = f"leave it out, or change it in {path}"
        raise DescriptionError(Fault(name, value, "cannot be combined with --workload", fix))
    is_recorded = path is not None and (path.suffix != ".toml" or load.format is not None)
    refuse_unused(path if is_recorded else None, percentile=load.percentile, device=load.device, format=load.format)
    if path is None:
        return load.workload(notes)
    if is_recorded:
        from diskmodel.cli.shared.console import say
        from diskmodel.formats import find_workload, flush_fault

        level = "95" if load.percentile is None else load.percentile
        found = find_workload(path, level=level, device=load.device, format=load.format, mix=mix)
        workload = Workload.parse(found.workload, str(path))
        if found.dropped_flushes and sync is None:
            raise FormatError(flush_fault(found.dropped_flushes, _WITH_SYNC), str(path))
        for note in found.notes:
            say(f"{path.name}: {note}")
        if notes is not None:
            notes += found.notes
    else:
        workload = Workload.load(path)
    if sync is not None:
        workload = with_sync(workload, sync, str(path))
    return workload if load.queue_depth is None else workload.with_queue_depth(load.queue_depth)


def read_workloads(paths: Sequence[Path] | None, load: LoadOptions, notes: list[str]) -> list[Workload]:
    """Return the workloads of files, or the one of the options; those of one name have a number behind it.

    Raises
    ------
    DescriptionError, FormatError
        As `read_workload`.
    """
    sources: list[Path | None] = [*paths] if paths else [None]
    found = [read_workload(replace(load, path=path), notes) for path in sources]
    names = [one.name for one in found]
    return [
        one.model_copy(update={"name": f"{one.name} ({names[: at + 1].count(one.name)})"})
        if names.count(one.name) > 1
        else one
        for at, one in enumerate(found)
    ]


#: How to have an answer of a recording whose flushes are left out.
_WITH_SYNC = (
    "say how writes are made safe: --sync fdatasync for a flush after each, or --sync none for a figure without flushes"
)


def with_sync(workload: Workload, sync: str, source: str) -> Workload:
    """Return a workload whose writes are made safe in the way of an option, after each; "none": not at all.

    Streams of flushes beside others, which did the same in another way, are left out.

    Raises
    ------
    DescriptionError
        When it is no such way.
    """
    from diskmodel.workload import Workload

    fields = workload.to_dict()
    fields["streams"] = [one for one in fields["streams"] if one.get("kind") != "flushes"] or fields["streams"]
    for stream in fields["streams"]:
        if stream["read_ratio"] < 1 and stream.get("kind", "requests") == "requests":
            stream |= {"sync": sync, "sync_every": 1}
    try:
        return Workload.parse(fields, source)
    except DescriptionError as error:
        faults = [replace(fault, field=SYNC.name) if ".sync" in fault.field else fault for fault in error.faults]
        raise DescriptionError(faults) from None


def read_replay(
    path: Path,
    replay: str,
    queue_depth: int | None = None,
    *,
    percentile: str | None = None,
    device: str | None = None,
    format: str | None = None,
    wraps: bool = False,
    sync: str | None = None,
) -> TraceWorkload:
    """Return the trace in a file, at its own times ("original"), sped up ("2x") or at a fixed queue depth ("closed").

    Raises
    ------
    DescriptionError
        When `replay` is none of these, or an option does not apply to it.
    FormatError
        When the file is not a trace.
    """
    from diskmodel.cli.shared.console import say
    from diskmodel.formats import load_replay

    if percentile is not None:
        raise DescriptionError(
            Fault("percentile", percentile, "does not apply to a replay, only to a recorded load", "leave it out")
        )
    factor = re.fullmatch(r"(\d+(?:\.\d+)?)x", replay)
    if replay not in ("original", "closed") and factor is None:
        raise DescriptionError(
            Fault("replay", replay, "is not a way to replay", "use original, closed, or a factor such as 2x or 0.5x")
        )
    if replay != "closed" and queue_depth is not None:
        fix = "use --replay closed, or leave it out"
        raise DescriptionError(Fault("queue_depth", queue_depth, "only applies to a closed replay", fix))
    if sync not in (None, "none"):
        fix = "leave it out, use --sync none, or the workload fitted to the trace, without a replay"
        raise DescriptionError(
            Fault(SYNC.name, sync, "does not apply to a replay, which has the flushes of its trace", fix)
        )
    workload, trace = load_replay(
        path,
        format=format,
        device=device,
        timing="scaled" if factor else "closed" if replay == "closed" else "original",
        speed_up=float(factor[1]) if factor else 1.0,
        queue_depth=queue_depth or 1,
        wraps=wraps,
        name=f"{path.name}, {replay}",
        with_flushes=sync is None,
    )
    for note in trace.notes:
        say(f"{path.name}: {note}")
    if coarse := workload.coarse_clock_in_words:
        say(f"{path.name}: {coarse}: latency is longer than that of requests that come apart")
    return workload


def check_room(load: LoadOptions, arrays: Iterable[Array]) -> None:
    """Refuse data of options (--capacity, --span) that an array has no room for.

    Raises
    ------
    DescriptionError
        With a fault for each such array.
    """
    given = load.of_stream()
    name = next((name for name in ("--capacity", "--span") if name in given), None)
    if name is None or load.path is not None:
        return
    from diskmodel.units import nominal_bytes
    from diskmodel.workload import Stream

    option = next(option for option in STREAM if option.name == name)
    (needed,) = parse_options({option.key: given[name]}, (option,), {"stream": Stream}).values()
    faults = [
        Fault(
            name,
            given[name],
            f"does not fit: {array.name or array.title} stores {nominal_bytes(array.usable_bytes)}",
            "add disks, or lower it; `diskmodel plan` finds how many it takes",
        )
        for array in arrays
        if needed > array.usable_bytes
    ]
    if faults:
        raise DescriptionError(faults)


def one_or_several(answers: Sequence[Mapping[str, Any]], **beside: Any) -> dict[str, Any]:
    """Return the JSON document of answers about several workloads: a list of them, or of a single one itself."""
    return {**answers[0], **beside} if len(answers) == 1 else {"workloads": list(answers), **beside}


def _rate_of(given: Mapping[str, str]) -> str:
    """Return the rate of the requests of options, which may state it in bytes."""
    if THROUGHPUT.name not in given:
        return _rate(given["--iops"])
    from diskmodel.plan import PlanDescription
    from diskmodel.workload import Stream

    texts = {THROUGHPUT.key: given[THROUGHPUT.name], BLOCK.key: given[BLOCK.name]}
    found = parse_options(texts, (THROUGHPUT, BLOCK), {"plan": PlanDescription, "stream": Stream})
    return f"{found[THROUGHPUT.key] / found[BLOCK.key]!r}/s"


def _rate(text: str) -> str:
    """Return a rate with its unit, which may be left out behind an option."""
    from diskmodel.units import RATE_UNITS

    return text if text.endswith(RATE_UNITS) else f"{text}/s"


def refuse_unused(recorded: Path | None, **given: float | str | None) -> None:
    """Refuse options that only apply to a recorded load, where there is none.

    Raises
    ------
    DescriptionError
        With every such option that was given.
    """
    if recorded is not None:
        return
    rule = "only applies to a recorded load (iostat, sar, a trace)"
    fix = "give one with --workload, or leave it out"
    faults = [Fault(name, value, rule, fix) for name, value in given.items() if value is not None]
    if faults:
        raise DescriptionError(faults)


def refuse_wrap(wrap: bool) -> None:
    """Refuse --wrap where nothing is replayed.

    Raises
    ------
    DescriptionError
        When it was given.
    """
    if wrap:
        raise DescriptionError(Fault("wrap", wrap, "only applies to a replayed trace", "add --replay, or leave it out"))
