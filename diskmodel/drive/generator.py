"""The random numbers of drives: a generator that both engines share, so that they draw the same."""

from __future__ import annotations

from diskmodel.drive.whole_numbers import Int64

_MULTIPLIER, _INCREMENT, _BITS = 1664525, 1013904223, 32


class Generator:
    """Draws from 0 up to a limit, one after the other.

    Parameters
    ----------
    first : int
        State before the first draw, 0 to 2³² - 1.

    References
    ----------
    W. Press et al., *Numerical Recipes in C*, 2nd edition, section 7.1, "an even quicker generator".
    """

    def __init__(self, first: int) -> None:
        self._state = first

    def below(self, n: int) -> int:
        """Return the next draw, 0 to `n` - 1."""
        self._state = (_MULTIPLIER * self._state + _INCREMENT) % (1 << _BITS)
        return self._state * n >> _BITS


class DrawnTimes:
    """Draws from equally likely times: wake-up times (rule V2), delays (rule F19).

    Parameters
    ----------
    times_ns : int64, shape (n,)
        Empty: every draw is 0.
    first_draw : int
        State of the generator, 0 to 2³² - 1.
    """

    def __init__(self, times_ns: Int64, first_draw: int) -> None:
        self._times: list[int] = times_ns.tolist()
        self._below = Generator(first_draw).below

    def draw(self) -> int:
        """Return the next time, ns."""
        if not self._times:
            return 0
        return self._times[self._below(len(self._times))]
