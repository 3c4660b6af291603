"""The units that were measured: their files can be read, and every figure has a prediction."""

from __future__ import annotations

import pytest

from diskmodel.array import Array
from diskmodel.workload import Workload
from tests.validation.coverage import evidence as coverage
from tests.validation.units import evidence, off, page, predicted
from tests.validation.units.said import MINOR, WORDS, Said

#: The least number of units and of figures.
N_UNITS, N_FIGURES = 165, 3_200


def load(drive: str, read_ratio: float) -> tuple[Array, Workload]:
    array = Array.parse({"drive": drive, "layout": {"level": "jbod", "disks": 1}})
    return array, Workload.parse({"size": "4 KiB", "read_ratio": read_ratio, "clients": 1})


def test_there_are_many_units_with_a_class_a_source_and_what_was_read() -> None:
    cases = evidence.all_cases()
    assert len({case.unit for case in cases}) >= N_UNITS
    assert sum(len(case.measured) for case in cases) >= N_FIGURES
    assert {case.class_ for case in cases} >= set(coverage.classes()["parents"])
    for unit in evidence.new_units().values():
        assert len(unit.source) > 10
        assert len(unit.text) > 10


def test_no_name_is_used_twice() -> None:
    names = [case.name for case in evidence.all_cases()]
    assert len(names) == len(set(names))
    assert not set(evidence.new_units()) & {case.unit for case in coverage.cases()}


def test_every_figure_has_a_prediction_and_no_prediction_is_left_over() -> None:
    known = predicted.read()
    cases = list(evidence.new_cases())
    assert [case.name for case in cases] == list(known)
    for case in cases:
        assert set(known[case.name]) == set(case.measured), case.name


def test_what_is_said_of_older_measurements_names_each_of_their_units() -> None:
    named = {key.partition("/")[0] for key in evidence.old_said()}
    assert named == {case.unit for case in coverage.cases()}


@pytest.mark.parametrize(
    ("drive", "read_ratio", "word", "standing"),
    [
        ("generic-7k2", 1.0, "cache", "complete"),
        ("generic-7k2", 0.0, "cache", "incomplete"),
        ("generic-7k2", 0.7, "cache", "incomplete"),
        ("samsung-pm893-960", 0.0, "cache", "complete"),
        ("samsung-pm893-960", 0.0, "state", "incomplete"),
        ("samsung-pm893-960", 1.0, "state", "complete"),
        ("samsung-pm893-960", 1.0, "written", "incomplete"),
        ("generic-7k2", 1.0, "written", "complete"),
        ("generic-7k2", 1.0, "span", "incomplete"),
        ("generic-7k2", 1.0, "sheet", "no sheet"),
        ("generic-7k2", 1.0, "host", "complete"),
    ],
)
def test_what_is_not_said_matters_for_some_loads(drive: str, read_ratio: float, word: str, standing: str) -> None:
    assert Said((word,)).standing(*load(drive, read_ratio)) == standing


def test_what_its_source_shows_to_be_held_back_is_so_whatever_is_said() -> None:
    assert Said((), "the source says so").standing(*load("generic-7k2", 1.0)) == "held back"


def test_an_unknown_word_is_refused() -> None:
    with pytest.raises(ValueError, match="color: one of model"):
        Said(("color",))
    assert set(MINOR) < set(WORDS)


def test_specimens_of_a_model_count_once_in_what_a_kind_of_load_is_off_by() -> None:
    eight = [(case, values) for case, values in page.pairs() if case.model == "kiehl-15k" and len(case.measured) == 1]
    single = [pair for pair in eight if off.kind_of(pair[0]) == ("hard disk", "mixed", "2 to 8")]
    assert len(single) == 8
    assert off.of_models(single, "iops") == [pytest.approx(-0.12, abs=0.03)]


@pytest.mark.parametrize(
    ("unit", "what", "kind"),
    [
        ("p822-15k-raid10", "8 disks", ("arrays: hard disk", "writes", "2 to 8")),
        ("pm9a3-960", "rate", ("flash", "mixed", "a rate")),
        ("st18000ne000", "100% reads", ("hard disk", "sequential reads", "9 to 64")),
    ],
)
def test_a_load_has_its_kind(unit: str, what: str, kind: tuple[str, str, str]) -> None:
    cases = [case for case in evidence.new_cases() if case.unit == unit]
    found = {off.kind_of(case) for case in cases if what in case.name or what == "rate"}
    assert kind in found


def test_the_page_is_what_the_script_writes() -> None:
    assert page.PAGE.read_text(encoding="utf-8") == page.page()


@pytest.mark.slow
def test_predictions_are_what_the_model_says_now() -> None:
    """Of every tenth load: all of them take a minute."""
    known = predicted.read()
    for case in list(evidence.new_cases())[::10]:
        found = predicted.predict(case)
        for name in set(found) & {"iops", "mean"}:
            assert found[name] == pytest.approx(known[case.name][name], rel=1e-3), case.name
