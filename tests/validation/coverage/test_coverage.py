"""Intervals contain what was measured of drives and arrays that were left out, and they are not too wide."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.validation.coverage import evidence, page, predicted, score, spread, spread_table
from tests.validation.coverage.score import Judged

#: Of each statistic: shares of all figures, and the least of a class with many.
ALL, OF_A_CLASS = (0.90, 0.98), 0.80
#: Largest interval score, as a part of the reference's.
OF_REFERENCE = 2 / 3


#: Part of the figures that have an interval of all that is not known; on an array that does not settle they have none.
PRINTED_RATIO = 0.6


def judged() -> list[Judged]:
    """Return the intervals that the product prints."""
    return page.printed()


def test_many_figures_have_an_interval_that_the_product_prints() -> None:
    assert len(page.printed()) >= PRINTED_RATIO * len(page.all_figures())


def test_there_is_a_class_and_a_prediction_for_every_figure() -> None:
    known = predicted.read()
    cases = evidence.cases()
    assert [case.name for case in cases] == list(known)
    assert {case.class_ for case in cases} == set(evidence.classes()["parents"])
    n = {name: sum(name in case.measured for case in cases) for name in evidence.STATISTICS}
    assert n["iops"] >= 150
    assert n["mean"] >= 150
    assert n["p99"] >= 100


@pytest.mark.parametrize("statistic", evidence.STATISTICS)
def test_intervals_contain_what_was_measured(statistic: str) -> None:
    found = score.of_statistic(judged(), statistic)
    low, high = ALL
    assert low <= score.inside_ratio(found) <= high


@pytest.mark.parametrize("name", list(evidence.classes()["parents"]))
def test_intervals_of_a_class_contain_what_was_measured(name: str) -> None:
    found = page.of_class(judged(), name)
    if len(found) > page.MANY:
        assert score.inside_ratio(found) >= OF_A_CLASS


@pytest.mark.parametrize("statistic", evidence.STATISTICS)
def test_intervals_are_narrower_than_those_of_the_rule_of_thumb(statistic: str) -> None:
    own = score.mean_score(score.of_statistic(judged(), statistic))
    others = [item for item in score.of_statistic(page.reference(), statistic) if item.figure.predicted.is_predictive]
    reference = score.mean_score(others)
    assert own <= OF_REFERENCE * reference


def test_the_page_and_the_table_are_what_the_script_writes() -> None:
    assert page.PAGE.read_text(encoding="utf-8") == page.page()
    assert spread_table.TABLE.read_text(encoding="utf-8") == spread_table.text(page.all_figures())


def test_a_class_of_many_units_has_their_mean_and_spread() -> None:
    rng = np.random.default_rng(1)
    units = [list(rng.normal(center, 0.1, 20)) for center in rng.normal(0.5, 0.3, 2000)]
    found = spread.Spread.first("controller").after(units)
    assert found.mean == pytest.approx(0.5, abs=0.02)
    assert math.sqrt(found.rest) == pytest.approx(0.1, rel=0.03)
    assert math.sqrt(found.variance) == pytest.approx(0.3, rel=0.05)


def test_a_unit_far_from_all_others_widens_a_class_of_heavy_tails_less() -> None:
    units = [[value] for value in (-0.1, -0.05, 0.0, 0.05, 0.1, 1.5)]
    heavy, light = (spread.Spread.first(family).after(units) for family in ("hdd", "controller"))
    assert heavy.variance < 0.8 * light.variance
    assert heavy.between_freedom < light.between_freedom


def test_a_class_without_figures_has_what_its_parent_has() -> None:
    prior = spread.Spread.first("flash").after([[0.1, 0.2], [0.3, 0.2]]).as_prior()
    assert prior.after([]) == prior


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
