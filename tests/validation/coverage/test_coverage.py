"""Intervals contain what was measured of drives and arrays that were left out, and they are narrow."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.validation.coverage import evidence, page, predicted, printed, score, spread, spread_table, widths
from tests.validation.coverage.score import Judged
from tests.validation.coverage.spread import Prior

pytestmark = pytest.mark.xdist_group("coverage")  # one worker predicts all figures

#: Shares of all described figures, and the least of a class with many.
ALL, OF_A_CLASS = (0.90, 0.98), 0.80


def test_there_is_a_class_and_a_prediction_for_every_figure() -> None:
    known = predicted.read()
    cases = evidence.cases()
    assert [case.name for case in cases] == list(known)
    assert {case.class_ for case in cases} == set(evidence.classes()["parents"])
    n = {name: sum(name in case.measured for case in cases) for name in evidence.STATISTICS}
    assert n["iops"] >= 150
    assert n["mean"] >= 150
    assert n["p99"] >= 100


def test_described_loads_have_an_interval_that_the_product_prints() -> None:
    """A load that is not stable as described has none."""
    described = [figure for figure in page.all_figures() if figure.case.standing == "complete"]
    assert len(page.printed()) >= 0.75 * len(described)
    assert {case.name for case in printed.described()} >= {item.figure.case.name for item in page.printed()}


def test_intervals_contain_what_was_measured() -> None:
    low, high = ALL
    assert low <= score.inside_ratio(page.printed()) <= high


def test_intervals_of_a_class_contain_what_was_measured() -> None:
    found = {name: page.of_class(page.printed(), name) for name in page.class_names()}
    inside = {name: score.inside_ratio(judged) for name, judged in found.items() if len(judged) > page.MANY}
    assert inside
    assert {name: ratio for name, ratio in inside.items() if ratio < OF_A_CLASS} == {}


@pytest.mark.parametrize(("kind", "statistic", "most"), [("hdd", "mean", 0.2), ("hdd", "iops", 0.3)])
def test_intervals_of_described_disks_are_narrow(kind: str, statistic: str, most: float) -> None:
    """Half of the width as a logarithm; it was 0.45 and more."""
    found = [item for item in score.of_statistic(page.printed(), statistic) if item.figure.case.class_.startswith(kind)]
    assert np.median([item.width / 2 for item in found]) <= most


@pytest.mark.parametrize(("name", "most"), [("reads", 0.15), ("mixed", 0.20), ("mean", 0.22), ("p99", 0.40)])
def test_intervals_of_named_disks_are_narrow_at_modest_load(name: str, most: float) -> None:
    assert widths.medians(*widths.hard_disks())[name] <= most
    assert len(widths.read()) > 20


def test_the_widths_are_what_the_product_says_now() -> None:
    """Of one drive: all take a minute."""
    kept = widths.read()[0]
    found = widths.measured(kept.drive)
    assert found.half == pytest.approx(kept.half, rel=0.02)


def test_a_disk_that_stands_for_its_kind_is_less_known_than_a_named_one_and_better_than_a_desktop_drive() -> None:
    """Drives of computers that are no servers do not decide what is known of servers' disks."""
    found = spread.estimate(page.all_figures())
    named, kind, desktop = (found[name, "positioning"] for name in ("hdd", "hdd-any", "hdd-any-desktop"))
    assert named.log_sd < kind.log_sd < desktop.log_sd
    assert abs(kind.center) < 0.1 < desktop.center


def test_the_page_and_the_table_are_what_the_script_writes() -> None:
    assert spread_table.TABLE.read_text(encoding="utf-8") == spread_table.text(page.all_figures())
    assert page.PAGE.read_text(encoding="utf-8") == page.page()


def test_many_units_decide_and_a_few_hardly_do() -> None:
    rng = np.random.default_rng(1)
    units = [[center] for center in rng.normal(0.3, 0.1, 2000)]
    found = spread.after(Prior(0.3, 4), units, is_rate=False)
    assert found.center == pytest.approx(0.3, abs=0.02)
    assert found.log_sd == pytest.approx(0.1, rel=0.15)
    few = spread.after(Prior(0.3, 4), units[:1], is_rate=False)
    assert few.log_sd > 0.25
    assert abs(few.center) < 0.1


@pytest.mark.parametrize(("value", "is_rate"), [(-0.9, True), (0.9, False)])
def test_a_broken_system_hardly_widens_the_interval_of_sound_ones(value: float, is_rate: bool) -> None:
    sound = [[one] for one in (-0.06, -0.03, 0.0, 0.02, 0.03, 0.06)]
    without, with_it = (spread.after(Prior(0.05, 8), units, is_rate) for units in (sound, [*sound, [value]]))
    assert with_it.log_sd < 1.2 * without.log_sd


def test_without_units_a_quantity_is_what_is_known_before() -> None:
    found = spread.after(Prior(0.1, 4), [], is_rate=True)
    assert (found.center, found.n, found.dof) == (0.0, 0, 4.0)
    assert found.log_sd == pytest.approx(0.1 * math.sqrt(4 / 3))


def test_the_interval_score_counts_width_and_what_is_missed() -> None:
    figure = next(item for item in page.all_figures() if item.statistic == "iops")
    inside = Judged(figure, figure.measured / 2, figure.measured * 2)
    missed = Judged(figure, figure.measured * 2, figure.measured * 4)
    assert inside.score == pytest.approx(math.log(4))
    assert missed.score == pytest.approx(math.log(2) + 40 * math.log(2))


@pytest.mark.slow
def test_predictions_are_what_the_model_says_now() -> None:
    """Of every tenth load: all of them take some minutes."""
    known = predicted.read()
    for case in evidence.cases()[::10]:
        found, kept = case.simulate(0), known[case.name]
        if case.seconds is None:
            assert float(found.iops.mean) == pytest.approx(kept.values["iops"], rel=1e-3), case.name
