"""Description of a volume of a cloud or a storage network, and its tables for the engines."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from pydantic import Field, model_validator

from diskmodel.drive.card import LONG_BYTES, Trouble
from diskmodel.drive.cloud.tables import CloudTables
from diskmodel.drive.cloud.troubles import TROUBLES
from diskmodel.drive.cloud.words import provision_of, sized
from diskmodel.drive.perturbation import DrivePerturbation, scaled_times
from diskmodel.drive.profile import Profile
from diskmodel.drive.whole_numbers import Int64, frozen
from diskmodel.units import NS_PER_S, Bytes, BytesPerSecond, Length, Nanoseconds, PerSecond, in_minutes, pretty_bytes

_GIB, _TIB = 1 << 30, 1 << 40
#: Values of a table of latencies: enough for a percentile of 99.9.
_N_DELAYS = 1024
#: Score of the 95th percentile of a normal distribution.
_P95 = 1.6448536269514722
#: Longest time that a limit may be ahead of its rate, as the kernel allows it: two years.
_MAX_BURST_NS = 1 << 56


class Limit(NamedTuple):
    """A limit of one volume, of operations or of bytes a second.

    Attributes
    ----------
    per_s : float
        What the volume keeps up for any time.
    burst_per_s : float
        What it does while credits are left; as `per_s` where there are none.
    credits : float
        Operations or bytes that a full bucket holds beyond `per_s`.
    """

    per_s: float
    burst_per_s: float
    credits: float

    @classmethod
    def of(cls, per_s: float, burst_per_s: float | None, credits: float) -> Self:
        """Return a limit; a burst that is no faster spends no credits."""
        if burst_per_s is None or burst_per_s <= per_s:
            return cls(per_s, per_s, 0.0)
        return cls(per_s, burst_per_s, credits)

    def burst_seconds(self, asked_per_s: float) -> float:
        """Return how long a full bucket lasts under a load, seconds; infinity where it never ends."""
        spent_per_s = min(asked_per_s, self.burst_per_s) - self.per_s
        return self.credits / spent_per_s if spent_per_s > 0 else math.inf


class CloudVolume(Profile):
    """A volume of a cloud or a storage network: limits with bursts before a latency.

    What is behind the limits (a network, servers and their drives) appears only in the latency, which hardly depends
    on the load below the limits.

    Attributes
    ----------
    iops, iops_per_gib : float, optional
        Operations a second that are provisioned, and what each GiB of the size adds; from `least_iops` to `most_iops`.
        None of both: no limit.
    included_iops, included_throughput_bytes_per_s : float, optional
        What such a volume has where nothing more is provisioned.
    burst_iops : float, optional
        Operations a second while credits are left.
    credits : float
        Operations that a full bucket holds.
    throughput_bytes_per_s, throughput_per_tib_bytes_per_s : float, optional
        Bytes a second that are provisioned, and what each TiB of the size adds; up to `most_throughput_bytes_per_s`.
    burst_throughput_bytes_per_s, burst_throughput_per_tib_bytes_per_s : float, optional
        Bytes a second while credits are left.
    byte_credits_bytes : int
        Bytes that a full bucket holds; `byte_credits_ratio` gives them as a multiple of the size.
    op_bytes : int
        A request counts as one operation for each so many bytes.
    merges : bool
        Whether what continues the request before belongs to it, so that small requests in order count as one operation
        together. EBS does so; of other providers it is not known.
    least_bytes : int
        What a request counts for at least against the limit of bytes, unless it continues the one before.
    bucket_ns : int
        How long a volume that was idle may exceed a limit without credits.
    read_p50_ns, read_p95_ns, write_p50_ns, write_p95_ns : int
        Percentiles of the latency without waiting for a limit; its logarithm is normal. Writes without any have those
        of reads.
    state : "spent" or "full"
        Whether the credits are used up. Answers for any time are those of the used up ones.
    is_drained : bool
        Whether `bucket_ns` is used up when a run begins, as under a load that exceeds a limit.
    queue_depth : int
        Requests that the volume accepts at a time.
    """

    usual_ure_per_bit: ClassVar[float] = 1e-17
    formula: ClassVar[str] = "diskmodel.analytic.volumes:volumes"
    busy_as: ClassVar[str] = "the limits of the volumes"
    may_have_controller: ClassVar[bool] = False
    unknowns_called: ClassVar[Mapping[str, str]] = MappingProxyType({"flash times": "latency of reads"})
    slower_than_rated: ClassVar[str] = "a volume reaches its limit only with enough requests outstanding"
    troubles: ClassVar[tuple[Trouble, ...]] = TROUBLES
    listed_as: ClassVar[tuple[str, str]] = ("cloud", "volumes of clouds")
    planned_by: ClassVar[str] = "diskmodel.plan.volumes.asked:asked"

    kind: Literal["cloud"] = "cloud"
    iops: PerSecond | None = None
    iops_per_gib: Annotated[float, Field(gt=0, le=1e6)] | None = None
    least_iops: PerSecond | None = None
    most_iops: PerSecond | None = None
    included_iops: PerSecond | None = None
    included_throughput_bytes_per_s: BytesPerSecond | None = None
    burst_iops: PerSecond | None = None
    credits: Annotated[float, Field(ge=0, le=1e12)] = 0.0
    throughput_bytes_per_s: BytesPerSecond | None = None
    throughput_per_tib_bytes_per_s: BytesPerSecond | None = None
    most_throughput_bytes_per_s: BytesPerSecond | None = None
    burst_throughput_bytes_per_s: BytesPerSecond | None = None
    burst_throughput_per_tib_bytes_per_s: BytesPerSecond | None = None
    byte_credits_bytes: Bytes = 0
    byte_credits_ratio: Annotated[float, Field(ge=0, le=1e3)] = 0.0
    op_bytes: Annotated[Length, Field(gt=0)] = 256 << 10
    merges: bool = True
    least_bytes: Length = 0
    # four to ten percent above a limit in the first ten seconds: up to a second's worth (gp3 and io2, fio, 2020)
    bucket_ns: Nanoseconds = NS_PER_S
    read_p50_ns: Annotated[Nanoseconds, Field(gt=0)]
    read_p95_ns: Annotated[Nanoseconds, Field(gt=0)]
    write_p50_ns: Annotated[Nanoseconds, Field(gt=0)] | None = None
    write_p95_ns: Annotated[Nanoseconds, Field(gt=0)] | None = None
    state: Literal["spent", "full"] = "spent"
    is_drained: bool = False
    # Linux's nr_requests of an NVMe device, for each of its queues
    queue_depth: Annotated[int, Field(ge=1, le=65536)] = 1023

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.op_bytes % self.sector_bytes:
            raise ValueError(f"op_bytes: must be a multiple of sector_bytes={self.sector_bytes}; round it up")
        for name in ("read", "write"):
            low, high = getattr(self, f"{name}_p50_ns"), getattr(self, f"{name}_p95_ns")
            if (low is None) != (high is None):
                raise ValueError(f"{name}_p50 and {name}_p95: must be given together; add the other one")
            if low is not None and high < low:
                raise ValueError(f"{name}_p95={high} ns: is below {name}_p50; raise it")
        if self.credits and self.burst_iops is None:
            raise ValueError("credits: are spent at burst_iops, which is not given; add it")
        if self.ops_limit is None and self.burst_iops is not None:
            raise ValueError("burst_iops: needs iops or iops_per_gib, which it exceeds; add one")
        if self.bytes_limit is None and (
            self.burst_throughput_bytes_per_s or self.burst_throughput_per_tib_bytes_per_s
        ):
            raise ValueError("burst_throughput: needs throughput, which it exceeds; add it")
        has_bursts = self.burst_throughput_bytes_per_s or self.burst_throughput_per_tib_bytes_per_s
        if (self.byte_credits_bytes or self.byte_credits_ratio) and not has_bursts:
            raise ValueError("byte_credits: are spent at burst_throughput, which is not given; add it")
        if self.least_iops is not None and self.ops_limit is None:
            raise ValueError("least_iops: needs iops or iops_per_gib, of which it is the least; add one")
        for given, most, name in (
            (self.iops, self.most_iops, "iops"),
            (self.throughput_bytes_per_s, self.most_throughput_bytes_per_s, "throughput_bytes_per_s"),
        ):
            if given is not None and most is not None and given > most:
                raise ValueError(f"{name}={given:g}: is above {most:g}, the most that such a volume has; lower it")
        return self

    @property
    def ops_limit(self) -> Limit | None:
        """Limit of operations a second; None without any."""
        per_s = _by_size(self.iops, self.iops_per_gib, self.capacity_bytes / _GIB, None)
        if per_s is None:
            return None
        per_s = min(max(per_s, self.least_iops or 0.0), self.most_iops or math.inf)
        return Limit.of(per_s, self.burst_iops, self.credits)

    @property
    def bytes_limit(self) -> Limit | None:
        """Limit of bytes a second; None without any."""
        size, most = self.capacity_bytes / _TIB, self.most_throughput_bytes_per_s
        per_s = _by_size(self.throughput_bytes_per_s, self.throughput_per_tib_bytes_per_s, size, most)
        if per_s is None:
            return None
        burst = _by_size(self.burst_throughput_bytes_per_s, self.burst_throughput_per_tib_bytes_per_s, size, most)
        return Limit.of(per_s, burst, self.byte_credits_bytes + self.byte_credits_ratio * self.capacity_bytes)

    @property
    def has_credits(self) -> bool:
        """Whether credits let it do more for a while."""
        return any(limit is not None and limit.credits > 0 for limit in (self.ops_limit, self.bytes_limit))

    @property
    def _shown_limits(self) -> list[tuple[Limit, str, float]]:
        """Its limits (one or both may be absent), each with the unit in which they are shown and how much that is."""
        limits = ((self.ops_limit, "IOPS", 1.0), (self.bytes_limit, "MB/s", 1e6))
        return [(limit, unit, scale) for limit, unit, scale in limits if limit is not None]

    @property
    def speed_class(self) -> str:
        """Its kind."""
        return self.kind

    @property
    def rated_iops(self) -> float:
        """Its limit of operations; as many as its queue takes where there is none."""
        limit = self.ops_limit
        return self.queue_depth * NS_PER_S / self.read_p50_ns if limit is None else limit.per_s

    @property
    def sequential_bytes_per_s(self) -> float:
        """Its limit of bytes; that of single long requests where there is none."""
        limit = self.bytes_limit
        return LONG_BYTES * NS_PER_S / self.read_p50_ns if limit is None else limit.per_s

    @property
    def accepted_commands(self) -> int:
        """Length of its queue."""
        return self.queue_depth

    @property
    def spread_class(self) -> str:
        """Whether its latency was measured, or is assumed from what its provider promises."""
        is_assumed = self.is_typical or "read_p50_ns" in self.provenance.get("assumed", ())
        return "cloud-any" if is_assumed else "cloud"

    @property
    def quantities(self) -> frozenset[str]:
        """Latencies; limits are what was bought."""
        return frozenset(("flash_read_time", "flash_write_latency"))

    def perturbed(self, perturbation: DrivePerturbation) -> Self:
        """Return a volume with other latencies; its limits are what was bought."""
        update: dict[str, Any] = {"uncertainty": None}
        for factor, names in (
            (perturbation.read_time, ("read_p50_ns", "read_p95_ns")),
            (perturbation.write_latency, ("write_p50_ns", "write_p95_ns")),
        ):
            if factor:
                update |= scaled_times(self, names, factor)
        return self.model_copy(update=update)

    def about_credits(self, ops_per_s: float, bytes_per_s: float) -> str:
        """Return in a sentence what credits would do under such a load; "" where there are none to spend.

        Parameters
        ----------
        ops_per_s, bytes_per_s : float
            What is asked of the volume; infinity of a load that waits for its answers.
        """
        found, loads = [], {"IOPS": ops_per_s, "MB/s": bytes_per_s}
        for limit, unit, scale in self._shown_limits:
            asked = loads[unit]
            seconds = limit.burst_seconds(asked)
            if seconds < math.inf:
                burst, base = (f"{value / scale:,.4g} {unit}" for value in (min(asked, limit.burst_per_s), limit.per_s))
                found.append(f"{burst} for {in_minutes(seconds)}, then {base}")
        if not found:
            return ""
        taken = "used up, as under any lasting load" if self.state == "spent" else "full"
        return f"the credits of {self.name} are taken to be {taken}: full ones serve {' and '.join(found)}"

    def derived(self) -> dict[str, float]:
        """Return what it keeps up for any time."""
        limits = {"sustained_iops": self.ops_limit, "sustained_bytes_per_s": self.bytes_limit}
        return {name: limit.per_s for name, limit in limits.items() if limit is not None}

    def facts(self) -> list[tuple[str, str]]:
        """Return limits and latencies."""
        found = []
        for limit, unit, scale in self._shown_limits:
            burst = ""
            if limit.credits:
                minutes = limit.burst_seconds(math.inf) / 60
                burst = f"; {limit.burst_per_s / scale:,.4g} for {minutes:,.0f} minutes while credits are left"
            found.append(("limit", f"{limit.per_s / scale:,.4g} {unit}{burst}"))
        joined = "; requests in order are merged up to that" if self.merges else "; requests in order count singly"
        if self.ops_limit is not None or self.least_bytes:
            found.append(("operation", f"up to {pretty_bytes(self.op_bytes)}{joined}"))
        for name, low, high in (
            ("read", self.read_p50_ns, self.read_p95_ns),
            ("write", self.write_p50_ns, self.write_p95_ns),
        ):
            if low is not None and high is not None:
                found.append((name, f"{low / 1e6:g} ms at the median, {high / 1e6:g} ms at 95 %, below the limits"))
        return found

    @property
    def is_provisioned(self) -> bool:
        """Whether its size and its limits are bought by the piece."""
        return True

    @classmethod
    def bought_in(cls, part: str) -> dict[str, Any]:
        """Return what a part of the words of an array provisions of a volume."""
        return provision_of(part)

    @classmethod
    def bought_by_name(cls, name: str) -> tuple[str, dict[str, Any]] | None:
        """Return the name of a volume without its size, and that size; None of names without one."""
        return sized(name)

    def provisioned(self, said: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields of the volume with what somebody provisions of it.

        Parameters
        ----------
        said : mapping of str to any
            Any of "capacity", "iops", "throughput", "state". What is said of a limit replaces what the size adds to it.
        """
        replaced = {
            "capacity": {"capacity_bytes"},
            "iops": {"iops", "iops_per_gib"},
            "throughput": {"throughput_bytes_per_s", "throughput_per_tib_bytes_per_s"},
        }
        dropped = set().union(*(fields for key, fields in replaced.items() if key in said))
        own = {key: value for key, value in self.model_dump(exclude_unset=True).items() if key not in dropped}
        return own | dict(said)

    def sold_per_s(self, n_bytes: float, *, in_order: bool) -> float:
        """Return the lower one of its limits; requests in order may be merged, and are then not counted singly."""
        if self.state == "full" and self.has_credits:
            return math.inf
        ops = math.inf if self.ops_limit is None or (in_order and self.merges) else self.ops_limit.per_s
        return min(ops, math.inf if self.bytes_limit is None else self.bytes_limit.per_s / max(n_bytes, 1.0))

    def under(self, ops_per_s: float, bytes_per_s: float) -> Self:
        """Return the volume with what such a load leaves of its buckets: nothing where it exceeds a limit."""
        asked = ((self.ops_limit, ops_per_s), (self.bytes_limit, max(bytes_per_s, ops_per_s * self.least_bytes)))
        is_over = any(limit is not None and per_s >= limit.per_s for limit, per_s in asked)
        return self.model_copy(update={"is_drained": True}) if is_over and self.state == "spent" else self

    def in_a_test(self) -> Self:
        """Return the volume as a test of a minute finds it: without the second's worth that it had before."""
        return self if self.is_drained else self.model_copy(update={"is_drained": True})

    def delays_ns(self, *, is_write: bool) -> Int64:
        """Return equally likely latencies of reads or of writes that wait for no limit, ascending."""
        low, high = self.read_p50_ns, self.read_p95_ns
        if is_write and self.write_p50_ns is not None and self.write_p95_ns is not None:
            low, high = self.write_p50_ns, self.write_p95_ns
        return _delays(low, high)

    def tables(self) -> CloudTables:
        """Return the tables for the engines."""
        ops, n_bytes = (self._buckets(limit) for limit in (self.ops_limit, self.bytes_limit))
        return CloudTables(
            sector_bytes=self.sector_bytes,
            n_sectors=self.n_sectors,
            op_rates=ops[0],
            byte_rates=n_bytes[0],
            op_bursts_ns=ops[1],
            byte_bursts_ns=n_bytes[1],
            op_bytes=self.op_bytes,
            least_bytes=self.least_bytes,
            merges=self.merges,
            read_delay_ns=self.delays_ns(is_write=False),
            write_delay_ns=self.delays_ns(is_write=True),
            is_spent=self.is_drained and self.state == "spent",
            queue_depth=self.queue_depth,
        )

    def _buckets(self, limit: Limit | None) -> tuple[Int64, Int64]:
        """Return rates and bursts of a limit, the highest rate first."""
        if limit is None:
            return frozen([]), frozen([])
        # nothing may be left of the first second, and yet the credits be full
        idle_ns = 0 if self.is_drained and self.state == "full" else self.bucket_ns
        found = [(limit.per_s, idle_ns)]
        if self.state == "full" and limit.credits:
            credits_ns = min(round(limit.credits / limit.per_s * NS_PER_S), _MAX_BURST_NS)
            found = [(limit.burst_per_s, idle_ns), (limit.per_s, credits_ns)]
        return frozen([max(round(rate), 1) for rate, _ in found]), frozen([burst for _, burst in found])


def _by_size(own: float | None, per_unit: float | None, size: float, most: float | None) -> float | None:
    """Return a rate and what the size adds to it, up to the most; None where neither is given."""
    if own is None and per_unit is None:
        return None
    return min((own or 0.0) + (per_unit or 0.0) * size, most or math.inf)


@cache
def _delays(p50_ns: int, p95_ns: int) -> Int64:
    """Return equally likely values of a distribution whose logarithm is normal, ascending."""
    from scipy.special import ndtri

    sigma = math.log(p95_ns / p50_ns) / _P95
    scores = ndtri((np.arange(_N_DELAYS) + 0.5) / _N_DELAYS)
    return frozen(np.rint(p50_ns * np.exp(sigma * scores)))
