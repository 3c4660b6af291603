"""Commands end by themselves when their time is over, and say what they were doing and how to go on."""

import contextlib
import signal
import threading
import time

import pytest

from diskmodel import signals
from diskmodel.cli.shared.status import TimeLimitReached
from diskmodel.cli.shared.time_limit import limited
from diskmodel.doing import doing, what_is_done
from tests.unit.cli.commands import EXAMPLES, process, run

ARRAY = "4x generic-15k raid10"
LOAD = ("--iops", 300, "--reads", "70%", "--block", "8k")

#: Commands that take long, and the way out that they name.
LONG = {
    ("simulate", ARRAY, *LOAD, "--requests", 20_000_000, "--engine", "native"): "lower --requests or raise --precision",
    ("simulate", ARRAY, *LOAD, "--requests", 200_000_000, "--keep", "histogram"): "lower --requests",
    ("simulate", ARRAY, *LOAD, "--requests", 2_000_000, "--engine", "simpy"): "lower --requests",
    ("compare", ARRAY, ARRAY, *LOAD, "--requests", 5_000_000): "lower --requests",
    ("capacity", ARRAY, "--reads", "70%", "--block", "8k", "--requests", 5_000_000): "lower --requests",
    ("plan", *LOAD, "--capacity", "2TB", "--p99", "20ms", "--seed", 7): "name fewer drives and levels",
}


@pytest.mark.parametrize("words", LONG, ids=lambda words: f"{words[0]} {words[-1]}")
def test_a_limit_names_itself_and_the_way_out(words: tuple[object, ...]) -> None:
    started = time.monotonic()
    done = process(*words, "--time-limit", "1500 ms")
    assert time.monotonic() - started < 60  # a busy machine; without a limit these take minutes
    assert done.returncode == 3
    assert done.stdout == ""
    assert "no: --time-limit='1500 ms': is over while " in done.stderr
    assert f"; allow more time, or {LONG[words]}" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_limit_ends_the_block_and_leaves_no_timer() -> None:
    @limited("wait less")
    def command(*, as_json: bool = False) -> None:
        with doing("waiting"):
            time.sleep(30)

    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(TimeLimitReached) as reached:
        command(time_limit="50 ms", as_json=False)
    assert str(reached.value) == "--time-limit='50 ms': is over while waiting; allow more time, or wait less"
    assert signal.getsignal(signal.SIGALRM) == before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_what_a_library_would_drop_is_raised_behind_it() -> None:
    """Pydantic drops what is raised while it builds validators, or raises an error of its own instead."""
    library: dict[str, object] = {"__name__": "pydantic.building"}
    exec("def build(wait):\n try:\n  wait()\n except BaseException as error:\n  raise TypeError from error\n", library)
    built = []

    @limited("wait less")
    def command(*, as_json: bool = False) -> None:
        library["build"](lambda: time.sleep(0.2))  # type: ignore[operator]
        built.append(True)
        time.sleep(30)

    with pytest.raises(TimeLimitReached, match="wait less"):
        command(time_limit="50 ms", as_json=False)
    assert built == [True]


def test_what_was_dropped_is_raised_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signals, "REPEAT_S", 0.1)

    @limited("wait less")
    def command(*, as_json: bool = False) -> None:
        with contextlib.suppress(KeyboardInterrupt):
            time.sleep(30)
        time.sleep(30)

    with pytest.raises(TimeLimitReached):
        command(time_limit="50 ms", as_json=False)
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


@pytest.mark.parametrize("command", ["simulate", "compare", "capacity", "plan", "replay", "calibrate", "validate"])
def test_every_command_that_may_take_long_has_one(command: str) -> None:
    assert "--time-limit <str>" in run(command, "--help").stdout


def test_within_the_limit_nothing_is_said() -> None:
    done = run("simulate", ARRAY, *LOAD, "--requests", 500, "--only-run-noise", "--time-limit", "1 h")
    assert done.exit_code == 0
    assert "time-limit" not in done.stdout + done.stderr


def test_no_half_written_file_is_left(tmp_path) -> None:
    words = ("calibrate", EXAMPLES / "measured/depths.json", "--out", tmp_path / "drive.toml", "--time-limit", "1 ms")
    done = process(*words)
    assert (done.returncode, done.stdout) == (3, "")
    assert "is over while" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_steps_contain_others_and_only_the_main_thread_counts() -> None:
    assert what_is_done() == "preparing"
    with doing("comparing") as now, doing("simulating 9 requests"):
        assert what_is_done() == "comparing: simulating 9 requests"
        now("comparing array 2 of 3")
        seen: list[str] = []

        def other() -> None:
            with doing("something else"):
                seen.append(what_is_done())

        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        assert seen == [what_is_done()] == ["comparing array 2 of 3: simulating 9 requests"]
    assert what_is_done() == "preparing"
