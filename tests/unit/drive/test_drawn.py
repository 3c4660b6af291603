"""Drives drawn from the uncertainty of a calibrated profile have its spread and correlation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diskmodel.drive import Drive, Hdd, Virtual, load_drive, parse_drive
from diskmodel.drive.drawn import drawn, scalar_of, with_values

NAMES = ("read_overhead_ns", "wake_ns", "read_copy_bytes_per_s")
RELATIVE = (0.05, 0.2, 0.1)
#: Of overhead and rate.
CORRELATION = 0.8


def profile(**changes: Any) -> Virtual:
    data = {
        "kind": "virtual",
        "name": "calibrated",
        "capacity_bytes": 1 << 30,
        "read_overhead_ns": 50_000,
        "write_overhead_ns": 50_000,
        "read_copy_bytes_per_s": 2e9,
        "wake_ns": [20_000, 40_000, 90_000],
        "completion": "batch",
    }
    data |= changes
    if "uncertainty" not in changes:
        sd = np.array([50_000, 50_000, 2e9]) * RELATIVE
        covariance = np.diag(sd**2)
        covariance[0, 2] = covariance[2, 0] = CORRELATION * sd[0] * sd[2]
        data["uncertainty"] = {"names": NAMES, "covariance": covariance.tolist()}
    found = parse_drive(data)
    assert isinstance(found, Virtual)
    return found


def flash(**changes: Any) -> Drive:
    return parse_drive(load_drive("generic-sas-ssd").to_dict() | changes)


def test_spread_and_correlation() -> None:
    """Each figure within five standard errors of 2000 draws."""
    drive = profile()
    values = np.array([[scalar_of(item, name) for name in NAMES] for item in drawn(drive, 2000, seed=1)])
    logarithms = np.log(values / [scalar_of(drive, name) for name in NAMES])
    np.testing.assert_allclose(logarithms.std(axis=0), RELATIVE, rtol=5 / np.sqrt(2 * 2000))
    assert np.all(np.abs(logarithms.mean(axis=0)) < 5 * np.array(RELATIVE) / np.sqrt(2000))
    correlation = np.corrcoef(logarithms.T)
    assert correlation[0, 2] == pytest.approx(CORRELATION, abs=5 * (1 - CORRELATION**2) / np.sqrt(2000))
    assert abs(correlation[0, 1]) < 5 / np.sqrt(2000)


def test_draws_are_repeatable_and_carry_no_uncertainty() -> None:
    drive = profile()
    assert drawn(drive, 3, seed=4) == drawn(drive, 3, seed=4)
    assert drawn(drive, 3, seed=4) != drawn(drive, 3, seed=5)
    assert all(item.uncertainty is None for item in drawn(drive, 3, seed=4))


def test_drives_come_from_the_draws_where_the_profile_tells_them() -> None:
    """Every row once before any comes again, all its fields together, whatever the covariance says."""
    rows = [[2, 10_000.0, 4e9], [4, 20_000.0, 3e9], [16, 60_000.0, 1e9]]
    names = ["channels", "read_ns", "interface_bytes_per_s"]
    drive = flash(uncertainty={"names": names, "covariance": np.eye(3).tolist(), "draws": rows})
    found = [[scalar_of(item, name) for name in names] for item in drawn(drive, 7, seed=1)]
    assert sorted(found[:3]) == sorted(found[3:6]) == rows
    assert found[6] in rows
    assert drawn(drive, 7, seed=1) == drawn(drive, 7, seed=1)
    assert parse_drive(drive.to_dict()) == drive


def test_draws_that_are_no_drive_are_passed_over() -> None:
    rows = [[0], [-4], [8]]
    drive = flash(uncertainty={"names": ["channels"], "covariance": [[1.0]], "draws": rows})
    assert [scalar_of(item, "channels") for item in drawn(drive, 2)] == [8, 8]


def test_a_table_keeps_its_form() -> None:
    moved = with_values(profile(), {"wake_ns": 100_000.0})
    assert isinstance(moved, Virtual)
    assert moved.wake_ns == (40_000, 80_000, 180_000)


def test_nothing_is_drawn_for_a_profile_that_tells_no_uncertainty() -> None:
    assert drawn(load_drive("wd-raptor-wd740gd"), 5) == []


def test_nested_parameters_of_a_hard_disk() -> None:
    hdd = load_drive("generic-15k")
    assert isinstance(hdd, Hdd)
    name = next(
        f"seek.{key}" for key, value in hdd.to_dict()["seek"].items() if isinstance(value, int | float) and value > 0
    )
    value = scalar_of(hdd, name)
    uncertain = parse_drive(hdd.to_dict() | {"uncertainty": {"names": [name], "covariance": [[(0.01 * value) ** 2]]}})
    found = {round(scalar_of(item, name)) for item in drawn(uncertain, 20, seed=2)}
    assert len(found) > 10
    assert all(abs(item / value - 1) < 0.06 for item in found)


def test_an_unknown_parameter_is_reported() -> None:
    with pytest.raises(KeyError):
        scalar_of(profile(), "no_such_ns")
