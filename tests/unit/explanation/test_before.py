"""A sound run beside the slow one: what it narrows, and what it must have in common."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from diskmodel.array import Array
from diskmodel.errors import DescriptionError
from diskmodel.explanation.before import paired
from diskmodel.explanation.expected import compare
from diskmodel.explanation.explain import explain
from diskmodel.explanation.measured import Measured
from diskmodel.explanation.read import read_results
from diskmodel.explanation.show.report import page
from diskmodel.explanation.show.text import mark_of, unseen_in_words
from diskmodel.explanation.simulator import Simulator
from diskmodel.workload import Workload
from tests.unit.explanation.test_equals import HEADER

DISK = Array.from_words("generic-7k2")


def load(rate: float, name: str = "deep", depth: int = 8) -> Measured:
    workload = Workload.parse({"size": "8 KiB", "clients": depth})
    figures = {"iops": rate, "reads.mean": depth * 1e9 / rate}
    return Measured(name, workload, figures, {"reads": 20_000.0})


def test_without_a_sound_run_the_answer_says_what_it_could_not_see() -> None:
    found = explain(load(107), DISK)
    assert found.is_as_expected
    (unseen,) = found.unseen
    assert unseen.with_before is not None
    assert 1.1 < unseen.with_before < 1.35 < unseen.factor
    assert "would not show here; a sound run of the same job (--before)" in " ".join(str(found).split())
    narrow = replace(found, unseen=(replace(unseen, factor=1.15),))
    assert "--before" not in unseen_in_words(narrow)
    # what one does not know of a drive from its sheet, and how it orders what it has, is open
    assert unseen.open
    assert 0.4 <= unseen.share <= 1
    assert f"one thing that is not known: {unseen.open} (" in " ".join(str(found).split())
    # what it says is so: a little less raises an alarm, a little more does not
    expected = found.compared[0].expected
    for factor, is_fine in ((unseen.factor * 1.02, False), (unseen.factor * 0.98, True)):
        assert compare(Simulator(DISK, [load(expected / factor)])).is_as_expected == is_fine


def test_a_sound_run_shows_a_loss_that_the_description_cannot() -> None:
    slow, sound = load(80), load(115)
    assert compare(Simulator(DISK, [slow])).is_as_expected
    (both,), notes = paired([slow], [replace(sound, name="monday")])
    simulator = Simulator(DISK, [both])
    verdict = compare(simulator)
    assert notes == []
    assert verdict.direction == "slower"
    assert not verdict.is_as_expected
    rate = verdict.compared[0]
    assert rate.expected == pytest.approx(115, rel=0.02)
    assert rate.high / rate.low < 1.5
    same = compare(Simulator(DISK, paired([load(112)], [sound])[0]))
    assert same.is_as_expected
    assert same.unseen[0].with_before is None
    assert same.unseen[0].open == ""


def test_a_load_without_a_sound_run_learns_from_the_others() -> None:
    deep, single = load(115), load(70, "single", 1)
    simulator = Simulator(DISK, paired([deep, single], [deep])[0])
    alone = Simulator(DISK, [deep, single])
    rates = [at for at, figure in enumerate(simulator.figures) if figure.kind == "iops"]
    widths = [math.sqrt(one.shared[at, at] + one.own[at]) for one in (simulator, alone) for at in rates]
    assert widths[0] < 0.5 * widths[2]
    assert widths[1] < 2 * widths[3]
    assert np.all(np.linalg.eigvalsh(simulator.shared) > -1e-9)


def test_a_sound_run_of_something_else_is_refused() -> None:
    with pytest.raises(DescriptionError, match="has no load of those that were measured"):
        paired([load(100)], [load(100, depth=2)])


def test_in_a_recording_the_time_before_a_step_is_the_sound_run(tmp_path: Path) -> None:
    reports = []
    for k in range(24):
        ms = (12.0 if k < 12 else 60.0) * (1 + 0.02 * (k % 3))
        row = ("sda", 40, 320, ms, 8, 0, 0, 0, 0, 40 * ms / 1e3, 50)
        reports.append(HEADER + "\n" + " ".join(map(str, row)))
    path = tmp_path / "iostat.txt"
    path.write_text("Linux 6.1.0 (a)\t11/20/2026\t_x86_64_\t(8 CPU)\n\n" + "\n\n".join(reports) + "\n")
    (one,), _ = read_results([path], None, DISK)
    assert one.before is not None
    # of both the rate was asked for, and the time of a request is what differs
    assert one.workload.is_open
    assert one.before.workload == one.workload
    assert one.figures["reads.mean"] / one.before.figures["reads.mean"] == pytest.approx(5, rel=0.05)
    assert any("a request takes 5 times as long as before" in note for note in one.notes)


def test_every_figure_outside_its_printed_interval_is_marked() -> None:
    loads = [load(80 + 7 * k, f"load {k}", 8) for k in range(3)]
    found = explain(loads, DISK)
    marks = {mark_of(replace(found.compared[0], measured=found.compared[0].low * factor)) for factor in (0.99, 1.01)}
    assert marks == {"(less)" if found.compared[0].is_inside else "less", ""}
    assert mark_of(replace(found.compared[0], measured=9e9, is_inside=False)) == "more"


def test_the_report_says_what_the_terminal_says() -> None:
    found = explain(load(107), DISK)
    said = page(found)
    assert "would not show here" in said
    assert found.described["deep"] in said
    odd = replace(found, is_as_expected=False, unknown=0.25, as_described=0.5)
    assert "none of what I know: 25 %; nothing wrong, rare figures: 50 %" in page(odd)
