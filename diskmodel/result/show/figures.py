"""Figures as people read them."""

from __future__ import annotations

import math


def between(low: float, high: float, divisor: float = 1.0) -> str:
    """Format the ends of an interval, divided by `divisor`; nan: too few requests for an interval."""
    if math.isnan(low) or math.isnan(high):
        return "too few requests"
    return " … ".join(four_digits(end / divisor) for end in (low, high))


def four_digits(value: float) -> str:
    """At least four digits, without an exponent where it is large."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def share(ratio: float) -> str:
    """In percent; little is not shown as nothing."""
    return f"{ratio:.1%}" if ratio >= 0.001 or ratio == 0 else f"{100 * ratio:.2g}%"
