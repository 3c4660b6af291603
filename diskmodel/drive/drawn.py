"""Drives drawn from what a profile leaves open: uncertain parameters, and an order of commands that is assumed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskmodel.description import Description
from diskmodel.drive.assumed_order import Order
from diskmodel.drive.hdd import Hdd
from diskmodel.drive.parse import Drive, parse_drive
from diskmodel.errors import DescriptionError

Floats = NDArray[np.float64]

#: Rows drawn for each requested drive, because some describe no possible drive. Real profiles need fewer than two; a
#: profile whose uncertainty exceeds its values returns fewer drives.
_ATTEMPTS = 20


def drawn(drive: Drive, n: int, *, seed: int = 0) -> list[Drive]:
    """Return `n` drives whose parameters are drawn from what the profile leaves open.

    Parameters
    ----------
    drive : Drive
        A profile with `uncertainty`, or with an assumed order of queued commands.
    n : int
    seed : int

    Returns
    -------
    list of Drive
        Drives without `uncertainty`; empty for a profile that is exact. Fewer than `n` where draws are not valid
        drives, and where only the order is assumed: each order that was measured once.

    Notes
    -----
    Parameters are lognormal with the profile's value as median, because fitted parameters are times and rates, which
    are positive. Their logarithms have the relative covariances of the profile. A value of 0 or below is moved by a
    normal deviate instead. Where the profile has draws, drives are taken from these in random order, each once before
    any is repeated.
    """
    rng = np.random.default_rng(seed)
    known = _orders(drive)
    orders = [known[i] for i in rng.permutation(len(known))]
    if drive.uncertainty is None:
        return [_with_order(drive, order) for order in orders[:n]]
    found = _of_uncertainty(drive, n, rng)
    return [_with_order(item, order) for item, order in zip(found, cycle(orders), strict=False)] if orders else found


def drawn_values(drive: Drive, n: int, *, seed: int = 0) -> list[dict[str, float]]:
    """Return `n` draws of the values of the uncertain parameters, by name; fewer where they are of no valid drive.

    Parameters
    ----------
    drive : Drive
        A profile with `uncertainty`.
    n, seed : int
    """
    assert drive.uncertainty is not None
    rng = np.random.default_rng(seed)
    rows = _rows(drive, rng, n) if drive.uncertainty.draws else _moved(drive, rng, n)
    return [dict(zip(drive.uncertainty.names, map(float, row), strict=True)) for row in rows]


def drawn_parameters(drive: Drive) -> tuple[str, ...]:
    """Return the names of the parameters that `drawn` varies; none for a profile that is exact."""
    names = drive.uncertainty.names if drive.uncertainty is not None else ()
    orders = tuple(f"queue.{name}" for name in Order._fields) if _orders(drive) else ()
    return (*names, *(name for name in orders if name not in names))


def _orders(drive: Drive) -> tuple[Order, ...]:
    """Return what the order of commands may be, where it is assumed."""
    return () if drive.assumption is None else drive.assumption.drawn


def _with_order(drive: Drive, order: Order) -> Drive:
    """Return the drive with another order of queued commands, which counts as its own."""
    assert isinstance(drive, Hdd)
    queue = drive.queue.model_copy(update=order._asdict() | {"assumed_from": None})
    return drive.model_copy(update={"queue": queue})


def _of_uncertainty(drive: Drive, n: int, rng: np.random.Generator) -> list[Drive]:
    """Return `n` drives drawn from the uncertainty of a calibration."""
    assert drive.uncertainty is not None
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
    # parts that do not change stay the checked descriptions that they are: a drive may have hundreds of zones
    data = {field: getattr(drive, field) for field in type(drive).model_fields if field != "uncertainty"}
    for name, value in values.items():
        *path, last = name.split(".")
        place: Any = data
        for part in path:
            if isinstance(place[part], Description):
                place[part] = place[part].to_dict()
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
