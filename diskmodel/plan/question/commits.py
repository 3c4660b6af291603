"""Commits in a question: what an objective about them asks of a workload."""

from __future__ import annotations

from diskmodel.plan.question.objective import Objective
from diskmodel.result import COMMITS
from diskmodel.workload import Workload


def scaled_with_commits(workload: Workload, objective: Objective) -> Workload:
    """Return a workload whose commits come at the rate of the objective, and its other requests at theirs.

    Clients that commit stay as many as they are: the rate is what they have to achieve. Requests without a sync come at
    the objective's IOPS, or at their own rate with growth and peak.
    """
    assert objective.design_commits_per_s is not None
    others = sum(
        stream.expected_rate_per_s for stream in workload.streams if not stream.has_syncs and not stream.is_closed
    )
    of_commits = objective.design_commits_per_s / workload.commits_per_s if workload.commits_per_s else 1.0
    of_others = objective.load_factor
    if objective.design_iops is not None and others:
        of_others = objective.design_iops / others
    return workload.scaled_each(
        [of_others if not stream.has_syncs else 1.0 if stream.is_closed else of_commits for stream in workload.streams]
    )


def commits_problem(workload: Workload, objective: Objective) -> str:
    """Return what is wrong with the commits that an objective asks for, as a sentence; "" where nothing is."""
    asks = objective.commits_per_s is not None or bool(objective.commit_latency.limits())
    asks |= objective.degraded is not None and bool(objective.degraded.commit_latency.limits())
    if not asks:
        return ""
    if not workload.has_syncs:
        return (
            "objective.commits: no stream of the workload makes its writes safe; give one with kind = 'commits', or "
            "sync = 'fdatasync'"
        )
    with_sync = {stream.name for stream in workload.streams if stream.has_syncs}
    named = {stream.name for stream in workload.streams} | set(workload.volumes)
    if COMMITS in named and with_sync != {COMMITS}:
        return f"workload.streams: {COMMITS!r} stands for all commits together, and is one of several; rename it"
    if objective.commits_per_s is None:
        return ""
    closed = [stream.name for stream in workload.streams if stream.is_closed]
    has_open = workload.commits_per_s > 0
    if has_open and with_sync & set(closed):
        return (
            f"objective.commits: {closed[0]} commits as fast as its clients go, and other streams at a rate; which is "
            "meant is not clear: leave commits out"
        )
    if objective.iops is not None and closed:
        return (
            f"objective.iops: is given together with commits, and clients of {closed[0]} wait for their responses: "
            "what they have to achieve is not clear; leave iops out"
        )
    if objective.iops is not None and all(stream.has_syncs for stream in workload.streams):
        return (
            "objective.iops: all requests of the workload are commits, whose rate objective.commits states; remove it"
        )
    return ""
