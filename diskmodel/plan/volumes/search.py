"""The cheapest volumes of a cloud that meet an objective: how many, how large, with which limits."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import field, replace

from diskmodel.array import Array
from diskmodel.doing import doing
from diskmodel.drive import CloudVolume
from diskmodel.engine.simulate import simulate
from diskmodel.loading import dataclass
from diskmodel.plan.question.description import PlanDescription
from diskmodel.plan.question.narrow import asked_in_words, missed_limit, refuse_unread, slow_one_of_ten
from diskmodel.plan.volumes.answer import AS_CHEAP, VolumeCandidate, VolumePlan
from diskmodel.plan.volumes.prices import CloudPrices, VolumePrice
from diskmodel.result import Result

_GIB, _MIB = 1 << 30, 1 << 20
#: Numbers of volumes that are tried: what one machine takes beside its network cards.
COUNTS = (1, 2, 3, 4, 6, 8, 12, 16)
#: Steps in which operations and MiB a second are provisioned: finer ones change the price by less than a percent.
_IOPS_STEP, _MIB_STEP = 100, 25
#: Requests of a run: a second or more of a load whose volumes let pass what they saved in one (`bucket_ns`).
_REQUESTS = 20_000
#: So many numbers of volumes in a row that are no cheaper end the search.
_NO_CHEAPER = 2
#: Rows of a type that cost more than so many times its cheapest are left out.
_WORTH_A_ROW = 1.1
#: Volumes that are less busy than this when a load is not served wait for the machine.
_BUSY = 0.9
#: Share of a limit from which on an open load counts as more than it: runs are too short to see the difference.
_FULL = 0.99
#: Why no volumes do.
_MACHINE = "the machine's own limit"


def plan_volumes(plan: PlanDescription, prices: CloudPrices) -> VolumePlan:
    """Return the cheapest provision of each type of volume.

    Parameters
    ----------
    plan : PlanDescription
        Workload, objective, controller (the machine, whose own limits count) and host; its drives and levels do not
        matter.
    prices : CloudPrices

    Raises
    ------
    DescriptionError
        When the objective asks for what is not looked at here, or a price is of no volume.
    """
    refuse_unread(plan.objective, "volumes of a cloud", "rebuild_hours", "data_loss_per_year", "degraded")
    found: list[VolumeCandidate] = []
    for volume, price in prices.priced():
        with doing(f"looking for the cheapest {volume.name}"):
            found += _Search(plan, volume, price).candidates()
    return VolumePlan(plan.design_workload, plan.objective, _ordered(found), asked_in_words(plan.objective), prices)


def _ordered(found: Sequence[VolumeCandidate]) -> tuple[VolumeCandidate, ...]:
    """Return what meets the objective, the cheapest first, and the rest."""
    cheapest = min((one.a_month for one in found if one.feasible), default=0.0)

    def rank(one: VolumeCandidate) -> tuple[bool, bool, float, float]:
        is_dear = one.a_month > cheapest * AS_CHEAP
        return not one.feasible, is_dear, one.a_month if is_dear else one.count, one.a_month

    return tuple(sorted(found, key=rank))


@dataclass(frozen=True)
class _Provision:
    """What is bought of one volume: whole GiB, operations a second, MiB a second; 0 where the type has no choice."""

    gib: int
    iops: int = 0
    mib_per_s: int = 0


@dataclass(frozen=True)
class _Search:
    """The search among volumes of one type."""

    plan: PlanDescription
    volume: CloudVolume
    price: VolumePrice
    #: Runs of the bad one of ten: the last that a search asked for is also the candidate's.
    _slow_runs: dict[tuple[int, _Provision], Result] = field(default_factory=dict, compare=False, repr=False)

    def candidates(self) -> list[VolumeCandidate]:
        """Return the cheapest provision of each number of volumes, as long as more might be cheaper."""
        found: list[VolumeCandidate] = []
        cheapest, n_dearer = math.inf, 0
        for count in COUNTS:
            one = self._of_count(count)
            if one is None:
                continue
            found.append(one)
            if one.feasible:
                n_dearer = n_dearer + 1 if one.a_month >= cheapest else 0
                cheapest = min(cheapest, one.a_month)
            if n_dearer == _NO_CHEAPER or _MACHINE in one.binds:
                break
        listed = [one for one in found if one.feasible and one.a_month <= cheapest * _WORTH_A_ROW]
        return [self._with_draws(one) for one in listed] or found[-1:]

    def _of_count(self, count: int) -> VolumeCandidate | None:
        """Return the cheapest provision of so many volumes; None where they hold too little."""
        price, needed = self.price, self.plan.objective.usable_bytes or 0
        if price.has_fixed_size:
            if count * self.volume.capacity_bytes < needed:
                return None
            return self._candidate(count, _Provision(0), "")
        least = max(math.ceil(needed / count / _GIB), math.ceil(price.least_bytes / _GIB))
        most = price.most_bytes // _GIB
        if least > most:
            return None
        if not price.has_iops:
            gib, binds = self._least(least, most, 1, lambda gib: self._missed(count, _Provision(gib)))
            return self._candidate(count, _Provision(gib), binds)
        return self._with_limits(count, least)

    def _with_limits(self, count: int, gib: int) -> VolumeCandidate:
        """Return the fewest operations a second that do with the most bytes a second, then the fewest bytes."""
        volume, price = self.volume, self.price
        most_iops = int(volume.most_iops or 1e6)
        first = int(max(price.included_iops, price.least_iops))

        def of(iops: int, mib: int) -> _Provision:
            size = gib if price.most_iops_per_gib is None else max(gib, math.ceil(iops / price.most_iops_per_gib))
            return _Provision(size, iops, mib if price.has_throughput else 0)

        def most_mib(iops: int) -> int:
            most = (volume.most_throughput_bytes_per_s or 1e12) / _MIB
            each = price.throughput_per_iops_bytes
            return int(min(most, iops * each / _MIB) if each else most)

        iops, binds = self._least(
            first, most_iops, _IOPS_STEP, lambda iops: self._missed(count, of(iops, most_mib(iops)))
        )
        mib, included = 0, price.included_throughput_bytes_per_s
        if price.has_throughput:
            lowest = int((included or _MIB) / _MIB)
            most = max(most_mib(iops), lowest)
            mib, of_bytes = self._least(lowest, most, _MIB_STEP, lambda mib: self._missed(count, of(iops, mib)))
            binds = binds or of_bytes
        return self._candidate(count, of(iops, mib), binds)

    def _least(self, low: int, high: int, step: int, missed: Callable[[int], str]) -> tuple[int, str]:
        """Return the least of rising values that misses nothing, and what the step before it misses.

        The highest one where all miss something.
        """
        why = missed(low)
        if not why or low >= high:
            return min(low, high), why
        # below lies what fails; the highest may fail, too, which the candidate's own runs say
        end = -(-(high - low) // step)
        below, above = 0, 1
        while above < end and (now := missed(low + above * step)):
            below, why, above = above, now, min(2 * above, end)
        while above - below > 1:
            middle = (below + above) // 2
            if now := missed(low + middle * step):
                below, why = middle, now
            else:
                above = middle
        return min(low + above * step, high), why

    # ------------------------------------------------------------------ trying
    def _array(self, count: int, provision: _Provision) -> Array:
        said: dict[str, object] = {}
        if provision.gib:
            said["capacity"] = f"{provision.gib} GiB"
        if provision.iops:
            said["iops"] = float(provision.iops)
        if provision.mib_per_s:
            said["throughput"] = f"{provision.mib_per_s} MiB/s"
        plan, volume = self.plan, self.volume
        array = Array.parse(
            {
                "name": f"{count}x {volume.name}",
                "drive": type(volume).parse(volume.provisioned(said)),
                "layout": {"level": "raid0" if count > 1 else "jbod", "disks": count},
                "controller": plan.controller,
                "host": plan.host,
                "queue": plan.queue,
            }
        )
        return array.for_use(plan.design_workload)

    def _run(self, array: Array, draws: int) -> Result:
        load = self.plan.design_workload
        n = max(_REQUESTS, 8 * load.queue_depth)
        return simulate(array, load, n_requests=n, seed=self.plan.search.seed, profile_draws=draws)

    def _slow_run(self, count: int, provision: _Provision) -> Result:
        key = (count, provision)
        if key not in self._slow_runs:
            self._slow_runs[key] = self._run(_slow(self._array(count, provision)), 0)
        return self._slow_runs[key]

    def _missed(self, count: int, provision: _Provision) -> str:
        """Return what the bad one of ten misses; "" where it meets everything."""
        result = self._slow_run(count, provision)
        return self._short_of(result) or missed_limit(self.plan.objective.latency, self._latency(result))

    def _latency(self, result: Result) -> dict[str, float]:
        """Return mean and percentiles of a run, ms."""
        return {name: result.latency.interval_of(name).value / 1e6 for name in self._statistics()}

    def _statistics(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(("mean", *self.plan.objective.latency.limits(), "p99")))

    def _short_of(self, result: Result) -> str:
        """Return how a run falls short in its rate or in its reserve."""
        objective, rate = self.plan.objective, result.iops.mean
        if not result.is_stable:
            why = "" if result.utilization_ratio > _BUSY else f": {_MACHINE}"
            return f"it completes {rate:,.0f}/s{why}"
        if self.plan.workload.is_open and result.utilization_ratio > _FULL:
            return f"{result.utilization_ratio:.1%} of a limit is in use"
        asked = objective.design_iops
        # three in a thousand: the noise of a run
        if asked is not None and not self.plan.workload.is_open and rate < 0.997 * asked:
            return f"its clients complete {rate:,.0f}/s"
        ceiling = objective.utilization_ceiling_ratio
        if ceiling is not None and result.utilization_ratio > ceiling:
            return f"{result.utilization_ratio:.0%} of a limit is in use"
        return ""

    def _candidate(self, count: int, provision: _Provision, binds: str) -> VolumeCandidate:
        """Return a provision with what it answers as described and in the bad one of ten."""
        array = self._array(count, provision)
        typical, bad = self._run(array, 0), self._slow_run(count, provision)
        missed = self._short_of(typical) or missed_limit(self.plan.objective.latency, self._latency(bad))
        return VolumeCandidate(
            type=self.volume.name,
            count=count,
            feasible=not missed,
            binds=missed or binds,
            a_month=round(count * self.price.a_month(_volume_of(array)), 4),
            array=array,
            utilization=typical.utilization_ratio,
            latency_ms=self._latency(typical),
            latency_p90_ms=self._latency(bad),
        )

    def _with_draws(self, candidate: VolumeCandidate) -> VolumeCandidate:
        """Return a candidate with the bad one of ten of drawn volumes, and whether these meet the objective."""
        result = self._run(candidate.array, 16)
        middles = {name: result.middle_of(name) for name in self._statistics()}
        bad = {name: middle.high / 1e6 for name, middle in middles.items() if middle is not None}
        bad = {**candidate.latency_p90_ms, **bad}
        over = missed_limit(self.plan.objective.latency, bad)
        found = replace(candidate, latency_ms=self._latency(result), latency_p90_ms=bad)
        return replace(found, feasible=False, binds=f"{over} in one of ten") if over else found


def _volume_of(array: Array) -> CloudVolume:
    volume = array.drive
    assert isinstance(volume, CloudVolume)
    return volume


def _slow(array: Array) -> Array:
    """Return an array of volumes as the bad one of ten has them."""
    volume = _volume_of(array)
    return array.model_copy(update={"drive": volume.perturbed(slow_one_of_ten(volume.spread_class))})
