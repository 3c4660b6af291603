"""Plans made from a trace: the answer replays the trace within its objective."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import numpy as np
import pytest

from diskmodel.errors import DescriptionError
from diskmodel.formats import find_workload
from diskmodel.formats.recorders import KINDS as RECORDER_KINDS
from diskmodel.plan import Case, PlanDescription, PlanResult, Recording, cases, run_plan
from diskmodel.plan.answer.outcome import Outcome
from diskmodel.plan.question.buying import Search
from diskmodel.plan.question.options import plan_from, plan_options
from diskmodel.plan.trial.replay_check import bursts_in_words, replay_criteria, replay_trace
from diskmodel.result.statistics.batches import Interval
from diskmodel.workload import TraceWorkload, Workload
from tests.unit.formats.test_recorders import WORKED
from tests.validation.synthesis import stories

SECOND_NS = 10**9


def write_trace(path: Path, when_s: np.ndarray, *, span_bytes: int = 8 << 30, read_ratio: float = 0.7) -> Path:
    rng = np.random.default_rng(11)
    when = np.sort(when_s)
    offset = rng.integers(0, span_bytes // 4096, len(when)) * 4096
    op = np.where(rng.random(len(when)) < read_ratio, "R", "W")
    rows = [f"{t * 1000:.3f} 0 {o // 512} 8 {int(k == 'R')}" for t, o, k in zip(when, offset, op, strict=True)]
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.fixture(scope="module")
def bursty(tmp_path_factory) -> Path:
    """200 s at 20 requests a second, and three seconds with three thousand."""
    rng = np.random.default_rng(5)
    calm = rng.random(4000) * 200
    bursts = np.concatenate([start + rng.random(3000) for start in (30, 80, 170)])
    return write_trace(tmp_path_factory.mktemp("bursty") / "bursty.trace", np.concatenate([calm, bursts]))


@pytest.fixture(scope="module")
def steady(tmp_path_factory) -> Path:
    rng = np.random.default_rng(6)
    return write_trace(tmp_path_factory.mktemp("steady") / "steady.trace", rng.random(8000) * 100)


def plan_of(trace: Path, folder: Path, *, objective: str = "", more: str = "", p99: str = "30 ms", disks: int = 80):
    path = folder / "plan.toml"
    path.write_text(
        f"""workload = "{trace}"
[objective]
{objective}
[objective.latency]
p99 = "{p99}"
[candidates]
drives = ["generic-10k"]
levels = ["raid10"]
max_disks = {disks}
[search]
requests = 10000
max_requests = 40000
{more}
"""
    )
    return PlanDescription.load(path)


def p99_of_replay(plan: PlanDescription, result: PlanResult, disks: int, speed_up: float = 1.0) -> float:
    """The 99th percentile of all responses, from a simulation that owes nothing to the search."""
    assert plan.recording is not None
    trace = plan.recording.trace()
    array = Case(plan, result.candidates[0].family).array(disks)
    return stories.p99_of_replay(array, trace if speed_up == 1 else trace.scaled(speed_up))


def test_bursts_decide_the_count_and_the_answer_says_so(bursty, tmp_path):
    plan = plan_of(bursty, tmp_path)
    fitted_only = run_plan(plan.model_copy(update={"recording": None}), with_relaxations=False, by_chance=False).best
    result = run_plan(plan, with_relaxations=False, by_chance=False)
    best = result.best
    assert fitted_only is not None
    assert best is not None
    assert best.disks > 2 * fitted_only.disks
    assert p99_of_replay(plan, result, fitted_only.disks) > 5 * 30
    assert p99_of_replay(plan, result, best.disks) <= 30
    assert best.below is not None
    assert p99_of_replay(plan, result, best.below.disks) > 30
    assert best.binds == "replay latency"
    # 9000 requests of the bursts and some 200 of the calm, of 13 000, in the ten busiest of 200 seconds
    assert "71 % of the requests arrive in 5 % of the seconds" in best.replay_note
    assert "fitted" in best.replay_note
    assert "replayed" in best.replay_note


@pytest.fixture(scope="module")
def patient(bursty) -> tuple[PlanDescription, PlanResult]:
    """A plan from the bursts that allows 400 ms, and its answer."""
    plan = plan_of(bursty, bursty.parent, p99="400 ms")
    return plan, run_plan(plan, with_relaxations=False, by_chance=False)


def test_both_figures_are_in_the_answer(patient):
    plan, result = patient
    data = result.to_dict()["candidates"][0]
    assert set(data["replay"]) >= {"latency_ms", "iops", "stable", "requests"}
    assert data["replay"]["requests"] == 13_000
    assert data["replay"]["latency_ms"]["p99"] == pytest.approx(p99_of_replay(plan, result, data["disks"]), rel=1e-12)
    assert data["latency_ms"]["p99"] != data["replay"]["latency_ms"]["p99"]
    assert data["replay_note"]


def test_a_steady_trace_agrees(steady, tmp_path):
    best = run_plan(plan_of(steady, tmp_path), with_relaxations=False, by_chance=False).best
    assert best is not None
    assert best.replay_note.startswith("replaying the trace agrees")


def test_no_array_is_an_answer_when_no_replay_is_within_the_objective(bursty, tmp_path):
    result = run_plan(plan_of(bursty, tmp_path, disks=8), with_relaxations=False, by_chance=False)
    assert not result.is_feasible
    assert "replay latency" in result.reason
    assert "only the fitted workload meets the objective" in result.candidates[0].replay_note


def test_growth_and_peak_compress_the_trace(bursty, tmp_path):
    plan = plan_of(bursty, tmp_path, objective="growth = '50 %'\nyears = 1\npeak_factor = 1.2", p99="100 ms")
    result = run_plan(plan, with_relaxations=False, by_chance=False)
    assert result.best is not None
    assert result.best.trial is not None
    assert result.best.trial.replay is not None
    assert result.best.trial.replay.speed_up == pytest.approx(1.8)
    assert p99_of_replay(plan, result, result.best.disks, speed_up=1.8) <= 100
    assert "1.8 times as fast" in result.best.replay_note


def test_a_failed_disk_is_replayed_too(steady, tmp_path):
    more = '[objective.degraded]\n[objective.degraded.latency]\np99 = "60 ms"'
    trial = run_plan(plan_of(steady, tmp_path, more=more), with_relaxations=False, by_chance=False).best.trial
    assert trial.degraded_replay is not None
    assert {c.name for c in trial.criteria} >= {"replay latency", "replay degraded latency"}
    assert trial.degraded_replay.latency_ms()["p99"] > trial.replay.latency_ms()["p99"]


def test_the_rule_of_thumb_replays_nothing(steady, tmp_path):
    plan = plan_of(steady, tmp_path, objective="capacity = '1 GB'")
    plan = plan.model_copy(update={"search": plan.search.model_copy(update={"method": "rule"})})
    result = run_plan(plan, with_relaxations=False, by_chance=False)
    assert all(trial.replay is None for trial in result.candidates[0].trials)


def test_each_operation_has_its_own_limits(bursty, tmp_path):
    (case,) = cases(plan_of(bursty, tmp_path))
    replay = replay_trace(case, case.array(8))
    latency = {"streams": {"reads": {"p99": "1 s"}, "writes": {"p99": "1 ms"}}}
    limits = type(case.plan.objective.latency).parse(latency)
    found = {item.detail: item for item in replay_criteria(replay, limits, None)}
    assert found["p99 of reads"].figure.value == pytest.approx(replay.latency_ms("reads")["p99"])
    assert found["p99 of writes"].margin_ratio < 0


def test_a_wrapped_trace_says_so(bursty, tmp_path):
    (case,) = cases(plan_of(bursty, tmp_path))
    array = case.array(4)
    far = case.trace.trace
    shifted = dataclasses.replace(far, offset=far.offset + array.usable_bytes)

    class Elsewhere(Case):
        trace = TraceWorkload(shifted, wraps=True)

    assert not replay_trace(case, array).is_wrapped
    assert replay_trace(Elsewhere(case.plan, case.family), array).is_wrapped


def test_bursts_by_hand():
    # 100 seconds: 5 of them with 1000 requests, 95 with 10: 5000 of 5950 requests in the busiest twentieth
    counts = np.full(100, 10)
    counts[[3, 20, 41, 60, 99]] = 1000
    when = np.concatenate([s * SECOND_NS + np.arange(n) * SECOND_NS // n for s, n in enumerate(counts)])
    n = len(when)
    trace = TraceWorkload.from_arrays(when, np.zeros(n), np.zeros(n), np.full(n, 4096))
    assert bursts_in_words(trace) == "84 % of the requests arrive in 5 % of the seconds"


def test_a_plan_remembers_its_recording(bursty, tmp_path):
    plan = plan_of(bursty, tmp_path)
    assert plan.recording is not None
    assert plan.recording.kind == "trace"
    saved = tmp_path / "again" / "plan.toml"
    saved.parent.mkdir()
    plan.save(saved)
    assert PlanDescription.load(saved).recording == plan.recording
    assert os.path.isabs(plan.recording.path)


def test_a_description_is_no_recording(tmp_path):
    assert Recording.of(tmp_path / "load.toml") is None


def test_a_recording_of_another_kind_cannot_be_replayed(tmp_path):
    job = tmp_path / "job.fio"
    job.write_text("[job]\nrw=randread\nbs=4k\niodepth=4\n")
    assert Recording.of(job) is None
    with pytest.raises(DescriptionError, match="does not record single requests"):
        Recording(kind="trace", path=str(job)).trace()


class Doubling:
    """An array keeps up with 100 requests a second and disk, at a latency of 10 ms."""

    def __call__(self, array, workload, *, n_requests, seed):
        rate = workload.offered_rate_per_s
        most = 100.0 * array.layout.disks
        exact = Interval.exact
        return Outcome(
            is_stable=rate <= most,
            iops=exact(min(rate, most)),
            bytes_per_s=exact(4096 * min(rate, most)),
            latency_ns={"": {name: exact(10e6) for name in ("mean", "p50", "p95", "p99", "p999")}},
            utilization_ratio=min(rate / most, 1.0),
            n_requests=n_requests,
            method="fake",
        )


def averages(folder: Path, objective: str = "") -> PlanDescription:
    """A plan from thirty seconds of iostat with 600 reads a second."""
    rows = "Device r/s w/s rkB/s wkB/s rrqm/s wrqm/s %rrqm %wrqm r_await w_await aqu-sz rareq-sz wareq-sz svctm %util"
    values = "sda 600.00 0.00 2400.00 0.00 0.00 0.00 0.00 0.00 5.00 0.00 3.00 4.00 0.00 1.00 60.00"
    (folder / "iostat.txt").write_text("Linux 5.4.0 (host) \t01/02/20 \t_x86_64_\n\n" + f"{rows}\n{values}\n\n" * 30)
    return plan_of(folder / "iostat.txt", folder, objective=objective, disks=60)


def test_averages_report_how_hidden_peaks_move_the_count(tmp_path):
    plan = averages(tmp_path)
    assert plan.recording is not None
    assert plan.recording.kind == "averages"
    result = run_plan(plan, evaluate=Doubling(), with_relaxations=False, by_chance=False)
    assert result.best is not None
    # 600, 1200 and 2400 requests a second at 100 a disk, in even numbers
    assert result.best.disks == 6
    assert [(peak.peak_to_mean, peak.disks) for peak in result.peaks] == [(2.0, 12), (4.0, 24)]
    assert [item["disks"] for item in result.to_dict()["peaks"]] == [12, 24]


def test_a_ceiling_of_the_mean_does_not_grow_with_the_peaks(tmp_path):
    result = run_plan(
        averages(tmp_path, "utilization_ceiling = '50 %'"), evaluate=Doubling(), with_relaxations=False, by_chance=False
    )
    assert result.best is not None
    assert result.best.disks == 12
    assert [peak.disks for peak in result.peaks] == [12, 24]


@pytest.mark.evidence
@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "CMU-SAFARI+MQSim__wsrch-small.trace",
        "RainyLi+Disksim_Erasure__ascii.trace",
        "fadhilkurnia+ssdsim__DTRS100M.trace",
        "nmsudatalab+disksim-4.0__ssd-iozone-aligned2-100K.trace",
        "nmsudatalab+disksim-4.0__ssd-postmark-aligned2.trace",
        "zzunny97+blktrace-hadoop__eternity1.blkparse.xz",
    ],
)
def test_answers_of_recorded_traces_replay_within_their_objective(evidence, tmp_path, name):
    plan = plan_of(evidence / "real-files" / "trace" / name, tmp_path, p99="50 ms")
    result = run_plan(plan, with_relaxations=False, by_chance=False)
    candidate = result.candidates[0]
    assert candidate.trial is not None
    p99_ms = p99_of_replay(plan, result, candidate.trial.disks)
    if result.best is not None:
        assert p99_ms <= 50
        assert candidate.trial.replay.latency_ms()["p99"] == pytest.approx(p99_ms, rel=1e-12)
    else:
        assert candidate.trial.replay is None or p99_ms > 50


def test_the_slowest_of_three_replays_decides(patient):
    plan, result = patient
    best = result.best
    assert best is not None
    assert best.trial is not None
    replay = best.trial.replay
    assert replay is not None
    assert replay.n_runs == 3
    case = Case(plan, result.candidates[0].family)
    turns = [replay_trace(case, case.array(best.disks), turn=turn) for turn in range(3)]
    p99 = [one.latency_ms()["p99"] for one in turns if one is not None]
    assert len(set(p99)) == 3
    assert replay.latency_ms()["p99"] == max(p99)
    assert replay.iops == min(one.iops for one in turns if one is not None)


@pytest.mark.parametrize("kind", RECORDER_KINDS)
def test_every_recording_can_be_planned_for(kind, tmp_path):
    text, device, *_ = WORKED[kind]
    path = tmp_path / "recorded"
    path.write_text(text)
    recording = Recording.of(path, device=device)
    assert recording is not None
    assert recording.kind == "averages"
    found = find_workload(path, device=device)
    plan, _ = plan_from(
        plan_options({"capacity": "1TB", "p99": "20ms", "drive": ["generic-15k"], "level": ["raid10"]}),
        workload=Workload.parse(found.workload),
        is_recorded=True,
        recording=recording,
    )
    assert plan.recording == recording
    assert plan.workload.offered_rate_per_s > 0
    rule = plan.model_copy(update={"search": Search.parse({"method": "rule"})})
    assert run_plan(rule).best is not None
