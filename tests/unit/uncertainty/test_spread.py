"""The spread of quantities by class."""

import math
import tomllib

import pytest
from scipy import special

from diskmodel import catalogue
from diskmodel.uncertainty.origin import class_of
from diskmodel.uncertainty.spread import TABLES, Spread, chance_below, spread_of


@pytest.mark.parametrize(("dof", "within"), [(4, 0.02), (8, 0.005), (30, 0.001)])
@pytest.mark.parametrize("score", [0.3, 1.0, 1.9])
def test_factors_follow_student_s_t(dof: float, within: float, score: float) -> None:
    exact = special.stdtrit(dof, special.ndtr(score))
    assert Spread(2.0, 0.1, dof).log_factor(score) == pytest.approx(math.log(2) + 0.1 * exact, abs=0.1 * within * exact)


def test_a_spread_without_an_end_of_its_degrees_is_normal() -> None:
    assert Spread(1.0, 0.2).log_factor(1.5) == pytest.approx(0.3)


def test_every_spread_of_the_tables_is_one() -> None:
    found = []

    def look(place: dict[str, object]) -> None:
        if "median" in place:
            found.append(place)
            assert place["median"] > 0  # type: ignore[operator]
            assert 0 < place["log_sd"] < 3  # type: ignore[operator]
            assert place["dof"] >= 2  # type: ignore[operator]
            return
        for below in place.values():
            assert isinstance(below, dict)
            look(below)

    for path in TABLES:
        look(tomllib.loads(path.read_text(encoding="utf-8"))["class"])
    assert len(found) > 30


def test_every_bundled_drive_has_a_spread() -> None:
    for drive in catalogue().values():
        quantity = "positioning" if drive.kind == "hdd" else "flash_read_time"
        assert spread_of(class_of(drive), quantity) is not None


@pytest.mark.parametrize("dof", [1, 2, 3.5, 4, 8, 33, 1000, math.inf])
@pytest.mark.parametrize("t", [-30.0, -2.5, -0.4, 0.0, 1e-4, 0.7, 1.9, 12.0])
def test_chances_of_students_t_are_those_of_scipy(t: float, dof: float) -> None:
    expected = special.ndtr(t) if math.isinf(dof) else special.stdtr(dof, t)
    assert chance_below(t, dof) == pytest.approx(float(expected), rel=1e-12, abs=1e-15)
