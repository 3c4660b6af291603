"""What single figures say, and laws of members, mirrors and bitmaps as Linux and OpenZFS have them."""

import math
from typing import Any

import numpy as np
import pytest

from diskmodel.array import Array
from diskmodel.engine.ledger import EXPLANATION_S, current, question
from diskmodel.explanation import explain as whole
from diskmodel.explanation.causes import CAUSES
from diskmodel.explanation.causes.cause import SOMETIMES, USUALLY
from diskmodel.explanation.causes.uneven import BLINDLY, Network, bad_member, one_slow_member, outcome_of
from diskmodel.explanation.explain import explain
from diskmodel.explanation.hypotheses import Hypothesis
from diskmodel.explanation.measured import Measured
from diskmodel.explanation.simulator import Simulator
from diskmodel.explanation.weigh import by_usual_names
from diskmodel.workload import Workload


def _load(part: str, figures: dict[str, float], **fields: object) -> Measured:
    said = {"size": "4 KiB", "clients": 1, "read_ratio": float(part == "reads")} | fields
    return Measured("load", Workload.parse(said), figures, {part: 10_000.0})


def test_a_mean_of_a_microsecond_is_no_read_of_a_drive() -> None:
    """What a program spends between two requests is in its rate, and in no latency."""
    found = explain(_load("reads", {"reads.mean": 900.0}), "generic-sata-ssd")
    assert found.direction == "faster"
    assert found.causes[0].names == ("cache-hits",)


def test_of_one_figure_a_cause_that_is_off_has_less_than_its_prior() -> None:
    """Another load explains 10 writes a second of a disk, hardly 3: shingled tracks explain both, and are as usual."""
    found = explain(_load("writes", {"iops": 3.0}), "generic-7k2")
    named = {one.names[0]: one.probability for one in found.causes}
    assert named["other-load"] < 0.9 * named["shingled"]


def test_an_explanation_has_an_account_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def noted(*_: object) -> list[object]:
        seen.append(current().budget_s)
        raise RuntimeError

    monkeypatch.setattr(whole, "_all_of", noted)
    with pytest.raises(RuntimeError):
        explain([], "generic-7k2")
    with question(7.0), pytest.raises(RuntimeError):
        explain([], "generic-7k2")
    assert seen == [EXPLANATION_S, 7.0]


def test_halves_of_a_mirror_are_read_as_openzfs_does() -> None:
    """Equal halves have equal parts: of two, a quarter of the single requests of two mirrors meet a slow one."""
    slow = Network(members=4, clients=1, touched=1, copies=2, chooses="even", bad=(0,), factor=10.0)
    times = outcome_of(slow).times
    assert times["p50"] < 1.5
    assert times["mean"] == pytest.approx(0.75 + 0.25 * 10, rel=0.15)


def test_a_slow_half_of_flash_that_is_read_blindly_halves_more_than_the_rate() -> None:
    array = Array.from_words("2x generic-nvme raid1")
    workload = Workload.parse({"size": "32 KiB", "clients": 64, "read_ratio": 1})
    load = Measured("load", workload, {"iops": 370e3, "reads.mean": 173e3}, {"reads": 1e4})
    rates = []
    for half in (0, BLINDLY):
        law = one_slow_member(array, workload, 10.0, half)
        assert law is not None
        rates.append(law(dict(load.figures), load)["iops"])
    assert rates[0] == pytest.approx(370e3 / 2, rel=0.2)
    assert rates[1] < 370e3 / 5
    assert bad_member(Array.from_words("2x generic-7k2 raid1"), BLINDLY) is None


def test_a_bitmap_is_usual_where_mdadm_makes_it_and_empties_the_buffers_of_disks() -> None:
    cause = CAUSES["write-intent-bitmap"]
    assert cause.on(Array.from_words("4x generic-7k2 raid10")).prior == USUALLY
    assert cause.on(Array.from_words("4x generic-7k2 raid10, 1GiB cache")).prior == SOMETIMES
    assert isinstance(cause.strengths, dict)
    flushes = {name: value.get("flush_ns", 0) for name, value in cause.strengths.items()}
    load = Workload.parse({"size": "4 KiB", "clients": 4, "read_ratio": 0})

    def those_of(words: str) -> set[float]:
        array = Array.from_words(words)
        return {flushes[name] for name, value in cause.strengths.items() if cause.change(array, load, value)}

    assert those_of("4x generic-7k2 raid10") == {0, 20e6, 80e6}
    assert those_of("4x generic-7k2 raid10, drive caches off") == {0}
    assert those_of("2x generic-nvme raid1") == {0, 0.1e6, 1e6, 5e6}
    assert those_of("2x samsung-pm9a3-7680 raid1") == {0}


def test_files_may_grow_where_only_a_sync_was_said() -> None:
    cause, array = CAUSES["journal-commits"], Array.from_words("generic-7k2")
    assert isinstance(cause.strengths, dict)
    ext4, each = cause.strengths["ext4"], cause.strengths["ext4, files opened with O_DSYNC"]
    for sync, is_open, is_open_each in (("none", True, True), ("fdatasync", True, False), ("dsync", False, True)):
        load = Workload.parse({"size": "4 KiB", "clients": 1, "read_ratio": 0, "sync": sync})
        assert (cause.change(array, load, ext4) is not None) == is_open
        assert (cause.change(array, load, each) is not None) == is_open_each


def test_a_write_with_o_dsync_is_timed_with_its_commit() -> None:
    cause, array = CAUSES["journal-commits"], Array.from_words("generic-7k2")
    assert isinstance(cause.strengths, dict)
    load = Workload.parse({"size": "4 KiB", "clients": 1, "read_ratio": 0})
    measured = Measured("one", load, {"iops": 30.0, "writes.mean": 33e6}, {"writes": 3000.0})
    simulator = Simulator(array, [measured])
    for words, is_in_it in (("ext4", False), ("ext4, files opened with O_DSYNC", True)):
        change = simulator.changed(0, (cause, cause.strengths[words]))
        assert change is not None
        run = simulator.simulate_measured(0, change)
        assert run is not None
        assert (run.figures["writes.mean"] == run.figures["commits.mean"]) == is_in_it


def test_a_bucket_that_acts_as_a_limit_has_its_name() -> None:
    def of(name: str, rate: float, value: Any = None) -> Hypothesis:
        return Hypothesis(((CAUSES[name], value or rate, ""),), 0.1, np.array([math.log(rate), 0.0]))

    def named(*found: Hypothesis) -> list[tuple[str, ...]]:
        return [one.names for one in by_usual_names(found)]

    some = [of("token-bucket", rate, (rate, 1.0)) for rate in (100.0, 200.0)]
    assert named(some[0], of("rate-limit", 100.0), some[1]) == [("rate-limit",), ("rate-limit",), ("token-bucket",)]
    # other causes may predict the same and be something else: a limit of bytes as well
    assert named(of("few-at-once", 100.0), of("rate-limit", 100.0)) == [("few-at-once",), ("rate-limit",)]
    bytes_per_s = of("bandwidth-limit", 100.0, (409_600.0, False))
    assert named(bytes_per_s, of("rate-limit", 100.0)) == [("bandwidth-limit",), ("rate-limit",)]


def test_two_failed_members_are_rarer_than_one() -> None:
    shares = {words: share for words, _, share in CAUSES["member-failed"].variants([])}
    assert shares == pytest.approx({"one disk": 10 / 11, "two disks": 1 / 11})
