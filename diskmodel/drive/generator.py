"""The random numbers of drives: a generator that both engines share, so that they draw the same."""

from __future__ import annotations

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
