"""A question about several volumes of one server: an array for each, one for all, or anything between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from diskmodel.array import Spindles
from diskmodel.controller import Controller, NamedController
from diskmodel.description import Description, read_toml
from diskmodel.errors import DescriptionError, printable
from diskmodel.host import Host
from diskmodel.plan.question.buying import Prices, Search
from diskmodel.plan.question.common_layout import CommonLayout
from diskmodel.plan.question.description import Candidates, PlanDescription, beside
from diskmodel.plan.question.objective import Degraded, Growth, LatencyLimits, LatencyObjective, Objective, Probability
from diskmodel.plan.question.presets import preset
from diskmodel.queue import Queue
from diskmodel.units import SUFFIXES, Bytes, PerSecond, Ratio, nominal_bytes
from diskmodel.workload import Stream, Workload

#: Volumes on one array begin at multiples of this, bytes: partitioning tools align to 1 MiB (parted, diskpart). At half
#: or double no figure changes, because both are multiples of what requests are aligned to.
VOLUME_ALIGNMENT_BYTES = 1 << 20

#: Names of arrangements that a file may use instead of a list of arrays.
APART, SHARED = "apart", "shared"


def stem(key: str) -> str:
    """Return the name of a field without the ending for its unit."""
    return next((key.removesuffix(end) for end in SUFFIXES if key.endswith(end)), key)


def _over(base: Mapping[str, Any], table: Any) -> dict[str, Any]:
    """Return `base` with the fields of `table` in place of its own, however their names end."""
    own = dict(table) if isinstance(table, Mapping) else {}
    given = {stem(key) for key in own}
    return {key: value for key, value in base.items() if stem(key) not in given} | own


class VolumeObjective(Description):
    """What has to be achieved for one volume; any subset.

    Attributes
    ----------
    iops : float or None, per second
        Requests per second today; scales the volume's workload.
    growth_ratio, years, peak_factor, capacity_growth_ratio, fill_limit_ratio, formatting_ratio
        As in the objective of one array.
    latency : LatencyObjective
        Limits for all requests of the volume, and for single streams of it.
    """

    iops: PerSecond | None = None
    growth_ratio: Growth = 0.0
    years: float = Field(default=0.0, ge=0, le=30)
    peak_factor: float = Field(default=1.0, ge=1, le=1000)
    capacity_growth_ratio: Growth = 0.0
    fill_limit_ratio: Ratio = Field(default=1.0, gt=0)
    formatting_ratio: Ratio = Field(default=0.0, lt=1)
    latency: LatencyObjective = LatencyObjective()


class ArrayObjective(Description):
    """What every array of an arrangement has to achieve, whichever volumes are on it.

    Attributes
    ----------
    utilization_ceiling_ratio, rebuild_hours, data_loss_per_year, replacement_hours
        As in the objective of one array.
    degraded : Degraded or None
        Latency limits with disks missing are those of every volume; `latency.streams` has those of single volumes.
    """

    utilization_ceiling_ratio: Ratio | None = Field(default=None, gt=0)
    rebuild_hours: float | None = Field(default=None, gt=0)
    data_loss_per_year: Probability | None = None
    replacement_hours: float = Field(default=24.0, ge=0)
    degraded: Degraded | None = None

    def of(self, volume: str) -> dict[str, Any]:
        """Return the fields of an objective for an array with one volume."""
        return {**dict(self), "degraded": self._degraded(LatencyObjective(**dict(self.degraded_limits(volume))))}

    def of_shared(self, volumes: Sequence[str]) -> dict[str, Any]:
        """Return the fields of an objective for an array with several volumes."""
        limits = {name: self.degraded_limits(name) for name in volumes}
        return {**dict(self), "degraded": self._degraded(LatencyObjective(streams=limits))}

    def degraded_limits(self, volume: str) -> LatencyLimits:
        """Return the latency limits of a volume with disks missing."""
        if self.degraded is None:
            return LatencyLimits()
        latency = self.degraded.latency
        found = latency.streams.get(volume, latency)
        return LatencyLimits(**{f"{name}_ns": limit for name, limit in found.limits().items()})

    def _degraded(self, latency: LatencyObjective) -> Degraded | None:
        return None if self.degraded is None else self.degraded.model_copy(update={"latency": latency})


class Volume(Description):
    """One volume: what is stored, how it is used, and what it needs.

    Attributes
    ----------
    name : str
    capacity_bytes : int
        Data to be stored today.
    workload : Workload
        In a file a table or the path of a workload. `span` and `offset` of its streams are places in the volume.
    objective : VolumeObjective
    preset : str or None
        A published use of storage, whose workload and objective are taken where the volume states no other.
    """

    name: str = Field(min_length=1, max_length=64)
    capacity_bytes: Bytes = Field(gt=0)
    workload: Workload
    objective: VolumeObjective = VolumeObjective()
    preset: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _begin_with_the_preset(cls, data: Any) -> Any:
        if not isinstance(data, Mapping) or not isinstance(data.get("preset"), str):
            return data
        try:
            fields = preset(data["preset"]).fields
        except DescriptionError as error:
            fault = error.faults[0]
            raise ValueError(printable(f"preset={fault.value}: {fault.rule}; {fault.fix}")) from None
        objective = data.get("objective")
        merged = {**data, "workload": data.get("workload", fields["workload"])}
        if not isinstance(objective, VolumeObjective):
            merged["objective"] = _over(fields.get("objective", {}), objective)
        return merged

    @model_validator(mode="after")
    def _check(self) -> Self:
        names = {stream.name for stream in self.workload.streams}
        unknown = sorted(set(self.objective.latency.streams) - names)
        if unknown:
            raise ValueError(
                f"objective.latency.streams.{unknown[0]}: is no stream of this volume; "
                f"use one of {', '.join(sorted(names))}"
            )
        if self.objective.iops is not None and self.workload.queue_depth:
            raise ValueError(
                "objective.iops: clients of this volume wait for their requests, so that no rate can be set; "
                "give its workload a rate instead of clients, or remove iops"
            )
        end_bytes, name = max((self._place(s)[0] + self._place(s)[1], s.name) for s in self.workload.streams)
        if end_bytes > self.usable_bytes:
            raise ValueError(
                f"workload: stream {name} ends at byte {end_bytes:,}, beyond the {self.usable_bytes:,} bytes of the "
                "volume; lower its span or offset, or raise capacity"
            )
        return self

    @property
    def usable_bytes(self) -> int:
        """Space of the volume: its data at the end of the years over the fill limit, in whole MiB."""
        data_bytes = self._plain_objective(LatencyObjective()).usable_bytes
        assert data_bytes is not None
        return -(-data_bytes // VOLUME_ALIGNMENT_BYTES) * VOLUME_ALIGNMENT_BYTES

    def _plain_objective(self, latency: LatencyObjective, **more: Any) -> Objective:
        fields = {**dict(self.objective), "latency": latency, "capacity_bytes": self.capacity_bytes}
        return Objective(**fields, **more)

    def objective_alone(self, array: ArrayObjective) -> Objective:
        """Return the objective of an array with this volume alone."""
        return self._plain_objective(self.objective.latency, **array.of(self.name))

    def _place(self, stream: Stream) -> tuple[int, int]:
        """Return the first byte of a stream in the volume, and its span."""
        whole, workload = self.usable_bytes, self.workload
        first = stream.offset_bytes
        if first is None:
            first = 0 if stream.offset_ratio is None else int(whole * stream.offset_ratio)
        spans = (
            (stream.span_bytes, stream.span_ratio),
            (workload.span_bytes, workload.span_ratio),
        )
        for own, ratio in spans:
            if own is not None:
                return first, own
            if ratio is not None:
                return first, min(int(whole * ratio), max(whole - first, 0))
        return first, whole - first

    def placed(self, workload: Workload, first_byte: int, *, stream_names: Mapping[str, str] | None = None) -> Workload:
        """Return a workload of the volume's streams on an array, where the volume begins at `first_byte`."""
        streams = []
        for stream in workload.streams:
            offset, span = self._place(stream)
            place = {
                "offset_bytes": first_byte + offset,
                "offset_ratio": None,
                "span_bytes": span,
                "span_ratio": None,
                "volume": self.name,
                "name": (stream_names or {}).get(stream.name, stream.name),
            }
            streams.append(stream.model_copy(update=place))
        return workload.model_copy(update={"streams": tuple(streams), "span_bytes": None, "span_ratio": None})


def _as_arrays(value: object) -> object:
    if isinstance(value, list | tuple):
        return tuple(tuple(item) if isinstance(item, list | tuple) else (item,) for item in value)
    return value


class ServerPlan(Description):
    """A whole question about several volumes: which arrays, and which volumes on which?

    Attributes
    ----------
    name : str
    arrangement : "compare", "apart", "shared", or a tuple of arrays, each the names of its volumes
        "apart": an array for each volume; "shared": one for all; "compare": both. A list of arrays, for example
        `[["data", "tempdb"], ["log"]]`, is compared with both.
    volumes : tuple of Volume
    objective : ArrayObjective
        Of every array, beside the volumes' own.
    candidates, layout, controller, queue, host, spindles, prices, search
        As in a plan for one workload; every array has its own controller.
    notes : tuple of str
        Sources and assumptions of the question, printed with the answer.
    """

    file_kind: ClassVar[str] = "plan"

    name: str = "server"
    arrangement: Annotated[
        Literal["compare", "apart", "shared"] | tuple[tuple[str, ...], ...], BeforeValidator(_as_arrays)
    ] = "compare"
    volumes: tuple[Volume, ...] = Field(min_length=1, max_length=16)
    objective: ArrayObjective = ArrayObjective()
    candidates: Candidates
    layout: CommonLayout = CommonLayout()
    controller: NamedController = Controller()
    queue: Queue = Queue()
    host: Host = Host()
    spindles: Spindles = Spindles()
    prices: Prices = Prices()
    search: Search = Search()
    notes: tuple[str, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _no_second_workload(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and "workload" in data:
            raise ValueError(
                "workload: is given together with volumes, which have their own; put it into a volume, or remove it"
            )
        return data

    @field_validator("volumes")
    @classmethod
    def _named_once(cls, volumes: tuple[Volume, ...]) -> tuple[Volume, ...]:
        names = [volume.name for volume in volumes]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"two volumes have the name {twice!r}; rename one of them")
        return volumes

    @model_validator(mode="after")
    def _check(self) -> Self:
        names = [volume.name for volume in self.volumes]
        known = ", ".join(names)
        degraded = self.objective.degraded
        unknown = sorted(set(degraded.latency.streams) - set(names)) if degraded else []
        if unknown:
            raise ValueError(f"objective.degraded.latency.streams.{unknown[0]}: no such volume; use one of {known}")
        if not isinstance(self.arrangement, str):
            listed = [name for array in self.arrangement for name in array]
            unknown = sorted(set(listed) - set(names))
            if unknown:
                raise ValueError(f"arrangement: {unknown[0]!r} is no volume; use {known}")
            if sorted(listed) != sorted(names):
                raise ValueError(f"arrangement: must have every volume on one array; place each of {known} once")
        return self

    @property
    def arrangements(self) -> dict[str, tuple[tuple[str, ...], ...]]:
        """The arrangements to answer: the volumes of each array, by the name of the arrangement."""
        names = tuple(volume.name for volume in self.volumes)
        apart, shared = tuple((name,) for name in names), (names,)
        if self.arrangement == APART or len(names) == 1:
            return {APART: apart}
        if self.arrangement == SHARED:
            return {SHARED: shared}
        found = {APART: apart, SHARED: shared}
        if not isinstance(self.arrangement, str):
            found["as given"] = self.arrangement
            same = [
                key
                for key in (APART, SHARED)
                if set(map(frozenset, found[key])) == set(map(frozenset, self.arrangement))
            ]
            if same:
                del found["as given"]
        return found

    def volume(self, name: str) -> Volume:
        """Return the volume of that name."""
        return next(volume for volume in self.volumes if volume.name == name)

    def plan_of(self, names: Sequence[str]) -> PlanDescription:
        """Return the question for one array with the volumes of these names.

        An array with one volume is asked for as a plan without volumes asks. On one with several they lie one after
        the other from the outer edge, in the order of the file, and each volume has to meet its own limits.
        """
        chosen = [volume for volume in self.volumes if volume.name in names]
        rest = {
            key: getattr(self, key)
            for key in ("candidates", "layout", "controller", "queue", "host", "spindles", "prices", "search")
        }
        alone = [self._plan_alone(volume, rest) for volume in chosen]
        if len(chosen) == 1:
            return alone[0]
        streams: list[Stream] = []
        limits: dict[str, LatencyLimits] = {}
        first_byte = 0
        for volume, plan in zip(chosen, alone, strict=True):
            own = volume.workload.streams
            named = {s.name: volume.name if len(own) == 1 else f"{volume.name}/{s.name}" for s in own}
            streams += volume.placed(plan.design_workload, first_byte, stream_names=named).streams
            latency = volume.objective.latency
            general = LatencyLimits(**{f"{name}_ns": limit for name, limit in latency.limits().items()})
            for key, value in [(volume.name, general), *((named[s], v) for s, v in latency.streams.items())]:
                limits[key] = _tighter(limits.get(key), value)
            first_byte += volume.usable_bytes
        return PlanDescription(
            name=f"{self.name}: {', '.join(volume.name for volume in chosen)} on one array",
            workload=Workload(name=", ".join(volume.name for volume in chosen), streams=tuple(streams)),
            objective=Objective(
                capacity_bytes=first_byte,
                latency=LatencyObjective(streams=limits),
                **self.objective.of_shared([volume.name for volume in chosen]),
            ),
            **rest,
        )

    def _plan_alone(self, volume: Volume, rest: Mapping[str, Any]) -> PlanDescription:
        workload = volume.workload
        stated = (workload.span_bytes, workload.span_ratio)
        fields = ("span_bytes", "span_ratio", "offset_bytes", "offset_ratio")
        if any(item is not None for item in stated) or any(
            getattr(stream, field) is not None for stream in workload.streams for field in fields
        ):
            workload = volume.placed(workload, 0)
        return PlanDescription(
            name=f"{self.name}: {volume.name}",
            workload=workload,
            objective=volume.objective_alone(self.objective),
            **rest,
        )

    @property
    def preset_notes(self) -> tuple[str, ...]:
        """Sources and assumptions of the presets that volumes begin with."""
        said = []
        for volume in self.volumes:
            if volume.preset is not None:
                found = preset(volume.preset)
                said += [f"{volume.name}: source: {source}" for source in found.sources]
                said += [f"{volume.name}: assumed: {assumption}" for assumption in found.assumptions]
        return tuple(said)

    @property
    def region(self) -> str:
        """Where requests of shared volumes fall, in a sentence."""
        sizes = ", ".join(f"{volume.name} {nominal_bytes(volume.usable_bytes)}" for volume in self.volumes)
        return f"on a shared array the volumes lie one after the other from the outer edge: {sizes}"

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Return the plan in a TOML file; paths in it are relative to the file.

        Raises
        ------
        DescriptionError
            With every fault of the file.
        """
        data = read_toml(path, cls.file_kind)
        folder = Path(path).parent
        if isinstance(data.get("volumes"), list):
            data["volumes"] = [
                {**volume, "workload": beside({"workload": volume["workload"]}, folder)["workload"]}
                if isinstance(volume, Mapping) and isinstance(volume.get("workload"), str)
                else volume
                for volume in data["volumes"]
            ]
        return cls.parse(beside(data, folder), str(path))


def _tighter(one: LatencyLimits | None, other: LatencyLimits) -> LatencyLimits:
    """Return the lower of the limits of both."""
    if one is None:
        return other
    mine, theirs = one.limits(), other.limits()
    return LatencyLimits(
        **{f"{k}_ns": min(limits[k] for limits in (mine, theirs) if k in limits) for k in {**mine, **theirs}}
    )
