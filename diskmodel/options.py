"""The options of commands that ask a question, each declared once: its name, its help, and the fields that it sets.

`plan`, `simulate`, `compare` and `replay` take their options from here. The type of a value, with its unit and its
limits, is that of the field. An option is added by one declaration in `QUESTION` (or `ARRAY`, `STREAM`, `SEARCH`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from diskmodel.errors import DescriptionError, Fault
from diskmodel.loading import dataclass

if TYPE_CHECKING:
    from pydantic import BaseModel

#: What a field that an option sets belongs to: a plan, an array, the only stream of a workload, or a load in the units
#: of those who ask.
Target = Literal["plan", "array", "stream", "asker"]

#: Groups of options in the help of a command, in this order.
LOAD, OBJECTIVE, CANDIDATES, ARRAY_GROUP, POOLS = "Load", "Objective", "Candidates", "Array", "Pools and logs"
SEARCH_GROUP, OUTPUT = "Search", "Output"
GROUPS = (LOAD, OBJECTIVE, CANDIDATES, ARRAY_GROUP, POOLS, SEARCH_GROUP, OUTPUT)
#: Tables of an array that belong to a group of their own.
_OF_POOLS = {
    *("layout.log", "layout.special", "layout.cache", "layout.data_disks", "layout.distributed_spares"),
    *("layout.rebuild.sequential", "layout.consistency_policy", "candidates.record_bytes"),
    *("candidates.log_devices", "candidates.special_devices", "candidates.cache_devices"),
}


@dataclass(frozen=True)
class Option:
    """One option.

    Attributes
    ----------
    name : str
        As users write it: "--capacity".
    help : str
    plan, array, stream, asker : str
        Place of the field that it sets in a plan, in an array, in a stream or in a load of `Asker`, for example
        "objective.capacity_bytes"; "" where there is none. Many options are set in that way alone. One that does more,
        as --max-disks does, has a function in `diskmodel.plan.question.options` beside it.
    kind : "text", "texts", "count" or "switch"
        What the command line reads: a text, one that may be repeated, a whole number, or --name and --no-name.
    least : int or None
        Least count, which the help shows.
    is_candidate : bool
        Whether it says what a plan chooses from, though it sets no field.
    """

    name: str
    help: str
    plan: str = ""
    array: str = ""
    stream: str = ""
    asker: str = ""
    kind: Literal["text", "texts", "count", "switch"] = "text"
    least: int | None = None
    is_candidate: bool = False

    @property
    def key(self) -> str:
        """The name as an identifier: "max_disks"."""
        return self.name.removeprefix("--").replace("-", "_")

    @property
    def group(self) -> str:
        """The group that it is in where a command shows its options: by what it sets."""
        if self.is_candidate:
            return CANDIDATES
        if self.stream or self.asker or self.plan == "objective.throughput_bytes_per_s":
            return LOAD
        if self.plan in _OF_POOLS or self.array in _OF_POOLS:
            return POOLS
        if self.array:
            return ARRAY_GROUP
        named = {"objective": OBJECTIVE, "candidates": CANDIDATES, "workload": LOAD}
        return named.get(self.plan.partition(".")[0], SEARCH_GROUP)

    def saying(self, help: str) -> Option:
        """Return the option of a command that explains it in other words."""
        return replace(self, help=help)

    def place(self, target: Target) -> str:
        """Return the place of its field in one of them; "" where there is none."""
        found: str = getattr(self, target)
        return found


IOPS = Option("--iops", "Requests per second of the host.", plan="objective.iops", stream="rate_per_s")
READS = Option("--reads", "Share of reads, 70% or 0.7.", stream="read_ratio")
BLOCK = Option("--block", "Size of a request, for example 8k (8 KiB, as fio writes it).", stream="sizes.size_bytes")
RECORD = Option("--record", "Bytes that each commit appends to the log; 512 B by default.", stream="record_bytes")
SYNC = Option(
    "--sync",
    "How writes are made safe from a power cut: fdatasync or fsync after each, dsync (in the write itself), or none.",
    stream="sync",
)
COMMITS = Option(
    "--commits",
    "Commits per second to one log, for example 500/s.",
    plan="objective.commits_per_s",
    stream="rate_per_s",
)
THROUGHPUT = Option("--throughput", "Instead of --iops, for example 800MB/s.", plan="objective.throughput_bytes_per_s")
SEQUENTIAL = Option(
    "--sequential",
    "Requests go through the data in order, not at random.",
    stream="addresses",
    kind="switch",
)
STRIP = Option(
    "--strip",
    "Strip of the layout, for example 256KiB.",
    plan="candidates.strip_bytes",
    array="layout.strip_bytes",
)
CONTROLLER = Option(
    "--controller",
    "Controller in the catalogue, for example perc-h730 (`diskmodel controllers`).",
    plan="controller",
    array="controller",
)
INSTANCE = Option(
    "--instance",
    "What the machine lets all volumes of a cloud do together: r5b.2xlarge, or 40000IOPS,1187MB/s.",
    plan="controller",
    array="controller",
)
WRITE_CACHE = Option(
    "--write-cache",
    "Write cache of the controller, for example 2GiB; 0 for none.",
    plan="controller.write_cache.size_bytes",
    array="controller.write_cache.size_bytes",
)
READ_CACHE = Option(
    "--read-cache",
    "Read cache of the controller, or ARC of a pool, for example 4GiB; 0 for none.",
    plan="controller.read_cache.size_bytes",
    array="controller.read_cache.size_bytes",
)
DRIVE_WRITE_CACHE = Option(
    "--drive-write-cache",
    "Whether the drives' own write caches are on: on or off; in an array by controller and interface unless said.",
    plan="drive_write_cache",
    array="drive_write_cache",
)

USED = Option(
    "--used",
    "Part of each drive that holds data, for example 60%; the rest is trimmed, which flash drives use as spare. All of "
    "it unless said.",
    plan="used_ratio",
    array="used_ratio",
)

THREADS = Option(
    "--threads",
    "Threads of the host that submit requests to an array of flash drives (jobs of fio); one for 32 outstanding unless "
    "said.",
    plan="host.processors",
    array="host.processors",
    kind="count",
    least=1,
)

HOST = Option(
    "--host",
    "Host in front of an array of flash drives: libaio-2014, libaio-2020 (as unless said) or tuned-2020, which submit "
    "100,000, 190,000 and 450,000 requests/s a thread.",
    plan="host.kind",
    array="host.kind",
)

LOG_DEVICE = Option(
    "--log-device",
    "Drive for the intent log of a pool, or for the journal of Linux md with RAID 4, 5 or 6; none: without.",
    array="layout.log",
)

SPECIAL_DEVICE = Option(
    "--special-device",
    "Mirror of flash drives for all metadata of a pool, for example 2x micron-7450-pro-1920; none: without.",
    array="layout.special",
)

DATA_DISKS = Option(
    "--data-disks",
    "Data disks of a group of dRAID (the d of zpool create); 8 unless said, or as many as a vdev has.",
    plan="layout.data_disks",
    array="layout.data_disks",
    kind="count",
    least=1,
)
DISTRIBUTED_SPARES = Option(
    "--distributed-spares",
    "Spares that are distributed over the disks of a vdev of dRAID (the s of zpool create); none unless said.",
    plan="layout.distributed_spares",
    array="layout.distributed_spares",
    kind="count",
    least=0,
)
SEQUENTIAL_RESILVER = Option(
    "--sequential-resilver",
    "A failed disk of mirrors or dRAID is resilvered in the order of its space (zpool replace -s), not by records.",
    plan="candidates.rebuild.sequential",
    array="layout.rebuild.sequential",
    kind="switch",
)

CACHE_DEVICE = Option(
    "--cache-device",
    "Drive as a cache device (L2ARC) of a pool, whose ARC has a size (--read-cache); none: without.",
    array="layout.cache",
)

CONSISTENCY = Option(
    "--consistency-policy",
    "What keeps the disks of a row consistent in a power cut, as mdadm names it: resync, bitmap, journal or ppl.",
    plan="layout.consistency_policy",
    array="layout.consistency_policy",
)

#: Tables of a controller that a size of 0 leaves out.
CACHES = ("write_cache", "read_cache")
#: Fields whose values are often written without "/s".
_RATES = ("iops", "commits_per_s")

#: Replaces the level of an array.
LEVEL = Option("--level", "RAID level instead of the array's, for example raid6.", array="layout.level")
#: Of an array that `simulate`, `compare` and `replay` read from a file or from words.
ARRAY = (
    LEVEL,
    CONTROLLER,
    INSTANCE,
    WRITE_CACHE,
    READ_CACHE,
    DRIVE_WRITE_CACHE,
    STRIP,
    THREADS,
    HOST,
    USED,
    LOG_DEVICE,
    SPECIAL_DEVICE,
    DATA_DISKS,
    DISTRIBUTED_SPARES,
    SEQUENTIAL_RESILVER,
    CACHE_DEVICE,
    CONSISTENCY,
)

#: The same of several arrays, each of which is asked about with each of the levels.
ARRAYS = (
    replace(LEVEL, help="RAID level instead of the arrays', to compare; may be repeated.", kind="texts"),
    *(option for option in ARRAY if option is not LEVEL),
)

#: One stream of requests, in place of a workload file.
STREAM = (
    IOPS.saying("Instead of --workload: requests per second of the host."),
    THROUGHPUT,
    READS,
    BLOCK,
    SEQUENTIAL,
    COMMITS.saying("Instead of --iops, --reads and --block: commits per second to one log."),
    RECORD.saying("Bytes that each commit appends to the log (512 B); with --queue-depth, from clients that wait."),
    SYNC,
    Option(
        "--span", "Part of the array that holds the data, for example 2TB; default: all of it.", stream="span_bytes"
    ),
    Option("--capacity", "Data to store, for example 20TB: the same as --span.", stream="span_bytes"),
)

#: The same for a question about all rates.
KIND_OF_LOAD = tuple(
    option
    for option in STREAM
    if option.name in ("--reads", "--block", "--sequential", "--span", "--capacity", "--sync")
)

#: What is assumed of a load whose options do not say it, as the command line writes it: small requests of a database.
#: With half as many reads RAID 5 does 2.95 disk operations for a request, not 1.9; each answer names the assumption.
USUAL_LOAD = {"--reads": "70%", "--block": "8k"}
#: The same of a load in order. Whether it reads or writes is not assumed: that decides between levels.
USUAL_STREAM = {"--block": "1M"}

#: Of a plan.
QUESTION = (
    IOPS,
    THROUGHPUT,
    READS,
    BLOCK,
    SEQUENTIAL,
    Option("--capacity", "Data to store, for example 20TB; else all of the disks.", plan="objective.capacity_bytes"),
    Option(
        "--span",
        "Share of each array on which requests fall, 100% for data all over it; else the part that the data take.",
        plan="workload.span_ratio",
    ),
    Option("--cameras", "Cameras that are recorded, instead of --iops.", asker="cameras", kind="count", least=1),
    Option("--bitrate", "Of each camera, for example 4Mbit/s.", asker="bitrate_bytes_per_s"),
    Option("--retention", "How long recordings are kept, for example 30d.", asker="retention_ns"),
    Option("--desktops", "Virtual desktops, instead of --iops.", asker="desktops", kind="count", least=1),
    Option("--machines", "Virtual machines, instead of --iops.", asker="machines", kind="count", least=1),
    Option("--backup", "Data that a backup writes within its --window, for example 10TB.", asker="backup_bytes"),
    Option("--window", "How long a --backup may take, for example 8h.", asker="window_ns"),
    COMMITS,
    RECORD,
    SYNC,
    Option(
        "--commit-p99",
        "Largest allowed p99 latency of commits, for example 10ms.",
        plan="objective.commit_latency.p99_ns",
    ),
    Option(
        "--p99", "Largest allowed p99 latency, for example 20ms; else a usual mean.", plan="objective.latency.p99_ns"
    ),
    Option(
        "--confidence",
        "Chance that the array shall have to meet the objective, in view of what is not known; 90% by default.",
        plan="objective.confidence",
    ),
    Option(
        "--data-loss",
        "Largest accepted chance of losing data within a year, for example 0.1%; 2% unless stated.",
        plan="objective.data_loss_per_year",
    ),
    Option(
        "--rebuild-hours",
        "Longest allowed rebuild of a disk beside the load, hours.",
        plan="objective.rebuild_hours",
    ),
    Option(
        "--busy-hours",
        "Hours of each day in which the load runs; a rebuild goes on alone in the rest. 24 unless stated, of a backup "
        "its window.",
        plan="objective.busy_hours",
    ),
    Option(
        "--utilization",
        "Largest allowed mean utilization of the disks, for example 85%.",
        plan="objective.utilization_ceiling_ratio",
    ),
    Option("--fill-limit", "How full the array may get, for example 80%.", plan="objective.fill_limit_ratio"),
    Option(
        "--drive",
        "Drive to choose from: a name in the catalogue or a profile; may be repeated.",
        plan="candidates.drives",
        kind="texts",
    ),
    Option("--level", "RAID level to choose from; may be repeated.", plan="candidates.levels", kind="texts"),
    Option(
        "--record-size",
        "Size of the records of a pool (recordsize, volblocksize) to choose from, for example 16KiB; may be repeated.",
        plan="candidates.record_bytes",
        kind="texts",
    ),
    replace(
        LOG_DEVICE,
        help=f"{LOG_DEVICE.help} To choose from: may be repeated.",
        plan="candidates.log_devices",
        array="",
        kind="texts",
    ),
    replace(
        SPECIAL_DEVICE,
        help=f"{SPECIAL_DEVICE.help} To choose from: may be repeated.",
        plan="candidates.special_devices",
        array="",
        kind="texts",
    ),
    DATA_DISKS,
    DISTRIBUTED_SPARES,
    SEQUENTIAL_RESILVER,
    replace(
        CACHE_DEVICE,
        help=f"{CACHE_DEVICE.help} To choose from: may be repeated.",
        plan="candidates.cache_devices",
        array="",
        kind="texts",
    ),
    CONSISTENCY,
    Option(
        "--max-disks",
        "Most disks of an array; 64 unless the plan says more.",
        plan="candidates.max_disks",
        kind="count",
    ),
    Option("--spares", "Hot spares of an array; none unless stated.", plan="candidates.spares", kind="count", least=0),
    Option(
        "--rebuild-speed",
        "Rate that a rebuild keeps up against the load, for example 30MB/s (sync_speed_min of Linux md).",
        plan="candidates.rebuild.speed_min_bytes_per_s",
    ),
    CONTROLLER,
    INSTANCE,
    WRITE_CACHE,
    READ_CACHE,
    DRIVE_WRITE_CACHE,
    STRIP,
    THREADS,
    HOST,
    USED,
)

#: Of plans that choose by what things cost instead of how many there are.
PRICES = (
    Option(
        "--cloud-prices",
        "Provision volumes of a cloud instead of drives, the cheapest first, by the prices in this TOML file.",
        is_candidate=True,
    ),
)

#: How the answer of a plan is looked for.
SEARCH = (
    Option("--engine", "auto, native or simpy, instead of the plan's.", plan="search.engine"),
    Option(
        "--seed",
        "Seed of all random numbers, instead of the plan's.",
        plan="search.seed",
        kind="count",
        least=0,
    ),
)

#: Of every command that may take long (`diskmodel.cli.shared.time_limit`); without it there is no limit, for what has
#: run for hours is not to be lost.
TIME_LIMIT = Option(
    "--time-limit",
    "Longest time that the command may take, for example 10min or 8h; then it ends with status 3 and says what it was "
    "doing.",
)

#: All options of a plan by their keys.
OF_A_PLAN = {option.key: option for option in (*QUESTION, *SEARCH)}


def parse_options(
    given: Mapping[str, Any], options: Iterable[Option], targets: Mapping[Target, type[BaseModel]]
) -> dict[str, Any]:
    """Return the values of options, each as its field takes it.

    Parameters
    ----------
    given : mapping
        Texts, numbers and switches by the key of the option; None where it was not given.
    options : iterable of Option
    targets : mapping of str to type of description
        Where the fields are looked up; an option belongs to the first target that it has a place in.

    Raises
    ------
    DescriptionError
        With every fault, by the name of its option.
    """
    from pydantic import create_model

    from diskmodel.description import Description
    from diskmodel.units import SUFFIXES

    fields: dict[str, Any] = {}
    named: dict[str, Option] = {}
    for option in options:
        target = next(target for target in targets if option.place(target))
        last = option.place(target).rpartition(".")[2]
        # with the unit of the field in its name, so that faults are worded as those of the field
        field = option.key + next((end for end in SUFFIXES if last.endswith(end)), "")
        fields[field] = (_type_of(option, targets[target], option.place(target)) | None, None)
        named[field] = option
    keys = {named[field].key: field for field in fields}
    stated = {keys[key]: value for key, value in given.items() if value is not None and value != []}
    _refuse_twice([named[field] for field in stated], given, targets)
    try:
        found = create_model("Options", __base__=Description, **fields).parse(stated)
    except DescriptionError as error:
        faults = []
        for fault in error.faults:
            option = named[fault.field.partition(".")[0]]
            if given.get(option.key) is None:  # another word for the same field
                option = next(one for one in map(named.__getitem__, stated) if one.plan == option.plan)
            value = given[option.key]  # as it was written
            faults.append(Fault(option.name, value if isinstance(value, str) else fault.value, fault.rule, fault.fix))
        raise DescriptionError(faults) from None
    return {named[field].key: getattr(found, field) for field in stated}


def _refuse_twice(
    stated: Sequence[Option], given: Mapping[str, Any], targets: Mapping[Target, type[BaseModel]]
) -> None:
    """Refuse options that set one field, in two words."""
    first: dict[tuple[str, str], Option] = {}
    for option in stated:
        target = next(target for target in targets if option.place(target))
        before = first.setdefault((target, option.place(target)), option)
        if before is not option:
            rule = f"says what {before.name} says, too"
            raise DescriptionError(Fault(option.name, str(given[option.key]), rule, "leave one of them out"))


def set_field(fields: dict[str, Any], place: str, value: Any) -> None:
    """Set a field of a description that is given as a dict, for example "layout.strip_bytes".

    Tables on the way are copied. A cache of 0 bytes is no cache, and a size of a cache replaces its hit ratio.
    """
    *tables, last = place.split(".")
    for table in tables[:-1]:
        fields[table] = dict(fields[table] or {})
        fields = fields[table]
    if not tables:
        fields[last] = value
    elif tables[-1] in CACHES and value == 0:
        fields[tables[-1]] = None
    else:
        inner = dict(fields.get(tables[-1]) or {})
        if tables[-1] in CACHES:
            inner.pop("hit_ratio", None)
        fields[tables[-1]] = {**inner, last: value}


def _type_of(option: Option, model: type[BaseModel], place: str) -> Any:
    """Return the type of the value of an option: that of its field, as a command line writes it."""
    from typing import Annotated

    from pydantic import BeforeValidator

    from diskmodel.units import Bytes

    if option.kind == "switch":
        return bool
    if option.key == "drive":  # names: a profile is read when it is known what else the plan has
        return tuple[str, ...]
    if place in ("layout.log", "layout.special", "layout.cache"):  # the name of a drive, which the array reads
        return str
    *tables, last = place.split(".")
    if last == "read_ratio":
        field = model.model_fields[last]
        return Annotated[field.annotation, *field.metadata, BeforeValidator(percent)]
    if tables and tables[-1] in CACHES:
        return Annotated[Bytes, BeforeValidator(lambda value: 0 if value == "0" else value)]
    for table in tables:
        model = _table(model.model_fields[table].annotation)
    field = model.model_fields[last]
    found: Any = Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation
    return Annotated[found, BeforeValidator(_plain_number)] if last in _RATES else found


def percent(value: object) -> object:
    """Return a share as text with a unit: more than 1 without a unit is in percent, as people write it: 70."""
    text = value.strip() if isinstance(value, str) else ""
    return f"{text}%" if re.fullmatch(r"[0-9]+(\.[0-9]+)?", text) and float(text) > 1 else value


def _plain_number(value: object) -> object:
    """A rate without a unit is one per second; numbers of an option arrive as text."""
    return f"{value}/s" if isinstance(value, str) and value.strip()[-1:] in set("0123456789.") else value


def _table(annotation: Any) -> type[BaseModel]:
    """Return the description in the type of a field."""
    from pydantic import BaseModel

    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(_table(part) for part in get_args(annotation) if part is not type(None))
