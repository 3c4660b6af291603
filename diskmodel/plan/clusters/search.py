"""The fewest nodes and drives of a pool that meets an objective, with a node failed, too."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from diskmodel.array import Array
from diskmodel.doing import doing
from diskmodel.drive import ClusterPool, Drive, scheme_of_words
from diskmodel.engine.ledger import as_question
from diskmodel.engine.simulate import simulate
from diskmodel.errors import DescriptionError, Fault
from diskmodel.loading import dataclass
from diskmodel.plan.clusters.answer import ClusterCandidate, ClusterPlan, State
from diskmodel.plan.question.description import PlanDescription
from diskmodel.plan.question.narrow import asked_in_words, missed_limit, refuse_unread, slow_one_of_ten
from diskmodel.result import Result
from diskmodel.units import pretty_ns
from diskmodel.workload import Workload

#: The most drives of a node: what two rack units hold.
MOST_DRIVES = 24
#: Nodes beyond the fewest that are tried where nobody says how many.
_MORE_NODES = (0, 1, 2, 3, 5, 9)
#: Requests of each run of the search, and of those about the answer.
_REQUESTS, _REQUESTS_AT_ANSWER = 3000, 8000
#: Drives a node that are added at the answer where draws refuse what the search found.
_STEPS = 3


@as_question
def plan_clusters(plan: PlanDescription, schemes: Sequence[str]) -> ClusterPlan:
    """Return the fewest drives of each kind and scheme, in several numbers of nodes.

    Parameters
    ----------
    plan : PlanDescription
        Workload, objective and drives; its levels do not matter.
    schemes : sequence of str
        Pools without their drives, in words: "ceph replica 3, 25GbE".

    Raises
    ------
    DescriptionError
        When the objective asks for what is not modeled of clusters, or a scheme is none.
    """
    refuse_unread(plan.objective, "pools of clusters", "utilization_ceiling_ratio")
    found: list[ClusterCandidate] = []
    for scheme in schemes:
        fields = scheme_of_words(scheme)
        for drive in plan.candidates.drives:
            with doing(f"looking for the fewest {drive.name} in {scheme}"):
                found += _Search(plan, scheme, fields, drive).candidates()
    order = sorted(found, key=lambda one: (not one.feasible, one.disks, one.nodes))
    return ClusterPlan(plan.design_workload, plan.objective, tuple(order), asked_in_words(plan.objective))


@dataclass(frozen=True)
class _Search:
    """The search for one drive and one scheme."""

    plan: PlanDescription
    scheme: str
    fields: Mapping[str, Any]
    drive: Drive

    def candidates(self) -> list[ClusterCandidate]:
        """Return the fewest drives in each number of nodes, as far as more nodes need fewer."""
        found: list[ClusterCandidate] = []
        fewest = math.inf
        for nodes in self._node_counts():
            one = self._in_nodes(nodes)
            found.append(one)
            if one.feasible and one.disks >= fewest:
                break
            fewest = min(fewest, one.disks if one.feasible else math.inf)
        return found

    def _node_counts(self) -> list[int]:
        if "nodes" in self.fields:
            return [int(self.fields["nodes"])]
        width = int(self.fields.get("data", 0)) + int(self.fields.get("parity", 0)) or int(
            self.fields.get("replicas", 3)
        )
        least = 2 if self.fields.get("failure_domain") == "osd" else max(width, 2)
        return [least + more for more in _MORE_NODES]

    def _most(self, nodes: int) -> int:
        """Return the most drives of a node that are looked at."""
        candidates = self.plan.candidates
        if "max_disks" not in candidates.model_fields_set:
            return MOST_DRIVES
        return min(candidates.max_disks // nodes, MOST_DRIVES)

    def _in_nodes(self, nodes: int) -> ClusterCandidate:
        missed = ""
        low, high = 0, self._fewest_that_hold(nodes)
        most = self._most(nodes)
        if high is None:
            return self._candidate(nodes, max(most, 1), feasible=False, binds="holds too little")
        binds = "one drive a node fewer holds too little"
        while missed := self._missed(nodes, high):
            if high == most:
                return self._candidate(nodes, high, feasible=False, binds=missed)
            low, high, binds = high, min(2 * high, most), missed
        while low and high - low > 1:
            middle = (low + high) // 2
            if missed := self._missed(nodes, middle):
                low, binds = middle, missed
            else:
                high = middle
        return self._at_answer(nodes, high, binds)

    def _at_answer(self, nodes: int, drives: int, binds: str) -> ClusterCandidate:
        """Return the candidate with its intervals; with more drives where draws say that it takes them."""
        found = self._candidate(nodes, drives, feasible=True, binds=binds)
        for more in range(_STEPS + 1):
            if more and drives + more > self._most(nodes):
                break
            found = self._with_states(self._candidate(nodes, drives + more, feasible=True, binds=binds))
            assert found.whole is not None
            missed = self._limits_missed(found.whole.bad_mean_ms, found.whole.bad_p99_ms)
            if not missed:
                return found
            binds = f"with {drives + more} drives a node: {missed} in one of ten"
        return replace(found, feasible=False, binds=binds)

    def _pool(self, nodes: int, drives: int, **more: Any) -> Array:
        fields = {**self.fields, "nodes": nodes, "drives": drives, "drive": self.drive, **more}
        name = f"{nodes} nodes, {drives}x {self.drive.name} each, {self.scheme}"
        return Array(name=name, drive=fields, layout={"level": "jbod", "disks": 1})

    def _candidate(self, nodes: int, drives: int, *, feasible: bool, binds: str) -> ClusterCandidate:
        array = self._pool(nodes, drives)
        return ClusterCandidate(self.drive.name, self.scheme, nodes, drives, feasible, binds, array)

    def _fewest_that_hold(self, nodes: int) -> int | None:
        """Return the fewest drives a node that hold the data, below nearfull when a node has failed."""
        needed = self.plan.objective.usable_bytes or 0
        one = self._candidate(nodes, 1, feasible=True, binds="").usable_bytes
        drives = max(-(-needed // max(one, 1)), 1)
        return drives if drives <= self._most(nodes) else None

    # ------------------------------------------------------------------ trying
    def _missed(self, nodes: int, drives: int) -> str:
        """Return what the bad one of ten clusters misses; "" where it meets everything."""
        candidate = self._candidate(nodes, drives, feasible=True, binds="")
        hours = self.plan.objective.rebuild_hours
        if hours is not None and candidate.recovery_hours > hours:
            return f"recovery takes {candidate.recovery_hours:.3g} h"
        loss = self.plan.objective.data_loss_per_year
        if loss is not None and candidate.loss_per_year > loss:
            return f"data are lost with a chance of {candidate.loss_per_year:.2g} a year"
        for state, more in self._states(candidate):
            pool = self._pool(nodes, drives, **more).drive
            assert isinstance(pool, ClusterPool)
            array = candidate.array.model_copy(update={"drive": _slow(pool)})
            result = self._run(array, _REQUESTS)
            with_node = f" {state}" if state else ""
            if not result.is_stable:
                return f"{result.run.busiest} cannot keep up{with_node}"
            mean, p99 = result.latency.mean_ns / 1e6, result.latency.interval_of("p99").value / 1e6
            if missed := self._limits_missed(mean, p99, is_failed=bool(state)):
                return f"{missed}{with_node}"
        return ""

    def _limits_missed(self, mean_ms: float, p99_ms: float, *, is_failed: bool = False) -> str:
        degraded = self.plan.objective.degraded
        latency = self.plan.objective.latency
        if is_failed:
            if degraded is None:
                return ""
            latency = degraded.latency
        values = {"mean": mean_ms, "p99": p99_ms}
        for name, limit in latency.limits().items():
            if name not in values:
                raise DescriptionError(
                    Fault(
                        f"objective.latency.{name}",
                        pretty_ns(limit),
                        "is not looked at for clusters",
                        "use mean or p99",
                    )
                )
        return missed_limit(latency, values)

    def _states(self, candidate: ClusterCandidate) -> list[tuple[str, dict[str, Any]]]:
        """Return the states that are looked at, and what each changes."""
        found: list[tuple[str, dict[str, Any]]] = [("", {})]
        if candidate.pool.survives and candidate.pool.failure_domain == "host" and candidate.nodes > 1:
            found.append(("with a node failed", {"failed_nodes": 1, "recovers": candidate.pool.can_recover}))
        return found

    def _run(self, array: Array, n: int, draws: int = 0) -> Result:
        load: Workload = self.plan.design_workload
        n = max(n, 4 * load.queue_depth)
        return simulate(array, load, n_requests=n, seed=self.plan.search.seed, profile_draws=draws)

    def _with_states(self, candidate: ClusterCandidate) -> ClusterCandidate:
        whole = _state(self._run(candidate.array, _REQUESTS_AT_ANSWER, draws=16))
        failed = recovering = None
        for state, more in self._states(candidate):
            if not state:
                continue
            one = _state(self._run(self._pool(candidate.nodes, candidate.drives_per_node, **more), _REQUESTS_AT_ANSWER))
            if more["recovers"]:
                recovering = one
                without = {**more, "recovers": False}
                array = self._pool(candidate.nodes, candidate.drives_per_node, **without)
                one = _state(self._run(array, _REQUESTS_AT_ANSWER))
            failed = one
        return replace(candidate, whole=whole, failed=failed, recovering=recovering)


def _slow(pool: ClusterPool) -> ClusterPool:
    """Return the pool as the bad one of ten clusters has it."""
    return pool.perturbed(slow_one_of_ten(pool.spread_class))


def _state(result: Result) -> State:
    bad = {name: result.middle_of(name) for name in ("mean", "p99")}
    p99 = result.latency.interval_of("p99").value

    def worst(name: str, typical: float) -> float:
        middle = bad[name]
        return typical / 1e6 if middle is None else middle.high / 1e6

    return State(
        is_stable=result.is_stable,
        iops=result.iops.mean,
        mean_ms=result.latency.mean_ns / 1e6,
        p99_ms=p99 / 1e6,
        bad_mean_ms=worst("mean", result.latency.mean_ns),
        bad_p99_ms=worst("p99", p99),
        busiest=f"{result.run.busiest}, {result.utilization_ratio:.0%} busy",
    )
