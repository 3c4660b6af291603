"""One account of computing time for all runs of a question."""

from dataclasses import replace

import numpy as np
import pytest

from diskmodel import Array, Workload, simulate
from diskmodel.engine.drawn_runs import Trials, starts_at_once
from diskmodel.engine.effort import each_most, few_enough
from diskmodel.engine.ledger import (
    QUESTION_S,
    Account,
    as_question,
    current,
    in_words,
    on_account,
    question,
    with_part,
)
from diskmodel.engine.run import draw_and_run
from diskmodel.engine.scenario import resolve
from diskmodel.engine.steady.parts import Parts
from diskmodel.engine.steady.past.history import History
from diskmodel.engine.steady.shared import steady_start
from diskmodel.engine.steady.start import EMPTY, Levels
from diskmodel.engine.threads import Threads, mapped
from diskmodel.explanation.otherwise import otherwise
from diskmodel.host.description import Host
from diskmodel.records import Run

ARRAY = Array.parse({"drive": "generic-15k", "layout": {"level": "raid10", "disks": 4}})
LOAD = Workload.parse({"size": "8 KiB", "read_ratio": 0.7, "rate": "100/s"})


def test_runs_that_take_what_they_may_hardly_take_more_than_the_whole() -> None:
    account, taken = Account(10.0), []
    for _ in range(20):
        taken.append(account.allowed_s(100.0))
        account.enter(taken[-1])
    assert taken[:2] == [2.5, 1.875]
    assert account.spent_s == pytest.approx(10.0, rel=0.02)


def test_a_run_may_always_take_a_little() -> None:
    account = Account(1.0)
    account.enter(5.0)
    assert account.left_s == 0
    assert account.is_spent
    assert account.allowed_s(2.5) == pytest.approx(0.02)
    assert account.allowed_s(0.01) == 0.01


@pytest.mark.parametrize("are_runs", [False, True])
def test_parts_together_are_no_more_than_what_is_left(are_runs: bool) -> None:
    account = Account(10.0)
    account.enter(4.0)
    parts = account.parts(5, are_runs=are_runs)
    assert sum(part.budget_s for part in parts) <= 6.0 + 1e-9


def test_the_first_of_many_families_may_take_more_than_their_share() -> None:
    first = Account(12.0).parts(2, 24)
    assert [part.budget_s for part in first] == [1.5, 1.5]
    assert [part.budget_s for part in Account(12.0).parts(2, 2)] == [6.0, 6.0]


def test_what_is_done_at_the_same_time_does_not_depend_on_what_ends_first() -> None:
    def work(seconds: float) -> float:
        allowed = current().left_s
        current().enter(seconds)
        return allowed

    with question(8.0) as account, Threads() as pool:
        allowed = mapped(pool, work, [0.5, 0.25, 0.125, 0.0])
        assert account.spent_s == 0.875
        assert len(set(allowed)) == 1
        assert list(pool.map(work, [0.0, 0.0])) == [3.5625, 3.5625]


def test_a_question_within_another_has_its_account() -> None:
    assert current().budget_s == float("inf")

    @as_question
    def inner() -> Account:
        return current()

    with question() as account:
        assert inner() is account
        assert account.budget_s == QUESTION_S
        with with_part(0.5):
            current().enter(3.0)
        assert account.spent_s == 3.0
    assert inner() is not account


def test_the_runs_of_a_question_are_entered() -> None:
    with question() as account:
        simulate(ARRAY, LOAD, profile_draws=0)
        first = account.spent_s
        assert 0 < first < 1
        # how long it is was asked for
        simulate(ARRAY, LOAD, n_requests=20_000, profile_draws=0)
        assert account.spent_s == first


def test_what_is_drawn_for_a_start_is_entered() -> None:
    """By how much is drawn: 64 MiB of dirty pages, and what buffers of disks hold; not again where it is kept."""

    def entered_s(memory_bytes: int, rate: str) -> float:
        host = {"is_buffered": True, "page_cache": {"memory_bytes": memory_bytes}}
        array = ARRAY.model_copy(update={"host": Host.parse(host)})
        load = Workload.parse({"size": "8 KiB", "read_ratio": 0.0, "rate": rate})
        scenario = resolve(array, 0)
        with question() as account:
            Parts(scenario, History(load, array.usable_bytes, 0)).start(Levels())
            first = account.spent_s
            steady_start(array, load, scenario, 0)
            with_start = account.spent_s
            steady_start(array, load, scenario, 0)
        assert account.spent_s == with_start > first
        return first

    small, large = (entered_s(memory, "100/s") for memory in (64 << 20, 640 << 20))
    assert large > 5 * small > 0


def test_without_time_nothing_is_looked_at() -> None:
    def refused(n: int) -> Run:
        raise AssertionError(n)

    scenario = resolve(ARRAY, 0)
    large = Workload.parse({"size": "64 MiB", "rate": "1/s"})
    account = Account(1.0)
    account.enter(2.0)
    with on_account(account):
        assert each_most(30_000, refused, scenario, large, ARRAY, 1.0) < 30_000


@pytest.mark.parametrize("layout", [{"level": "draid2", "disks": 22, "vdevs": 2}, {"level": "raid5", "disks": 4}])
def test_a_rebuild_of_flash_takes_time(layout: dict[str, object]) -> None:
    rebuilt = {**layout, "failed": [0], "spares": 1, "rebuild": {}}
    array = Array.parse({"drive": "micron-7450-pro-1920", "layout": rebuilt})
    load = Workload.parse({"size": "4 KiB", "rate": "200/s"})
    with question() as account:
        _, run = draw_and_run(array, load, 4, scenario=resolve(array, 0), seed=0)
    pages = int(run.devices.read_bytes.sum()) / 4096
    # a quarter of what each page read takes at random places
    assert account.spent_s > 0.25 * 0.2e-6 * pages > 0


def test_large_starts_are_made_one_after_the_other() -> None:
    assert starts_at_once(None) is starts_at_once(EMPTY) is None
    small_writes = np.zeros((1 << 20, 3), np.int64)
    assert starts_at_once(replace(EMPTY, buffered=small_writes)) in (None, 2)
    assert starts_at_once(replace(EMPTY, buffered=np.zeros((1 << 23, 3), np.int64))) == 1


def test_extras_are_left_out_first_and_named() -> None:
    result = simulate(ARRAY, LOAD, n_requests=2_000, profile_draws=0)
    account = Account(1.0)
    with on_account(account):
        assert otherwise(ARRAY, LOAD, result, seed=0)
        assert account.left_out == ()
        account.enter(0.95)
        assert otherwise(ARRAY, LOAD, result, seed=0) == ()
    assert account.left_out == ("what was assumed",)
    assert in_words(account.left_out).endswith("of computing time: what was assumed")


def test_a_run_is_shorter_when_the_question_has_little_left() -> None:
    large = Workload.parse({"size": "1 MiB", "read_ratio": 0.5, "rate": "50/s"})
    whole = simulate(ARRAY, large, n_requests=30_000, profile_draws=0, with_angles=False, is_one_of_many=True)
    account = Account(1.0)
    account.enter(1.0)
    with on_account(account):
        cut = simulate(ARRAY, large, n_requests=30_000, profile_draws=0, with_angles=False, is_one_of_many=True)
    assert whole.n_requests == 30_000
    assert 1_000 < cut.n_requests < 15_000
    assert any("was ended" in message for message in cut.messages)


def test_what_is_kept_is_entered_once_by_each_part_of_those_at_the_same_time() -> None:
    # which of two that are used at the same time is the first must not decide what is left to each
    account = Account(10.0)
    first, second = account.parts(2)
    for part in (first, second, first):
        part.enter_once("the same list", 1.0)
    assert (first.spent_s, second.spent_s) == (1.0, 1.0)
    account.settle([first, second])
    later = account.part(0.5)
    for one in (account, later):
        one.enter_once("the same list", 1.0)
    assert (account.spent_s, later.spent_s) == (2.0, 0.0)


def test_draws_for_which_there_is_no_time_are_left_out_and_named() -> None:
    load = Workload.parse({"size": "8 KiB", "rate": "100/s"})
    runs = Trials(ARRAY, load, 2_000, seed=0, start="steady")
    whole = runs.truths(16)
    assert whole is not None
    for left, n in ((6.5, 6), (3.0, 0)):
        account = Account(left * runs.each_s)
        with on_account(account):
            fewer = runs.truths(16)
        assert (0 if fewer is None else len(fewer.figures)) == n
        assert len(account.left_out) == 1
        assert "draws of what is not known" in account.left_out[0]
    with on_account(Account(12.5 * runs.each_s)):
        half = runs.truths(16, part=0.5)
    assert half is not None
    assert len(half.figures) == 6


def test_a_draw_takes_what_the_first_run_and_its_start_did_though_that_start_was_kept() -> None:
    """Sixteen draws took 49 s of the 32 that there were: the reference began with what looks had found."""
    array = Array.parse({"drive": "generic-7k2", "drive_write_cache": True, "layout": {"level": "raid5", "disks": 5}})
    load = Workload.parse({"size": "8 KiB", "read_ratio": 0.0, "rate": "60/s"})
    each = []
    for _ in range(2):
        with on_account(Account(1e3)):
            each.append(Trials(array, load, 2_000, seed=17, start="steady").each_s)
    assert each[0] == pytest.approx(each[1], rel=0.02)


def test_commands_of_many_disks_and_long_queues_take_more() -> None:
    def each_s(disks: int, clients: int, scheduler: str = "fcfs") -> float:
        layout, queue = {"level": "raid0", "disks": disks}, {"scheduler": scheduler}
        array = Array.parse({"drive": "generic-15k", "layout": layout, "queue": queue})
        load = Workload.parse({"size": "4 KiB", "clients": clients})
        with question() as account:
            _, run = draw_and_run(array, load, 40_000, scenario=resolve(array, 0), seed=0)
        return account.spent_s / int(run.devices.n_reads.sum() + run.devices.n_writes.sum())

    few, many, waiting = each_s(4, 4), each_s(2_000, 2_000), each_s(4, 20_000)
    assert few < waiting < many
    assert 1.5 * few < many < 5 * few
    # each is chosen among all that wait at its disk
    assert each_s(4, 4_000, "sptf") > 1.5 * each_s(4, 4_000)


def test_a_trial_of_rare_requests_writes_a_part_of_a_full_buffer() -> None:
    scenario = resolve(ARRAY, 0)
    rare, often = (Workload.parse({"size": "4 KiB", "rate": rate}) for rate in ("1/s", "10000/s"))
    with on_account(Account(18.0)):
        assert few_enough(6_000, scenario, rare, 0.2, 10_000) == few_enough(6_000, scenario, rare, 0.2) == 6_000
        assert few_enough(6_000, scenario, often, 0.2, 10_000_000) == 6_000
        assert few_enough(6_000, scenario, rare, 0.2, 10_000_000) < 100
