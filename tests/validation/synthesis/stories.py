"""Three traces from recording to array: plan, replay, and what a plan from rates alone would have been.

    python -m tests.validation.synthesis.stories

Writes docs/how-to/plan-from-a-trace.md between its markers. Needs DISKMODEL_EVIDENCE.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from diskmodel.array import Array
from diskmodel.engine.simulate import simulate
from diskmodel.formats import find_workload
from diskmodel.plan import PlanDescription, PlanResult, Recording, run_plan
from diskmodel.plan.trial.replay_check import N_REPLAYS
from diskmodel.workload import TraceWorkload
from tests.validation.synthesis.traces import paths

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "plan-from-a-trace.md"
BEGIN, END = "<!-- stories: begin -->", "<!-- stories: end -->"

#: What is asked of each trace, and what its file's name begins with.
P99_LIMIT = "50 ms"
STORIES = {
    "CMU-SAFARI+MQSim__wsrch": "A web search server",
    "nmsudatalab+disksim-4.0__ssd-iozone": "A file system benchmark (iozone)",
    "zzunny97+blktrace-hadoop__eternity1": "A node of a Hadoop cluster",
}
CANDIDATES = {"drives": ["generic-10k"], "levels": ["raid10"], "max_disks": 64}


@dataclass(frozen=True)
class Story:
    """What became of one trace.

    Attributes
    ----------
    what : str
    n_requests : int
    seconds : float
    mean_per_s, level_per_s : float
        Rate on average, and that which 95 % of the seconds do not exceed.
    from_rates, checked : PlanResult
        Plans from the rates alone, and from the trace.
    replayed_ms : dict of int to float
        Number of disks → p99 of the trace, replayed on as many.
    """

    what: str
    n_requests: int
    seconds: float
    mean_per_s: float
    level_per_s: float
    from_rates: PlanResult
    checked: PlanResult
    replayed_ms: dict[int, float]


def story_of(path: Path, what: str) -> Story:
    """Plan from a trace's rates and from the trace, and replay it on both answers."""
    found = find_workload(path)
    question = {"objective": {"latency": {"p99": P99_LIMIT}}, "candidates": CANDIDATES}
    rates_only = run_plan(
        PlanDescription.parse({**question, "workload": found.workload}), with_relaxations=False, by_chance=False
    )
    recording = Recording.of(path)
    assert recording is not None
    plan = PlanDescription.parse({**question, "workload": found.workload, "recording": recording.to_dict()})
    checked = run_plan(plan, with_relaxations=False, by_chance=False)
    trace = recording.trace()
    replayed = {}
    for result in (rates_only, checked):
        if result.best is not None and result.best.array is not None and result.best.disks is not None:
            replayed[result.best.disks] = p99_of_replay(result.best.array, trace)
    seconds = (trace.trace.when_ns[-1] - trace.trace.when_ns[0]) / 1e9
    return Story(
        what,
        len(trace.trace),
        float(seconds),
        float(found.mean_per_s or 0.0),
        found.load_per_s[95],
        rates_only,
        checked,
        replayed,
    )


def p99_of_replay(array: Array, trace: TraceWorkload) -> float:
    """Return the largest p99 of `N_REPLAYS` runs in ms, from simulations that owe nothing to the search."""
    found = []
    for seed in range(N_REPLAYS):
        done = simulate(array, trace, n_requests=len(trace.trace), seed=seed).run.completions
        response = np.sort(done.done_ns - done.issue_ns)
        found.append(float(response[int(np.ceil(0.99 * len(response))) - 1]) / 1e6)
    return max(found)


def section(story: Story) -> list[str]:
    """Return the lines of one story."""
    lines = [
        f"### {story.what}",
        "",
        f"{story.n_requests:,} requests in {story.seconds:,.0f} s: {story.mean_per_s:,.0f} a second on average, and at "
        f"most {story.level_per_s:,.0f} in 95 % of the seconds.",
        "",
        "| plan from | answer | p99 ms, plan | p99 ms, the trace replayed on it |",
        "|---|---|--:|--:|",
    ]
    for what, result in (("the rates", story.from_rates), ("the trace", story.checked)):
        best = result.best
        if best is None or best.trial is None or best.trial.outcome is None or best.disks is None:
            lines.append(f"| {what} | none of up to {CANDIDATES['max_disks']} disks | | |")
            continue
        planned = best.trial.outcome.latency_of("p99")
        assert planned is not None
        planned_ms, replayed_ms = planned.value / 1e6, story.replayed_ms[best.disks]
        lines.append(f"| {what} | {best.disks} disks | {planned_ms:,.1f} | {replayed_ms:,.1f} |")
    note = story.checked.candidates[0].replay_note
    return [*lines, "", f"The plan from the trace says: {note}.", ""]


def main() -> None:
    """Write the stories into the page."""
    if not paths():
        sys.exit("DISKMODEL_EVIDENCE names no folder with real-files/trace")
    lines: list[str] = []
    for begin, what in STORIES.items():
        (path,) = (item for item in paths() if item.name.startswith(begin))
        lines += section(story_of(path, what))
    text = PAGE.read_text(encoding="utf-8")
    before, after = text.partition(BEGIN)[0], text.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n" + "\n".join(lines) + f"{END}{after}", encoding="utf-8")
    print(f"written: {PAGE}")


if __name__ == "__main__":
    main()
