"""Drives drawn from the joint uncertainty of a calibrated profile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskmodel.drive.parse import Drive, parse_drive
from diskmodel.errors import DescriptionError

Floats = NDArray[np.float64]

#: Rows drawn for each requested drive, because some describe no possible drive. Real profiles need fewer than two; a
#: profile whose uncertainty exceeds its values returns fewer drives.
_ATTEMPTS = 20


def drawn(drive: Drive, n: int, *, seed: int = 0) -> list[Drive]:
    """Return `n` drives whose parameters are drawn from the uncertainty of a calibration.

    Parameters
    ----------
    drive : Drive
        A profile with `uncertainty`.
    n : int
    seed : int

    Returns
    -------
    list of Drive
        Drives without `uncertainty`; empty for a profile without it. Fewer than `n` where draws are not valid drives.

    Notes
    -----
    Parameters are lognormal with the profile's value as median, because fitted parameters are times and rates, which
    are positive. Their logarithms have the relative covariances of the profile. A value of 0 or below is moved by a
    normal deviate instead. Where the profile has draws, drives are taken from these in random order, each once before
    any is repeated.
    """
    if drive.uncertainty is None:
        return []
    rng = np.random.default_rng(seed)
    rows = _rows(drive, rng, n * _ATTEMPTS) if drive.uncertainty.draws else _moved(drive, rng, n * _ATTEMPTS)
    found: list[Drive] = []
    for row in rows:
        if len(found) == n:
            break
        try:
            found.append(with_values(drive, dict(zip(drive.uncertainty.names, row, strict=True))))
        except DescriptionError:
            continue
    return found


def _rows(drive: Drive, rng: np.random.Generator, n: int) -> Iterator[Sequence[float]]:
    """Yield rows of a profile's draws in random order."""
    assert drive.uncertainty is not None
    assert drive.uncertainty.draws is not None
    rows = drive.uncertainty.draws
    for start in range(0, n, len(rows)):
        yield from (rows[i] for i in rng.permutation(len(rows))[: n - start])


def _moved(drive: Drive, rng: np.random.Generator, n: int) -> Iterator[Sequence[float]]:
    """Yield values that vary around the profile's own with its covariance."""
    assert drive.uncertainty is not None
    names = drive.uncertainty.names
    values = np.array([scalar_of(drive, name) for name in names])
    covariance = np.array(drive.uncertainty.covariance)
    is_positive = values > 0
    scale = np.where(is_positive, values, 1.0)
    factor = _root(covariance / np.outer(scale, scale))
    for _ in range(n):
        step = factor @ rng.standard_normal(len(names))
        yield np.where(is_positive, values * np.exp(np.where(is_positive, step, 0.0)), values + step).tolist()


def scalar_of(drive: Drive, name: str) -> float:
    """Return a parameter by its dotted name; of a table, return the mean.

    Raises
    ------
    KeyError
        When the profile does not have it.
    """
    place: Any = drive.to_dict()
    for part in name.split("."):
        place = place[part]
    if place is None:
        raise KeyError(name)
    return float(np.mean(place)) if isinstance(place, list | tuple) else float(place)


def with_values(drive: Drive, values: Mapping[str, float]) -> Drive:
    """Return `drive` with other parameter values and no uncertainty; a table is scaled to its new mean.

    Raises
    ------
    DescriptionError
        When the values do not describe a valid drive.
    KeyError
        When the profile does not have such a parameter.
    """
    data = drive.to_dict()
    data.pop("uncertainty", None)
    for name, value in values.items():
        *path, last = name.split(".")
        place: Any = data
        for part in path:
            place = place[part]
        old = place[last]
        if isinstance(old, list | tuple):
            mean = float(np.mean(old))
            place[last] = [_like(item, item * value / mean) for item in old] if mean else list(old)
        else:
            place[last] = _like(old, value)
    return parse_drive(data)


def _like(old: object, value: float) -> float | int:
    """Return `value`, rounded to an integer where the old value is one."""
    return round(value) if isinstance(old, int) and not isinstance(old, bool) else float(value)


def _root(covariance: Floats) -> Floats:
    """Return a square root of a covariance; eigenvalues that rounding made negative count as 0."""
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
