"""Checks of arguments: report every fault of a call at once."""

from __future__ import annotations

import math
from collections.abc import Mapping

from diskmodel.errors import Fault, InputError


class Checks:
    """Collects faults of arguments and raises them together.

    Examples
    --------
    >>> Checks().positive(service_s=0.005).done()
    """

    def __init__(self) -> None:
        self.faults: list[Fault] = []

    def fault(self, field: str, value: object, rule: str, fix: str = "") -> Checks:
        """Add a fault."""
        self.faults.append(Fault(field, value, rule, fix))
        return self

    def positive(self, **values: float | None) -> Checks:
        """Each value, unless None, must be a finite number above 0."""
        return self._each(values, lambda v: math.isfinite(v) and v > 0, "must be a finite number above 0")

    def not_negative(self, **values: float | None) -> Checks:
        """Each value, unless None, must be a finite number, 0 or above."""
        return self._each(values, lambda v: math.isfinite(v) and v >= 0, "must be a finite number, 0 or above")

    def ratio(self, **values: float | None) -> Checks:
        """Each value, unless None, must lie in [0, 1]."""
        fix = "write 30 % as 0.3"
        return self._each(values, lambda v: 0 <= v <= 1, "must lie between 0 and 1", fix)

    def count(self, minimum: int = 1, **values: int | None) -> Checks:
        """Each value, unless None, must be a whole number of at least `minimum`."""
        rule = f"must be a whole number of at least {minimum}"
        return self._each(values, lambda v: int(v) == v and v >= minimum, rule)

    def done(self) -> None:
        """Raise InputError when there are faults."""
        if self.faults:
            raise InputError(self.faults)

    def _each(self, values: Mapping[str, float | None], is_valid: object, rule: str, fix: str = "") -> Checks:
        assert callable(is_valid)
        for field, value in values.items():
            if value is not None and (math.isnan(value) or not is_valid(value)):
                self.fault(field, value, rule, fix)
        return self
