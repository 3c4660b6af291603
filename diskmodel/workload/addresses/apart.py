"""Where streams in order begin that do not say so: not where another one begins and goes the same way.

What one of them reads would be in the drives' buffers for the other, and what one writes the other would write again:
two backups of 256 KiB from the front of a disk of 7,200 rpm had 915 requests a second together, and have 61 apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from diskmodel.workload.addresses.pattern import AddressPattern
from diskmodel.workload.space import Space

Floats = NDArray[np.float64]

#: Places of a region that are tried: halves, quarters and so on, so that a few streams are as far apart as can be.
_LEAST_PLACES = 64
#: Part of an array within which a stream in order follows a pass, or the other way around. In the course of a run
#: neither gets so far; at half, fast passes do.
_SAME_PLACE_RATIO = 0.02
#: Readers of a stream of which it is asked where they begin; more are everywhere.
_MOST_READERS = 256


def begins_apart(
    patterns: Sequence[AddressPattern | None], spaces: Sequence[Space], are_free: Sequence[bool]
) -> list[float]:
    """Return how much later each stream begins than it would, as a share of its region; 0 of most.

    Parameters
    ----------
    patterns : sequence of AddressPattern or None
        None: a stream without places of its own.
    spaces : sequence of Space
    are_free : sequence of bool
        Which of them may begin elsewhere. The first that begins at a place stays there.
    """
    each = list(zip(patterns, spaces, are_free, strict=True))
    taken = [starts_of(pattern, space) for pattern, space, is_free in each if not is_free]
    n_places = max(_LEAST_PLACES, 1 << (2 * len(patterns)).bit_length())
    found = []
    for pattern, space, is_free in each:
        later = _later(pattern, space, n_places, np.concatenate([np.empty(0), *taken])) if is_free else 0.0
        if is_free:
            taken.append(starts_of(pattern, space, later))
        found.append(later)
    return found


def starts_of(pattern: AddressPattern | None, space: Space, later: float = 0.0) -> Floats:
    """Return where on the array the readers of a stream in order begin; nothing of others. Shape (n,), bytes.

    `later` is by how much of the region they begin later than the pattern says.
    """
    if pattern is None or not pattern.goes_through:
        return np.empty(0)
    n_readers = pattern.n_together
    begin = getattr(pattern, "begin_ratio", None) or 0.0
    places = np.arange(min(n_readers, _MOST_READERS)) / n_readers
    return np.asarray(space.first_byte + (places + begin + later) % 1.0 * space.span_bytes)


def is_near(pattern: AddressPattern | None, space: Space, place: float, capacity_bytes: int) -> bool:
    """Return whether a reader of a stream in order begins at a place of an array, as a share of it."""
    return bool((np.abs(starts_of(pattern, space) / capacity_bytes - place) < _SAME_PLACE_RATIO).any())


def _later(pattern: AddressPattern | None, space: Space, n_places: int, taken: Floats) -> float:
    """Return the first place of a reader's share that is not near a taken one, else the farthest; from the region's."""
    n_readers = 1 if pattern is None else pattern.n_together
    near_bytes = space.span_bytes / n_readers / n_places
    best, farthest = 0.0, -1.0
    for place in _places(n_places) if len(taken) else ():
        later = place / n_readers
        distance = float(np.abs(starts_of(pattern, space, later)[:, None] - taken).min())
        if distance >= near_bytes:
            return later
        if distance > farthest:
            best, farthest = later, distance
    return best


def _places(n: int) -> Iterator[float]:
    """0, a half, the quarters that are left, and so on: `n` shares in all, a power of two."""
    yield 0.0
    step = 2
    while step <= n:
        yield from (odd / step for odd in range(1, step, 2))
        step *= 2
